package firewall_test

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/firewall"
	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/host/hosttest"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/core/secret"
	"github.com/hostler/hostler/sdk/endpoint"
	sdk "github.com/hostler/hostler/sdk/firewall"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
	"github.com/hostler/hostler/sdk/plugin"
)

// backend is every backend; the test answers for it.
type backend struct {
	sdk.Backend
	// bare firewalls have no ability.
	bare   bool
	rules  func(ctx context.Context, scope sdk.Scope) ([]sdk.Rule, string, error)
	refuse error

	names          []string
	targets        []endpoint.Target
	opened, closed int
}

func (b *backend) Firewall(name string) sdk.Backend {
	b.names = append(b.names, name)
	return b
}

func (b *backend) Open(_ context.Context, target endpoint.Target) (sdk.Firewall, error) {
	b.targets = append(b.targets, target)
	if b.refuse != nil {
		return nil, b.refuse
	}
	b.opened++
	if b.bare {
		return bareFirewall{b}, nil
	}
	return listing{bareFirewall{b}}, nil
}

type bareFirewall struct{ backend *backend }

func (f bareFirewall) Close() error {
	f.backend.closed++
	return nil
}

type listing struct{ bareFirewall }

func (f listing) Rules(ctx context.Context, scope sdk.Scope) ([]sdk.Rule, string, error) {
	return f.backend.rules(ctx, scope)
}

// newStore is a store with one host, id 1, of a cluster with a VM.
func newStore(t *testing.T, b *backend, timeout time.Duration) (*firewall.Store, *memdriver.Cluster, *guest.Guest) {
	t.Helper()
	d := dbtest.New(t)
	box, err := secret.Load(t.Context(), filepath.Join(t.TempDir(), "key"), func(context.Context) ([]secret.KeyID, error) { return nil, nil })
	if err != nil {
		t.Fatal(err)
	}
	driver := memdriver.New()
	cluster := driver.Add("pool.mem:8006", memdriver.Spec{Nodes: 2, VMs: 1})
	config := host.Config{DB: d, Drivers: hosttest.SingleDriver(driver), Keys: box, Driver: "mem"}
	token := cluster.Target(endpoint.Monitoring).Credential
	if _, _, err := host.New(config).Create(t.Context(), host.EnrolRequest{Name: "pool", Address: "pool.mem",
		Fingerprint: cluster.Fingerprint(),
		TokenID:     token.ID, Secret: secret.New(string(token.Secret))}); err != nil {
		t.Fatal(err)
	}
	config.Timeout = timeout
	vm := cluster.Guests()[0]
	return &firewall.Store{Hosts: host.New(config), Backends: b}, cluster,
		&guest.Guest{Kind: string(vm.Kind), Name: "web", Ref: string(vm.ID), HostID: 1, Node: vm.Node}
}

// list answers with these rules.
func list(digest string, rules ...sdk.Rule) func(context.Context, sdk.Scope) ([]sdk.Rule, string, error) {
	return func(context.Context, sdk.Scope) ([]sdk.Rule, string, error) { return rules, digest, nil }
}

func TestRulesAreAskedWithTheMonitoringTokenOfTheHost(t *testing.T) {
	t.Parallel()
	b := &backend{}
	s, cluster, vm := newStore(t, b, 0)
	var asked []sdk.Scope
	b.rules = func(_ context.Context, scope sdk.Scope) ([]sdk.Rule, string, error) {
		asked = append(asked, scope)
		return nil, "", nil
	}
	for _, on := range []firewall.Scope{firewall.OfCluster(1), firewall.OfNode(1, "node2"), firewall.OfGuest(vm)} {
		if rules, _, err := s.Rules(t.Context(), on); err != nil || len(rules) != 0 {
			t.Errorf("%v, %v", rules, err)
		}
	}
	if len(asked) != 3 || asked[0] != (sdk.Scope{Kind: sdk.ClusterScope}) || asked[1] != (sdk.Scope{Kind: sdk.NodeScope, Node: "node2"}) ||
		asked[2].Kind != sdk.GuestScope || asked[2].Node != "" || *asked[2].Guest != (sdk.Guest{Kind: "vm", Node: vm.Node, ID: vm.Ref}) {
		t.Errorf("asked for %+v", asked)
	}
	want := cluster.Target(endpoint.Monitoring)
	for _, target := range b.targets {
		if target.Address != want.Address || target.Fingerprint != want.Fingerprint || target.Credential != want.Credential {
			t.Errorf("asked at %+v, want %+v", target, want)
		}
	}
	if !slices.Equal(b.names, []string{"mem", "mem", "mem"}) {
		t.Errorf("the backends %q were asked", b.names)
	}
	if b.opened != 3 || b.closed != 3 {
		t.Errorf("%d firewalls were opened and %d closed", b.opened, b.closed)
	}
}

