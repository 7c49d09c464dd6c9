package pve_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hostler/hostler/plugins/pve"
	"github.com/hostler/hostler/plugins/pve/pvesim"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/firewall"
	"github.com/hostler/hostler/sdk/firewall/firewalltest"
	"github.com/hostler/hostler/sdk/hypervisor"
)

func TestFirewallConformance(t *testing.T) {
	t.Parallel()
	w := newFixture(t, pvesim.Options{Scenario: pvesim.ScenarioCluster, Nodes: 2, Guests: 4})
	node, other := w.NodeNames()[0], w.NodeNames()[1]
	vm, container := w.guest(t, pvesim.GuestSpec{}), w.guest(t, pvesim.GuestSpec{Type: pvesim.LXC})
	guest := func(ref hypervisor.GuestRef) firewall.Scope {
		return firewall.Scope{Kind: firewall.GuestScope, Guest: &firewall.Guest{Kind: string(ref.Kind), Node: ref.Node, ID: string(ref.ID)}}
	}
	set := func(scope pvesim.FirewallScope, rules ...pvesim.FirewallRule) {
		must(t, "setting rules", w.SetFirewallRules(scope, rules...))
	}
	set(pvesim.FirewallCluster,
		pvesim.FirewallRule{Type: "in", Action: "ACCEPT", Enable: true, Macro: "SSH", Source: "10.0.0.0/8", Comment: "für alle"},
		pvesim.FirewallRule{Type: "out", Action: "DROP", Proto: "tcp", Dport: "25", Log: "info"})
	set(pvesim.FirewallNode(node))
	set(pvesim.FirewallGuest(vmid(t, vm)),
		pvesim.FirewallRule{Type: "in", Action: "REJECT", Enable: true, Proto: "icmp", ICMPType: "echo-request", Interface: "net0"})
	set(pvesim.FirewallGuest(vmid(t, container)))
	var changes atomic.Int64
	optioned := make(chan firewall.Guest, 16) // as many as there are cases, in both forms
	for range cap(optioned) {
		ref := w.guest(t, pvesim.GuestSpec{})
		optioned <- firewall.Guest{Kind: string(ref.Kind), Node: ref.Node, ID: string(ref.ID)}
	}
	firewalltest.Run(t, firewalltest.Config{
		Backend: pve.NewBackend(w.driver), FirewallType: (*pve.Firewall)(nil), Patience: 30 * time.Second,
		Target: func(_ testing.TB, c endpoint.Capability) endpoint.Target { return w.target(c, w.Tokens()[string(c)]) },
		Lists: func(testing.TB) []firewalltest.List {
			return []firewalltest.List{
				{Scope: firewall.Scope{Kind: firewall.ClusterScope}, Rules: []firewall.Rule{
					{Direction: "in", Action: "ACCEPT", Enabled: true, Macro: "SSH", Source: "10.0.0.0/8", Comment: "für alle"},
					{Position: 1, Direction: "out", Action: "DROP", Protocol: "tcp", DestinationPort: "25", Log: "info"},
				}},
				{Scope: firewall.Scope{Kind: firewall.NodeScope, Node: node}},
				{Scope: guest(vm), Rules: []firewall.Rule{
					{Direction: "in", Action: "REJECT", Enabled: true, Protocol: "icmp", ICMPType: "echo-request", Interface: "net0"},
				}},
				{Scope: guest(container)},
			}
		},
		Guest: func(testing.TB) firewall.Guest { return <-optioned },
		Change: func(t testing.TB) firewall.Scope {
			comment := fmt.Sprint("change ", changes.Add(1))
			err := w.SetFirewallRules(pvesim.FirewallNode(other), pvesim.FirewallRule{Type: "in", Action: "ACCEPT", Comment: comment})
			must(t, "changing rules", err)
			return firewall.Scope{Kind: firewall.NodeScope, Node: other}
		},
		Lacking: func(testing.TB) endpoint.Target { return w.target(endpoint.Monitoring, w.token("/", true, "VM.Audit")) },
	})
}
