package pve_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/hostler/hostler/plugins/pve"
	"github.com/hostler/hostler/plugins/pve/pvesim"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/firewall"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// places are what a usage tells, each on a line.
func places(t testing.TB, fw *pve.Firewall, on firewall.Scope, kind firewall.ObjectKind, name string) ([]string, string) {
	t.Helper()
	usage, err := fw.Usage(t.Context(), on, kind, name)
	must(t, "asking for the usage", err)
	var all []string
	for _, p := range usage.Places {
		where := string(p.Scope.Kind) + p.Scope.Node + p.Scope.Group
		if p.Scope.Guest != nil {
			where += p.Scope.Guest.Kind + p.Scope.Guest.ID
		}
		all = append(all, fmt.Sprintf("%s %s %d %s %s", where, p.Kind, p.Position, p.IPSet, p.Text))
	}
	return all, usage.Incomplete
}

// named are firewalls that name the alias web, the set web and the group web everywhere. The container has objects of these names itself.
func named(t testing.TB, w *fixture, vm, container hypervisor.GuestRef) {
	t.Helper()
	rules := func(sources ...string) (all []pvesim.FirewallRule) {
		for _, source := range sources {
			all = append(all, pvesim.FirewallRule{Type: "in", Action: "ACCEPT", Source: source})
		}
		return append(all, pvesim.FirewallRule{Type: "in", Action: "ACCEPT", Dest: "10.0.0.0/8"})
	}
	group := pvesim.FirewallRule{Type: "group", Action: "web"}
	alias := []pvesim.FirewallAlias{{Name: "Web", CIDR: "10.0.0.1"}}
	set := func(members ...string) []pvesim.FirewallIPSet {
		one := pvesim.FirewallIPSet{Name: "web"}
		for _, m := range members {
			one.Members = append(one.Members, pvesim.FirewallMember{CIDR: m})
		}
		return []pvesim.FirewallIPSet{one, {Name: "other", Members: []pvesim.FirewallMember{{CIDR: "10.0.0.9"}}}}
	}
	must(t, "setting firewalls", w.SetFirewalls(map[pvesim.FirewallScope]pvesim.FirewallConfig{
		pvesim.FirewallCluster: {
			Aliases: alias, IPSets: set("WEB", "dc/web", "10.0.0.2"), Rules: append(rules("web", "+web", "+Web", "+dc/web"), group),
			Groups: []pvesim.SecurityGroup{{Name: "web", Rules: rules("dc/web", "+web", "webs")}, {Name: "webs"}},
		},
		pvesim.FirewallNode("pve2"):                {Rules: append(rules("Web", "+web"), group)},
		pvesim.FirewallGuest(vmid(t, vm)):          {Rules: append(rules("web", "+web", "dc/web", "guest/web"), group)},
		pvesim.FirewallGuest(vmid(t, container)):   {Aliases: alias, IPSets: set("web", "dc/web"), Rules: rules("web", "+web", "+dc/web")},
		pvesim.FirewallGuest(vmid(t, vm) + 10_000): {Rules: rules("web", "+web")}, // of nobody
	}))
}

