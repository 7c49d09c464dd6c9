package pve_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/hostler/hostler/plugins/pve"
	"github.com/hostler/hostler/plugins/pve/pvesim"
	"github.com/hostler/hostler/plugins/pve/pvetest"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/firewall"
	"github.com/hostler/hostler/sdk/plugin"
)

// firewallCall is a call that the backend takes, and what it costs.
type firewallCall struct {
	name string
	// requests are those of the call at the cluster, and of a guest one more where it changes something.
	requests int64
	// privileges are what it needs: of the first of two at the cluster and at nodes, of the second at guests. A call without them needs none.
	privileges string
	write      bool
	call       func(ctx context.Context, fw *pve.Firewall, on firewall.Scope) error
}

// Privileges by the scope: system ones, and those of guests.
const (
	mayRead       = "Sys.Audit VM.Audit"
	mayWrite      = "Sys.Modify VM.Config.Network"
	mayReadAndSet = "Sys.Audit,Sys.Modify VM.Audit,VM.Config.Network"
)

// needed are the privileges of a call at a scope.
func (c firewallCall) needed(on firewall.Scope) []string {
	system, guest, _ := strings.Cut(c.privileges, " ")
	if on.Kind == firewall.GuestScope {
		system = guest
	}
	return strings.FieldsFunc(system, func(r rune) bool { return r == ',' })
}