func TestRuleRows(t *testing.T) {
	t.Parallel()
	b := &backend{}
	s, _, _ := newStore(t, b, 0)
	b.rules = list("abc",
		sdk.Rule{Direction: "in", Action: "ACCEPT", Enabled: true, Macro: "SSH", Protocol: "tcp", Source: "+dc/admins", Destination: "192.0.2.1",
			SourcePort: "1024:", DestinationPort: "22", Interface: "net0", Log: "info", ICMPType: "any", Comment: "für alle"},
		sdk.Rule{Position: 1, Direction: "group", Action: "web"},
		sdk.Rule{Position: 2, Direction: "forward", Action: "D\x00ROP\xff", Comment: "\x00", Macro: strings.Repeat("m", 1<<20)})
	rules, _, err := s.Rules(t.Context(), firewall.OfCluster(1))
	if err != nil || len(rules) != 3 {
		t.Fatal(rules, err)
	}
	for i, want := range []string{
		`{"pos":0,"type":"in","action":"ACCEPT","enable":1,"macro":"SSH","iface":"net0","source":"+dc/admins","dest":"192.0.2.1",` +
			`"sport":"1024:","dport":"22","proto":"tcp","log":"info","icmp_type":"any","comment":"für alle","digest":"abc"}`,
		`{"pos":1,"type":"group","action":"web","enable":0,"macro":null,"iface":null,"source":null,"dest":null,` +
			`"sport":null,"dport":null,"proto":null,"log":null,"icmp_type":null,"comment":null,"digest":"abc"}`,
		`{"pos":2,"type":"forward","action":"DROP` + "\uFFFD" + `","enable":0,"macro":"` + strings.Repeat("m", 1024) + `","iface":null,` +
			`"source":null,"dest":null,"sport":null,"dport":null,"proto":null,"log":null,"icmp_type":null,"comment":null,"digest":"abc"}`,
	} {
		if got, err := json.Marshal(rules[i]); err != nil || string(got) != want {
			t.Errorf("%v\n%s\nwant\n%s", err, got, want)
		}
	}
	b.rules = list("", sdk.Rule{Direction: "out", Action: "DROP"})
	if rules, _, err := s.Rules(t.Context(), firewall.OfCluster(1)); err != nil || len(rules) != 1 || rules[0].Digest != nil {
		t.Errorf("without a digest: %+v, %v", rules, err)
	}
}