func TestFirewallUsage(t *testing.T) {
	t.Parallel()
	w := newFirewalls(t, pvesim.Options{Scenario: pvesim.ScenarioCluster, Nodes: 2, Guests: -1})
	vm, container := w.guest(t, pvesim.GuestSpec{Node: "pve1"}), w.guest(t, pvesim.GuestSpec{Node: "pve2", Type: pvesim.LXC})
	named(t, w, vm, container)
	v, c := "guestvm"+string(vm.ID), "guestcontainer"+string(container.ID)
	fw := w.firewall(t, endpoint.Monitoring)
	for _, one := range []struct {
		on   firewall.Scope
		kind firewall.ObjectKind
		name string
		want []string
	}{
		{clusterScope, firewall.AliasObject, "web", []string{
			"cluster rule 0  web", "cluster ipset_member 0 web WEB", "cluster ipset_member 0 web dc/web", "groupweb rule 0  dc/web",
			"nodepve2 rule 0  Web", v + " rule 0  web", v + " rule 2  dc/web", c + " ipset_member 0 web dc/web"}},
		{clusterScope, firewall.IPSetObject, "web", []string{
			"cluster rule 1  +web", "cluster rule 3  +dc/web", "groupweb rule 1  +web", "nodepve2 rule 1  +web", v + " rule 1  +web",
			c + " rule 2  +dc/web"}},
		{clusterScope, firewall.GroupObject, "web", []string{"cluster rule 5  web", "nodepve2 rule 3  web", v + " rule 5  web"}},
		{guestScope(container), firewall.AliasObject, "web", []string{c + " rule 0  web", c + " ipset_member 0 web web"}},
		{guestScope(container), firewall.IPSetObject, "web", []string{c + " rule 1  +web"}},
		{guestScope(vm), firewall.AliasObject, "web", []string{v + " rule 0  web", v + " rule 3  guest/web"}},
		{clusterScope, firewall.AliasObject, "10", nil},
		{clusterScope, firewall.GroupObject, "webs", nil},
		{clusterScope, firewall.IPSetObject, "management",
			[]string{"cluster other 0  the addresses that may reach the API, the consoles and SSH of the nodes"}},
		{guestScope(vm), firewall.IPSetObject, "ipfilter-net12", []string{v + " other 0  the addresses that may leave net12"}},
	} {
		got, incomplete := places(t, fw, one.on, one.kind, one.name)
		slices.Sort(got)
		slices.Sort(one.want)
		if !slices.Equal(got, one.want) || incomplete != "" {
			t.Errorf("%s %s %s: places are\n%s (%s), want\n%s", one.on.Kind, one.kind, one.name, strings.Join(got, "\n"), incomplete,
				strings.Join(one.want, "\n"))
		}
	}
}