// firewallCalls are calls in an order in which each finds what it needs. Digests are asked for where a call has one.
func firewallCalls(t testing.TB, reading *pve.Firewall) []firewallCall {
	comment := "changed"
	rule := firewall.Rule{Direction: "in", Action: "ACCEPT", Protocol: "tcp", DestinationPort: "22"}
	of := func(list func() (string, error)) string {
		t.Helper()
		digest, err := list()
		must(t, "asking for a digest", err)
		return digest
	}
	rules := func(ctx context.Context, on firewall.Scope) string {
		return of(func() (string, error) { _, digest, err := reading.Rules(ctx, on); return digest, err })
	}
	aliases := func(ctx context.Context, on firewall.Scope) string {
		return of(func() (string, error) { _, digest, err := reading.Aliases(ctx, on); return digest, err })
	}
	sets := func(ctx context.Context, on firewall.Scope) string {
		return of(func() (string, error) { _, digest, err := reading.IPSets(ctx, on); return digest, err })
	}
	members := func(ctx context.Context, on firewall.Scope) string {
		return of(func() (string, error) { _, digest, err := reading.IPSetMembers(ctx, on, "web"); return digest, err })
	}
	create := func(ctx context.Context, fw *pve.Firewall, on firewall.Scope, digest string) error {
		_, _, err := fw.CreateRule(ctx, on, rule, digest)
		return err
	}
	return []firewallCall{
		{"list rules", 1, mayRead, false, func(ctx context.Context, fw *pve.Firewall, on firewall.Scope) error {
			_, _, err := fw.Rules(ctx, on)
			return err
		}},
		{"create a rule", 2, mayWrite, true, func(ctx context.Context, fw *pve.Firewall, on firewall.Scope) error {
			return create(ctx, fw, on, "")
		}},
		{"create a rule of a digest", 3, mayWrite, true, func(ctx context.Context, fw *pve.Firewall, on firewall.Scope) error {
			return create(ctx, fw, on, rules(ctx, on))
		}},
		{"change a rule", 1, mayWrite, true, func(ctx context.Context, fw *pve.Firewall, on firewall.Scope) error {
			return fw.ChangeRule(ctx, on, 0, firewall.RuleChange{Set: firewall.RuleFields{Comment: &comment}, Digest: rules(ctx, on)})
		}},
		{"move a rule up", 1, mayWrite, true, func(ctx context.Context, fw *pve.Firewall, on firewall.Scope) error {
			return fw.MoveRule(ctx, on, 1, 0, rules(ctx, on))
		}},
		{"move a rule down", 2, mayWrite, true, func(ctx context.Context, fw *pve.Firewall, on firewall.Scope) error {
			return fw.MoveRule(ctx, on, 0, 1, rules(ctx, on))
		}},
		{"move a rule nowhere", 1, mayWrite, true, func(ctx context.Context, fw *pve.Firewall, on firewall.Scope) error {
			return fw.MoveRule(ctx, on, 1, 1, rules(ctx, on))
		}},
		{"delete a rule", 1, mayWrite, true, func(ctx context.Context, fw *pve.Firewall, on firewall.Scope) error {
			return fw.DeleteRule(ctx, on, 1, rules(ctx, on))
		}},
		{"list aliases", 1, mayRead, false, func(ctx context.Context, fw *pve.Firewall, on firewall.Scope) error {
			_, _, err := fw.Aliases(ctx, on)
			return err
		}},
		{"create an alias", 1, mayWrite, true, func(ctx context.Context, fw *pve.Firewall, on firewall.Scope) error {
			return fw.CreateAlias(ctx, on, firewall.Alias{Name: "office", CIDR: "192.0.2.1"}, "")
		}},
		{"create an alias of a digest", 2, mayReadAndSet, true, func(ctx context.Context, fw *pve.Firewall, on firewall.Scope) error {
			return fw.CreateAlias(ctx, on, firewall.Alias{Name: "branch", CIDR: "192.0.2.2"}, aliases(ctx, on))
		}},
		{"change an alias", 2, mayReadAndSet, true, func(ctx context.Context, fw *pve.Firewall, on firewall.Scope) error {
			return fw.ChangeAlias(ctx, on, "office", firewall.AliasChange{Comment: &comment})
		}},
		{"delete an alias", 2, mayReadAndSet, true, func(ctx context.Context, fw *pve.Firewall, on firewall.Scope) error {
			return fw.DeleteAlias(ctx, on, "branch", aliases(ctx, on))
		}},
		{"list sets", 1, mayRead, false, func(ctx context.Context, fw *pve.Firewall, on firewall.Scope) error {
			_, _, err := fw.IPSets(ctx, on)
			return err
		}},
		{"create a set", 1, mayWrite, true, func(ctx context.Context, fw *pve.Firewall, on firewall.Scope) error {
			return fw.CreateIPSet(ctx, on, firewall.IPSet{Name: "web"}, "")
		}},
		{"create a set of a digest", 2, mayWrite, true, func(ctx context.Context, fw *pve.Firewall, on firewall.Scope) error {
			return fw.CreateIPSet(ctx, on, firewall.IPSet{Name: "mail"}, sets(ctx, on))
		}},
		{"delete a set of a digest", 2, mayWrite, true, func(ctx context.Context, fw *pve.Firewall, on firewall.Scope) error {
			return fw.DeleteIPSet(ctx, on, "mail", false, sets(ctx, on))
		}},
		{"list members", 1, mayRead, false, func(ctx context.Context, fw *pve.Firewall, on firewall.Scope) error {
			_, _, err := fw.IPSetMembers(ctx, on, "web")
			return err
		}},
		{"add a member", 1, mayWrite, true, func(ctx context.Context, fw *pve.Firewall, on firewall.Scope) error {
			return fw.AddIPSetMember(ctx, on, "web", firewall.IPSetMember{CIDR: "192.0.2.0/24"}, "")
		}},
		{"add a member of a digest", 2, mayWrite, true, func(ctx context.Context, fw *pve.Firewall, on firewall.Scope) error {
			return fw.AddIPSetMember(ctx, on, "web", firewall.IPSetMember{CIDR: "office"}, members(ctx, on))
		}},
		{"change a member", 2, mayReadAndSet, true, func(ctx context.Context, fw *pve.Firewall, on firewall.Scope) error {
			return fw.ChangeIPSetMember(ctx, on, "web", "office", firewall.IPSetMemberChange{Comment: &comment, Digest: members(ctx, on)})
		}},
		{"remove a member", 2, mayReadAndSet, true, func(ctx context.Context, fw *pve.Firewall, on firewall.Scope) error {
			return fw.RemoveIPSetMember(ctx, on, "web", "office", members(ctx, on))
		}},
		{"delete a set", 1, mayWrite, true, func(ctx context.Context, fw *pve.Firewall, on firewall.Scope) error {
			return fw.DeleteIPSet(ctx, on, "web", true, "")
		}},
		{"read options", 1, mayRead, false, func(ctx context.Context, fw *pve.Firewall, on firewall.Scope) error {
			_, err := fw.Options(ctx, on)
			return err
		}},
		{"change options", 1, mayWrite, true, func(ctx context.Context, fw *pve.Firewall, on firewall.Scope) error {
			now, err := reading.Options(ctx, on)
			must(t, "reading options", err)
			off := false
			return fw.ChangeOptions(ctx, on, firewall.OptionsChange{Set: firewall.Options{Digest: now.Digest, Enable: &off}})
		}},
		{"list references", 1, mayRead, false, func(ctx context.Context, fw *pve.Firewall, on firewall.Scope) error {
			_, err := fw.References(ctx, on)
			return err
		}},
		{"read the log", 1, "Sys.Syslog VM.Console", false, func(ctx context.Context, fw *pve.Firewall, on firewall.Scope) error {
			_, err := fw.Log(ctx, on, firewall.LogQuery{})
			return err
		}},
		{"list groups", 1, "", false, func(ctx context.Context, fw *pve.Firewall, _ firewall.Scope) error {
			_, _, err := fw.Groups(ctx)
			return err
		}},
		{"create a group", 1, mayWrite, true, func(ctx context.Context, fw *pve.Firewall, _ firewall.Scope) error {
			return fw.CreateGroup(ctx, firewall.Group{Name: "web"}, "")
		}},
		{"change a group", 1, mayWrite, true, func(ctx context.Context, fw *pve.Firewall, _ firewall.Scope) error {
			_, digest, err := reading.Groups(ctx)
			must(t, "listing groups", err)
			return fw.ChangeGroup(ctx, "web", firewall.GroupChange{Rename: "mail", Digest: digest})
		}},
		{"delete a group", 2, mayWrite, true, func(ctx context.Context, fw *pve.Firewall, _ firewall.Scope) error {
			return fw.DeleteGroup(ctx, "mail", "")
		}},
		{"create a group of a digest", 2, mayWrite, true, func(ctx context.Context, fw *pve.Firewall, _ firewall.Scope) error {
			_, digest, err := reading.Groups(ctx)
			must(t, "listing groups", err)
			return fw.CreateGroup(ctx, firewall.Group{Name: "more"}, digest)
		}},
		{"list macros", 1, "", false, func(ctx context.Context, fw *pve.Firewall, _ firewall.Scope) error {
			_, err := fw.Macros(ctx)
			return err
		}},
	}
}

