package pve_test

import (
	"strings"
	"testing"

	"github.com/hostler/hostler/plugins/pve/pvesim"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/firewall"
)

// A rule before the hypervisor's own ones may keep the nodes from hearing each other, and the comparison says so of each way between nodes
// that it was asked after.
func TestCompareTellsTheClustersOwnTraffic(t *testing.T) {
	t.Parallel()
	w := newFirewalls(t, pvesim.Options{Scenario: pvesim.ScenarioCluster, Nodes: 3, Guests: -1})
	nodes := w.NodeNames()
	state := func(rules ...firewall.Rule) []firewall.State {
		on := firewall.State{Scope: firewall.Scope{Kind: firewall.ClusterScope}, Rules: rules}
		for i := range rules {
			rules[i].Position = i
		}
		on.Options.Enable = new(true)
		return []firewall.State{on}
	}
	drop := firewall.Rule{Direction: "in", Action: "DROP", Enabled: true, Protocol: "udp", DestinationPort: "5000:6000"}
	other := drop
	other.DestinationPort = "5406"
	probe := firewall.Packet{From: firewall.End{Kind: firewall.NodeEnd, Node: nodes[0]},
		To: firewall.End{Kind: firewall.NodeEnd, Node: nodes[1]}, Protocol: "tcp", DestinationPort: 22}
	for name, one := range map[string]struct {
		before, after []firewall.State
		want          int
	}{
		"cut":        {state(), state(drop), 2},
		"let in":     {state(drop), state(), 2},
		"as it was":  {state(drop), state(drop, other), 0},
		"others cut": {state(), state(other), 0},
	} {
		answer, err := w.firewall(t, endpoint.Monitoring).Compare(t.Context(),
			firewall.CompareQuery{Before: one.before, After: one.after, Probes: []firewall.Packet{probe}})
		must(t, "comparing", err)
		if len(answer.Cluster) != one.want {
			t.Errorf("%s: ways of the cluster are %+v", name, answer.Cluster)
		}
		for _, c := range answer.Cluster {
			if cut := name == "cut"; (c.Before.Outcome == firewall.Accepted) != cut || (c.After.Outcome == firewall.Accepted) == cut ||
				c.From == c.To || c.From == nodes[2] || c.To == nodes[2] || !strings.Contains(c.Traffic, "udp port 5405") {
				t.Errorf("%s: a way of the cluster is %+v", name, c)
			}
		}
	}
	alone := newFirewalls(t, pvesim.Options{Guests: -1})
	probe.To, probe.From = firewall.End{Kind: firewall.NodeEnd, Node: alone.NodeNames()[0]}, firewall.End{Kind: firewall.OutsideEnd}
	answer, err := alone.firewall(t, endpoint.Monitoring).Compare(t.Context(),
		firewall.CompareQuery{Before: state(), After: state(drop), Probes: []firewall.Packet{probe}})
	must(t, "comparing", err)
	if len(answer.Cluster) != 0 {
		t.Errorf("a node without a cluster has ways %+v", answer.Cluster)
	}
}
