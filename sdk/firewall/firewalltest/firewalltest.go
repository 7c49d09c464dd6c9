// Package firewalltest is the conformance suite for firewall backends. A
// backend that passes it works with Hostler; the suite checks the contract in
// the comments of package firewall.
//
// A backend's test calls Run with a Config. Every case runs twice: with the
// backend itself, and over real gRPC through the server that plugin.Serve uses.
// Cases are skipped, with the reason, if the firewall does not have the ability
// or if the Config has no hook for them.
//
// Cases run in parallel and change what they work on, so each hook that returns
// something to change must return another one each time. Use a simulator or a
// machine that may be changed: on a real one, switching a firewall on can lock
// you out.
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
// uses, and the endpoint that it belongs to.
type EmptyScope struct {
	Scope firewall.Scope
	// Target returns a working target with a pinned certificate and a token
	// with the privileges of the capability.
	Target func(t testing.TB, capability endpoint.Capability) endpoint.Target
}

// LogSetup is a log with known content: at least three lines, numbered from 1,
// of which at least one can be parsed into an entry. The time of a line with an
// entry is at least one second after the previous line, because queries have a
// resolution of one second.
type LogSetup struct {
	Scope firewall.Scope
	Lines []firewall.LogLine
}

// List is a scope and the rules that it has, in order.
type List struct {
	Scope firewall.Scope
	Rules []firewall.Rule
}

// Config describes a backend and the world in which it is tested. A nil hook
// skips the cases that need it.
type Config struct {
	// Backend and FirewallType are the same as in firewall.Service. Required.
	Backend      firewall.Backend
	FirewallType firewall.Firewall
	// Target returns a working target with a pinned certificate and a token
	// with the privileges of the capability. Required.
	Target func(t testing.TB, capability endpoint.Capability) endpoint.Target
	// Patience limits each case; zero means two minutes.
	Patience time.Duration

	// Lists returns scopes of all kinds with their rules, some of them without
	// any.
	Lists func(t testing.TB) []List
	// Change changes the rules of one scope, which no other case reads, and
	// returns the scope. It is called twice for the same scope.
	Change func(t testing.TB) firewall.Scope
	// Guest returns a guest without options for each case that changes them.
	Guest func(t testing.TB) firewall.Guest
	// Empty returns another empty scope of a kind each time. All cases that
	// change something need it. Two cluster scopes are two endpoints.
	Empty func(t testing.TB, kind firewall.ScopeKind) EmptyScope
	// Rules are at least three different rules with comments that every scope
	// accepts. Nil means rules that accept, drop and reject ports.
	Rules []firewall.Rule
	// Options are values to set, by kind of scope, ideally for every option
	// that the kind has. A kind without values is skipped.
	Options map[firewall.ScopeKind]firewall.Options
	// Log returns logs of all kinds of scopes that have one.
	Log func(t testing.TB) []LogSetup
	// Evaluated returns where packets are evaluated.
	Evaluated func(t testing.TB) EvaluationSetup
	// Lacking returns a target whose token may not read the rules of the
	// cluster.
	Lacking func(t testing.TB) endpoint.Target
}

// Run runs the suite as subtests of t, once with the backend itself ("direct")
// and once through gRPC ("grpc"). The cases of unsupported scopes only run
// through gRPC, because the SDK answers them there on behalf of the backend.
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

// suite is one run of all cases, with the backend itself or with its client.
type suite struct {
	Config
	backend firewall.Backend
	info    firewall.Info
}

// has reports whether a kind of scope has the ability of an optional interface,
// as the backend describes itself.
func has[Optional any](s *suite, kind firewall.ScopeKind) bool {
	return s.info.Has(kind, firewall.AbilityName[Optional]())
}

// run runs one case as a parallel subtest, with a context that ends after
// Patience.
func (s *suite) run(t *testing.T, name string, body func(t *testing.T, ctx context.Context)) {
	t.Run(name, func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithTimeout(t.Context(), s.Patience)
		defer cancel()
		body(t, ctx)
	})
}

// open opens a firewall as an optional interface and closes it at the end of
// the test. It ends the test if the firewall lacks an ability that the backend
// claims.
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

// wantKind ends the test unless err is a plugin.Error of the kind with a
// message.
func wantKind(t *testing.T, err error, kind plugin.ErrorKind) *plugin.Error {
	t.Helper()
	e := asError(err)
	if e == nil || e.Kind != kind || e.Message == "" {
		t.Fatalf("error is %v, want one of kind %s with a message", err, kind)
	}
	return e
}

// asError returns the plugin.Error in err, or nil.
func asError(err error) *plugin.Error {
	var e *plugin.Error
	if !errors.As(err, &e) {
		return nil
	}
	return e
}