// at reports whether a scope has the call.
func (c firewallCall) at(kind firewall.ScopeKind) bool {
	has := func(words ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(c.name, w) })
	}
	switch kind {
	case firewall.ClusterScope:
		return !has("log")
	case firewall.GuestScope:
		return !has("group", "macros")
	case firewall.NodeScope:
		return has("rule", "option", "log")
	}
	return has("rule")
}

// scopesOfEveryKind are one of each kind, with two rules in the list of each, so that a rule can be moved.
func (w *fixture) scopesOfEveryKind(t testing.TB) []firewall.Scope {
	t.Helper()
	vm := w.guest(t, pvesim.GuestSpec{})
	node := w.NodeNames()[0]
	rules := []pvesim.FirewallRule{{Type: "in", Action: "DROP"}, {Type: "out", Action: "DROP"}}
	for _, scope := range []pvesim.FirewallScope{pvesim.FirewallCluster, pvesim.FirewallNode(node), pvesim.FirewallGuest(vmid(t, vm)),
		pvesim.FirewallGroup("rules")} {
		must(t, "setting rules", w.SetFirewallRules(scope, rules...))
	}
	return []firewall.Scope{clusterScope, nodeScope(node), guestScope(vm), groupScope("rules")}
}

// TestFirewallRequests counts what each call costs the hypervisor, with digests and without.
func TestFirewallRequests(t *testing.T) {
	t.Parallel()
	w := newFirewalls(t, pvesim.Options{})
	var requests atomic.Int64
	server := serveTLS(t, http.HandlerFunc(func(answer http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		w.Node(w.NodeNames()[0]).ServeHTTP(answer, r)
	}))
	counted := func(capability endpoint.Capability) *pve.Firewall {
		target := w.properTarget(t, capability)
		target.Address, target.Fingerprint = server.Listener.Addr().String(), endpoint.Fingerprint(server.Certificate())
		return w.openFirewall(t, target)
	}
	reads, changes := counted(endpoint.Monitoring), counted(endpoint.Lifecycle)
	// Digests are asked for at another door, so that they do not count.
	calls := firewallCalls(t, w.firewall(t, endpoint.Monitoring))
	for _, on := range w.scopesOfEveryKind(t) {
		for _, c := range calls {
			if !c.at(on.Kind) {
				continue
			}
			fw, want := reads, c.requests
			if c.write {
				fw = changes
				if on.Kind == firewall.GuestScope { // whether it is there
					want++
				}
			}
			before := requests.Load()
			must(t, c.name+" at "+string(on.Kind), c.call(t.Context(), fw, on))
			if got := requests.Load() - before; got != want {
				t.Errorf("%s at %s: %d requests, want %d", c.name, on.Kind, got, want)
			}
		}
	}
}