func TestFirewallUsageSaysWhatItDidNotSee(t *testing.T) {
	t.Parallel()
	w := newFirewalls(t, pvesim.Options{Scenario: pvesim.ScenarioCluster, Nodes: 3, Guests: -1})
	vm, container := w.guest(t, pvesim.GuestSpec{Node: "pve1"}), w.guest(t, pvesim.GuestSpec{Node: "pve3", Type: pvesim.LXC})
	named(t, w, vm, container)
	fw := w.firewall(t, endpoint.Monitoring)
	tell := func(fw *pve.Firewall, want ...string) []string {
		t.Helper()
		got, incomplete := places(t, fw, clusterScope, firewall.GroupObject, "web")
		for _, text := range want {
			if !strings.Contains(incomplete, text) {
				t.Errorf("not all was looked at: %q, want %q", incomplete, text)
			}
		}
		return got
	}
	blind := w.openFirewall(t, w.target(endpoint.Monitoring, w.token("/", true, "Sys.Audit")))
	if got := tell(blind, "VM.Audit"); len(got) != 2 {
		t.Errorf("without VM.Audit the places are %q", got)
	}
	noNodes := w.openFirewall(t, w.target(endpoint.Monitoring, w.token("/", false, "Sys.Audit", "VM.Audit")))
	tell(noNodes, "the rules of node pve", "/nodes/pve", "VM.Audit") // the first reasons that came
	wantKind(t, func() error {
		_, err := w.openFirewall(t, w.target(endpoint.Monitoring, w.token("/", true, "VM.Audit"))).Usage(t.Context(), clusterScope,
			firewall.GroupObject, "web")
		return err
	}(), plugin.Denied)

	path := fmt.Sprintf("/nodes/pve1/qemu/%s/firewall/rules", vm.ID)
	w.fault(t, pvesim.Fault{Kind: pvesim.FaultStatus, Match: pvesim.Match{Path: path}, Status: 500, Reason: "got lost", Times: 1})
	if got := tell(fw, "the rules of guest "+string(vm.ID)+" cannot be read", "got lost"); len(got) != 2 {
		t.Errorf("the places are %q", got)
	}
	// The firewall of a guest is kept beside the nodes.
	must(t, "taking a node away", w.SetNodeOnline("pve3", false))
	if got := tell(fw, "node pve3 is offline"); len(got) != 3 {
		t.Errorf("the places are %q", got)
	}
	ofContainer := func(p firewall.Place) bool { return p.Scope.Guest != nil && p.Scope.Guest.ID == string(container.ID) }
	if usage, err := fw.Usage(t.Context(), clusterScope, firewall.IPSetObject, "web"); err != nil ||
		!slices.ContainsFunc(usage.Places, ofContainer) {
		t.Errorf("the guest of a node that is away is not among %+v, %v", usage.Places, err)
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := fw.Usage(canceled, clusterScope, firewall.GroupObject, "web"); err == nil {
		t.Error("a usage that nobody waits for has no error")
	}
	refused := pvesim.Fault{Kind: pvesim.FaultStatus, Match: pvesim.Match{Path: path}, Status: 401, Reason: "No ticket", Times: 1}
	w.fault(t, refused)
	_, err := fw.Usage(t.Context(), clusterScope, firewall.GroupObject, "web")
	wantKind(t, err, plugin.TokenRejected)
}

// TestFirewallUsageInVirtualNetworks puts two of them before the simulator, which has none: one with rules, and one that cannot be read.
func TestFirewallUsageInVirtualNetworks(t *testing.T) {
	t.Parallel()
	w := newFirewalls(t, pvesim.Options{Guests: -1})
	rules := `{"pos":0,"type":"forward","action":"DROP","source":"dc/web"},{"pos":1,"type":"group","action":"web"},` +
		`{"pos":2,"type":"forward","action":"DROP","dest":"+web"}`
	server := serveTLS(t, http.HandlerFunc(func(answer http.ResponseWriter, r *http.Request) {
		answer.Header().Set("Content-Type", "application/json;charset=UTF-8")
		switch strings.TrimPrefix(r.URL.Path, "/api2/json/cluster/sdn/vnets") {
		case "":
			_, _ = io.WriteString(answer, `{"data":[{"vnet":"vnet1"},{"vnet":".."},{"vnet":"vnet2"}]}`)
		case "/vnet1/firewall/rules":
			_, _ = io.WriteString(answer, `{"data":[`+rules+`]}`)
		case "/vnet2/firewall/rules":
			answer.WriteHeader(http.StatusForbidden)
		default:
			w.Node(w.NodeNames()[0]).ServeHTTP(answer, r)
		}
	}))
	target := w.properTarget(t, endpoint.Monitoring)
	target.Address, target.Fingerprint = server.Listener.Addr().String(), endpoint.Fingerprint(server.Certificate())
	for kind, want := range map[firewall.ObjectKind]string{
		firewall.AliasObject: "rule 0 of the virtual network vnet1: dc/web", firewall.GroupObject: "rule 1 of the virtual network vnet1: web",
		firewall.IPSetObject: "rule 2 of the virtual network vnet1: +web",
	} {
		got, incomplete := places(t, w.openFirewall(t, target), clusterScope, kind, "web")
		if len(got) != 1 || got[0] != "cluster other 0  "+want || !strings.Contains(incomplete, "the virtual network vnet2 cannot be read") {
			t.Errorf("%s: places are %q (%s), want %s", kind, got, incomplete, want)
		}
	}
}

// TestFirewallUsageIsBounded asks a cluster with more guests than may be asked.
func TestFirewallUsageIsBounded(t *testing.T) {
	t.Parallel()
	w := newFirewalls(t, pvesim.Options{Scenario: pvesim.ScenarioCluster, Nodes: 2, Guests: 320})
	fw := w.firewall(t, endpoint.Monitoring)
	before := w.Stats().Total
	_, incomplete := places(t, fw, clusterScope, firewall.AliasObject, "web")
	if n := w.Stats().Total - before; n > 600 || n < 590 || !strings.Contains(incomplete, "600 requests") {
		t.Errorf("%d requests, and not all was looked at: %q", n, incomplete)
	}
	before = w.Stats().Total
	if _, incomplete := places(t, fw, clusterScope, firewall.GroupObject, "web"); incomplete != "" || w.Stats().Total-before != 326 {
		t.Errorf("%d requests, and not all was looked at: %q", w.Stats().Total-before, incomplete)
	}
}