// Whatever a backend fails with has its problem, and what was opened is closed.
func TestRulesOfBackendsThatFail(t *testing.T) {
	t.Parallel()
	b := &backend{}
	s, cluster, vm := newStore(t, b, 0)
	cluster.Remove(vm.At().ID)
	node := plugin.Errorf(plugin.Invalid, "that is no name")
	node.Field = "node"
	fail := func(err error) func(context.Context, sdk.Scope) ([]sdk.Rule, string, error) {
		return func(context.Context, sdk.Scope) ([]sdk.Rule, string, error) { return nil, "", err }
	}
	fails := func(err error) func() { return func() { b.rules = fail(err) } }
	answers := func(r sdk.Rule) func() { return func() { b.rules = list("", r) } }
	cluster1 := firewall.OfCluster(1)
	for name, c := range map[string]struct {
		edit func()
		on   firewall.Scope
		code problem.Code
		text string
	}{
		"an unknown node":           {fails(plugin.Errorf(plugin.NotFound, "no x")), firewall.OfNode(1, "x"), problem.CodeNotFound, "no x"},
		"what is no name of a node": {fails(node), firewall.OfNode(1, ".."), problem.CodeNotFound, "node not found"},
		"a guest that is gone":      {fails(plugin.Errorf(plugin.NotFound, "no guest")), firewall.OfGuest(vm), problem.CodeNotFound, "no guest"},
		"an unknown host":           {func() {}, firewall.OfCluster(9), problem.CodeNotFound, "host not found"},
		"off":                       {fails(plugin.Errorf(plugin.Unreachable, "off")), cluster1, problem.CodeHypervisorError, "off"},
		"gone":                      {fails(plugin.ErrGone), cluster1, problem.CodePluginUnavailable, ""},
		"late":                      {fails(context.DeadlineExceeded), cluster1, problem.CodeTimeout, ""},
		"broken":                    {fails(plugin.Errorf(plugin.Internal, "canary")), cluster1, problem.CodeInternal, ""},
		"out of order":              {answers(sdk.Rule{Position: 7, Direction: "in"}), cluster1, problem.CodeHypervisorError, "rule 7"},
		"of an unknown type":        {answers(sdk.Rule{Direction: "sideways\x00"}), cluster1, problem.CodeHypervisorError, "sideways"},
		"bare": {func() { b.bare = true }, cluster1, problem.CodeUnsupported,
			"firewall backend does not support this: it lacks the ability rules"},
		"not to open":   {func() { b.refuse = plugin.Errorf(plugin.Unsupported, "no") }, cluster1, problem.CodeUnsupported, "no"},
		"asked of none": {func() { b.refuse = plugin.ErrGone }, firewall.OfGuest(vm), problem.CodePluginUnavailable, ""},
	} {
		b.bare, b.refuse, b.opened, b.closed = false, nil, 0, 0
		c.edit()
		_, _, err := s.Rules(t.Context(), c.on)
		p := problem.From(err)
		if err == nil || p.Code != c.code || !strings.Contains(p.Detail, c.text) || strings.Contains(p.Detail, "canary") {
			t.Errorf("%s: %v, want %s with %q", name, err, c.code, c.text)
		}
		if b.opened != b.closed {
			t.Errorf("%s: %d firewalls were opened and %d closed", name, b.opened, b.closed)
		}
	}
}

func TestRulesOfABackendThatHangs(t *testing.T) {
	t.Parallel()
	b := &backend{rules: func(ctx context.Context, _ sdk.Scope) ([]sdk.Rule, string, error) {
		<-ctx.Done()
		return nil, "", ctx.Err()
	}}
	s, _, vm := newStore(t, b, 50*time.Millisecond)
	for _, on := range []firewall.Scope{firewall.OfCluster(1), firewall.OfNode(1, "node1"), firewall.OfGuest(vm)} {
		if _, _, err := s.Rules(t.Context(), on); problem.CodeOf(err) != problem.CodeTimeout {
			t.Errorf("%v, want a timeout", err)
		}
	}
	gone, leave := context.WithCancel(t.Context())
	leave()
	if _, _, err := s.Rules(gone, firewall.OfCluster(1)); err == nil || problem.CodeOf(err) == problem.CodeTimeout {
		t.Errorf("for a caller who left: %v", err)
	}
	if b.opened != b.closed {
		t.Errorf("%d firewalls were opened and %d closed", b.opened, b.closed)
	}
}

// A guest that is on another node than the last poll saw is looked for once, for backends that keep its rules there.
func TestRulesOfAGuestThatMoved(t *testing.T) {
	t.Parallel()
	b := &backend{}
	s, cluster, vm := newStore(t, b, 0)
	asked := 0
	b.rules = func(_ context.Context, scope sdk.Scope) ([]sdk.Rule, string, error) {
		asked++
		if scope.Guest.Node != "node2" {
			return nil, "", plugin.Errorf(plugin.NotFound, "it is not here")
		}
		return []sdk.Rule{{Direction: "in", Action: "ACCEPT"}}, "", nil
	}
	cluster.Change(vm.At().ID, func(g *hypervisor.Guest) { g.Node = "node2" })
	vm.Node = "node1"
	if rules, _, err := s.Rules(t.Context(), firewall.OfGuest(vm)); err != nil || len(rules) != 1 || asked != 2 {
		t.Errorf("%+v, %v after %d questions", rules, err, asked)
	}
	cluster.SetFault("inventory", memdriver.Fault{Err: plugin.Errorf(plugin.Unreachable, "off")})
	if _, _, err := s.Rules(t.Context(), firewall.OfGuest(vm)); problem.CodeOf(err) != problem.CodeNotFound || asked != 3 {
		t.Errorf("while nobody can look for it: %v after %d questions", err, asked)
	}
}