// TestEveryFirewallRequestIsInTheSchema goes through all that the backend can ask for, for VMs and containers.
func TestEveryFirewallRequestIsInTheSchema(t *testing.T) {
	t.Parallel()
	schema := pvetest.LoadSchema(t)
	w := newFirewalls(t, pvesim.Options{})
	c := &checker{t: t, schema: schema, next: w.Node(w.NodeNames()[0]), seen: map[string]bool{}}
	server := serveTLS(t, c)
	target := w.target(endpoint.Lifecycle, w.AdminToken())
	target.Address, target.Fingerprint = server.Listener.Addr().String(), endpoint.Fingerprint(server.Certificate())
	fw := w.openFirewall(t, target)
	scopes := append(w.scopesOfEveryKind(t), guestScope(w.guest(t, pvesim.GuestSpec{Type: pvesim.LXC})))
	must(t, "setting rules", w.SetFirewallRules(pvesim.FirewallGuest(vmid(t, w.ref(t, w.Cluster.Guests()[1]))),
		pvesim.FirewallRule{Type: "in", Action: "DROP"}, pvesim.FirewallRule{Type: "out", Action: "DROP"}))
	options := everyOption()
	for _, on := range scopes {
		for _, call := range firewallCalls(t, fw) {
			if call.at(on.Kind) {
				must(t, call.name+" at "+string(on.Kind), call.call(t.Context(), fw, on))
			}
		}
		if set, has := options[on.Kind]; has {
			must(t, "setting all options", fw.ChangeOptions(t.Context(), on, firewall.OptionsChange{Set: set}))
		}
	}
	_, err := fw.Usage(t.Context(), clusterScope, firewall.AliasObject, "web")
	must(t, "asking for the usage", err)
	for _, m := range schema.Methods() {
		single := m.Method == http.MethodGet && strings.HasSuffix(m.Path, "}") // one row of a list
		set := strings.HasSuffix(m.Path, "/{name}") && strings.Contains(m.Path, "ipset") || strings.HasSuffix(m.Path, "/{group}")
		index := strings.HasSuffix(m.Path, "/firewall")
		if !strings.Contains(m.Path, "/firewall") || strings.Contains(m.Path, "/sdn/") || index || single && !set {
			continue
		}
		if !c.seen[m.Method+" "+m.Path] {
			t.Errorf("%s %s was not asked for", m.Method, m.Path)
		}
	}
}

// TestFirewallPrivileges takes away one privilege after the other: the refusal names it, its place, and the command that gives it.
func TestFirewallPrivileges(t *testing.T) {
	t.Parallel()
	w := newFirewalls(t, pvesim.Options{})
	calls := firewallCalls(t, w.firewall(t, endpoint.Monitoring))
	for _, on := range w.scopesOfEveryKind(t) {
		for _, c := range calls {
			if !c.at(on.Kind) {
				continue
			}
			what, needed := c.name+" at "+string(on.Kind), c.needed(on)
			capability, role := endpoint.Monitoring, "ServiceAudit"
			if c.write {
				capability, role = endpoint.Lifecycle, "ServiceLifecycle"
			}
			for _, gone := range needed {
				rest := slices.DeleteFunc(slices.Clone(needed), func(p string) bool { return p == gone })
				token := w.token("/", true, rest...)
				err := c.call(t.Context(), w.openFirewall(t, w.target(capability, token)), on)
				e, isError := err.(*plugin.Error)
				if !isError || e.Kind != plugin.Denied || !slices.Equal(e.Missing, []string{gone}) || e.Path != placeOfPrivilege(on) ||
					!grantsRole(strings.TrimPrefix(e.Remedy, "pveum role modify ServiceAudit --append 1 --privs "+gone+" && "), role, token) {
					t.Errorf("%s without %s: %+v", what, gone, err)
				}
			}
			must(t, what+" with just what it needs", c.call(t.Context(), w.openFirewall(t,
				w.target(capability, w.token("/", true, needed...))), on))
		}
	}
}

// placeOfPrivilege is where privileges for a scope are looked for.
func placeOfPrivilege(on firewall.Scope) string {
	switch on.Kind {
	case firewall.NodeScope:
		return "/nodes/" + on.Node
	case firewall.GuestScope:
		return "/vms/" + on.Guest.ID
	}
	return "/"
}

// TestFirewallOfNoGuest: the hypervisor would take every change for a guest that is not there, and give it to the next one of that id.
func TestFirewallOfNoGuest(t *testing.T) {
	t.Parallel()
	w := newFirewalls(t, pvesim.Options{Guests: 1})
	fw := w.firewall(t, endpoint.Lifecycle)
	for _, kind := range []string{"vm", "container"} {
		none := firewall.Scope{Kind: firewall.GuestScope, Guest: &firewall.Guest{Kind: kind, Node: w.NodeNames()[0], ID: "777777"}}
		for _, c := range firewallCalls(t, w.firewall(t, endpoint.Monitoring)) {
			if !c.at(firewall.GuestScope) || !c.write || strings.Contains(c.name, "digest") || strings.HasSuffix(c.name, "member") {
				continue
			}
			err := c.call(t.Context(), fw, none)
			if plugin.KindOf(err) != plugin.NotFound || !strings.Contains(err.Error(), "guest 777777 does not exist") {
				t.Errorf("%s: error is %v, want not found", c.name, err)
			}
		}
		if rules, _, err := fw.Rules(t.Context(), none); err != nil || len(rules) > 0 {
			t.Errorf("rules are %+v, %v", rules, err)
		}
	}
	for scope := range w.Firewalls() {
		if scope == pvesim.FirewallGuest(777777) {
			t.Errorf("the guest that is not there has %+v", w.Firewalls()[scope])
		}
	}
}
