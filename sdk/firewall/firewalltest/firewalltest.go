// Package firewalltest is the conformance suite of the firewall kind. A
// backend's test calls Run with a Config; every case runs twice, directly and
// over real gRPC. Cases of abilities that the firewall does not have, and cases
// for which the Config has no hook, are skipped with the reason.
package firewalltest

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/firewall"
	"github.com/hostler/hostler/sdk/plugin"
	"github.com/hostler/hostler/sdk/plugin/plugintest"
)

// EmptyScope is a scope without rules, names and options that no other case
// touches, and where it is.
type EmptyScope struct {
	Scope firewall.Scope
	// Target gives a working, pinned target with the capability's proper token.
	Target func(t testing.TB, capability endpoint.Capability) endpoint.Target
}

// LogSetup is a log with the lines that it has: three or more, numbered from
// 1 on, at least one of them with an entry. A line with an entry is a second or
// more later than the one before.
type LogSetup struct {
	Scope firewall.Scope
	Lines []firewall.LogLine
}

// List is the rules of a scope.
type List struct {
	Scope firewall.Scope
	Rules []firewall.Rule
}

// Config is a backend and the world that it is tried in.
type Config struct {
	// Backend and FirewallType are as in firewall.Service. Required.
	Backend      firewall.Backend
	FirewallType firewall.Firewall
	// Target gives a working, pinned target with the capability's proper token. Required.
	Target func(t testing.TB, capability endpoint.Capability) endpoint.Target
	// Patience is how long anything that must come may take; zero is 2 min.
	Patience time.Duration

	// Lists gives scopes of all kinds with the rules that they have, some of them none.
	Lists func(t testing.TB) []List
	// Change changes the rules of one scope, which no other case reads, and gives it.
	Change func(t testing.TB) firewall.Scope
	// Guest gives a guest of its own, whose options are not set, to each case that changes those.
	Guest func(t testing.TB) firewall.Guest
	// Empty gives an empty scope of a kind, each time another one: all cases
	// that change something need it. Two clusters' are two endpoints.
	Empty func(t testing.TB, kind firewall.ScopeKind) EmptyScope
	// Rules are three or more different rules, with a comment each, that every
	// scope takes; nil is rules with actions of Policies and ports.
	Rules []firewall.Rule
	// Options are values to set at a kind of scope, best of every option that
	// it has. A kind without them skips its case.
	Options map[firewall.ScopeKind]firewall.Options
	// Log gives logs of all kinds of scopes that have one.
	Log func(t testing.TB) []LogSetup
	// Evaluated gives where packets are judged.
	Evaluated func(t testing.TB) EvaluationSetup
	// Lacking gives a target whose token may not read the rules of the cluster.
	Lacking func(t testing.TB) endpoint.Target
}

// Run runs the suite.
func Run(t *testing.T, cfg Config) {
	if cfg.Backend == nil || cfg.FirewallType == nil || cfg.Target == nil {
		t.Fatal("firewalltest: Backend, FirewallType and Target are required")
	}
	if cfg.Patience == 0 {
		cfg.Patience = 2 * time.Minute
	}
	if cfg.Rules == nil {
		cfg.Rules = usualRules()
	}
	info, err := firewall.Describe(t.Context(), cfg.Backend, cfg.FirewallType)
	if err != nil {
		t.Fatal("describing the backend:", err)
	}
	service := firewall.Service{Backend: cfg.Backend, FirewallType: cfg.FirewallType}
	for name, backend := range map[string]firewall.Backend{
		"direct": cfg.Backend, "grpc": firewall.NewClient(plugintest.Connect(t, service)),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &suite{Config: cfg, backend: backend, info: info}
			s.run(t, "info", func(t *testing.T, ctx context.Context) {
				got, err := s.backend.Info(ctx)
				if err != nil || got.Name == "" || got.Version == "" {
					t.Errorf("info is %+v, %v", got, err)
				}
				if name == "grpc" && !reflect.DeepEqual(got, info) {
					t.Errorf("info is %+v, want %+v", got, info)
				}
			})
			t.Run("rules", s.rules)
			t.Run("rule_edit", s.ruleEdit)
			t.Run("rule_move", s.ruleMove)
			t.Run("rule_check", s.ruleCheck)
			t.Run("aliases", s.aliases)
			t.Run("ipsets", s.ipSets)
			t.Run("ipset_members", s.ipSetMembers)
			t.Run("options", s.options)
			t.Run("log", s.log)
			t.Run("references", s.references)
			t.Run("groups", s.groups)
			t.Run("macros", s.macros)
			t.Run("usage", s.usage)
			t.Run("evaluate", s.evaluate)
			if name == "grpc" { // the SDK's word on both sides
				t.Run("scopes", s.scopes)
			}
		})
	}
}

// suite is one run of all cases with one form of the backend.
type suite struct {
	Config
	backend firewall.Backend
	info    firewall.Info
}

// has reports whether a kind of scope has the ability that is one of the optional interfaces.
func has[Optional any](s *suite, kind firewall.ScopeKind) bool {
	return s.info.Has(kind, firewall.AbilityName[Optional]())
}

// run is one case.
func (s *suite) run(t *testing.T, name string, body func(t *testing.T, ctx context.Context)) {
	t.Run(name, func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithTimeout(t.Context(), s.Patience)
		defer cancel()
		body(t, ctx)
	})
}

// open opens a firewall as one of the optional interfaces, and closes it with the test.
func open[Optional any](t *testing.T, s *suite, target endpoint.Target) Optional {
	t.Helper()
	fw, err := s.backend.Open(t.Context(), target)
	if err != nil {
		t.Fatal("opening:", err)
	}
	t.Cleanup(func() {
		if err := fw.Close(); err != nil {
			t.Error("closing:", err)
		}
	})
	optional, ok := firewall.As[Optional](fw)
	if !ok {
		t.Fatalf("%T does not have the ability that it claims", fw)
	}
	return optional
}

// wantKind fails the test unless err is an Error of the kind with a message.
func wantKind(t *testing.T, err error, kind plugin.ErrorKind) *plugin.Error {
	t.Helper()
	e := asError(err)
	if e == nil || e.Kind != kind || e.Message == "" {
		t.Fatalf("error is %v, want one of kind %s with a message", err, kind)
	}
	return e
}

// asError is the Error in err, nil for none.
func asError(err error) *plugin.Error {
	var e *plugin.Error
	if !errors.As(err, &e) {
		return nil
	}
	return e
}
