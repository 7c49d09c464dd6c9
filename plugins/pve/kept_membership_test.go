package pve_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hostler/hostler/plugins/pve/pvesim"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// knownOf is the membership of an inventory.
func knownOf(page hypervisor.Page) *hypervisor.Membership {
	m := &hypervisor.Membership{Cluster: *page.Cluster}
	for _, n := range page.Nodes {
		m.Nodes = append(m.Nodes, hypervisor.Node{Name: n.Name, Status: n.Status, Address: n.Address, Level: n.Level})
	}
	return m
}

// told is what an inventory says of the cluster, its nodes and the states of its guests.
func told(page hypervisor.Page) string {
	lines := []string{fmt.Sprintf("%s quorate=%t entry=%s", page.Cluster.Name, page.Cluster.Quorate, page.Cluster.Entry)}
	for _, n := range page.Nodes {
		lines = append(lines, fmt.Sprintf("node %s %s %s", n.Name, n.Status, n.Address))
	}
	for _, g := range page.Guests {
		lines = append(lines, fmt.Sprintf("guest %s %s %s", g.ID, g.Node, g.Status))
	}
	for _, s := range page.Storages {
		lines = append(lines, fmt.Sprintf("storage %s %s %s", s.Node, s.Name, s.Status))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// What happens to a cluster is told with a known membership as without one, but for what the list of resources does not show.
func TestKnownMembershipAfterEvents(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		event string
		do    func(w *fixture) error
		// requests is how many it takes, and late that the old state is told for as long as the membership counts as known.
		requests int64
		late     bool
	}{
		{"nothing", func(*fixture) error { return nil }, 1, false},
		{"a guest stops", func(w *fixture) error { return w.SetGuestStatus(100, "stopped") }, 1, false},
		{"a node goes away", func(w *fixture) error { return w.SetNodeOnline("pve2", false) }, 3, false},
		{"two nodes go away, and with them quorum", func(w *fixture) error {
			if err := w.SetNodeOnline("pve2", false); err != nil {
				return err
			}
			return w.SetNodeOnline("pve3", false)
		}, 3, false},
		{"a node is back", func(w *fixture) error { return w.SetNodeOnline("pve4", true) }, 3, false},
		{"a node joins", func(w *fixture) error { _, err := w.AddNode(); return err }, 3, false},
		{"a node leaves", func(w *fixture) error { return w.RemoveNode("pve3") }, 3, false},
		{"a node leaves and another one joins", func(w *fixture) error {
			if err := w.RemoveNode("pve3"); err != nil {
				return err
			}
			_, err := w.AddNode()
			return err
		}, 3, false},
		{"quorum is lost by votes", func(w *fixture) error { w.SetExtraVotes(9); return nil }, 1, true},
		{"a node has another address", func(w *fixture) error { return w.SetNodeAddress("pve2", "10.99.77.77") }, 1, true},
	} {
		t.Run(test.event, func(t *testing.T) {
			t.Parallel()
			w := newFixture(t, pvesim.Options{Scenario: pvesim.ScenarioCluster, Nodes: 4, Guests: 12, ClusterName: "berlin"})
			must(t, "switching a node off", w.SetNodeOnline("pve4", false))
			host := w.host(t, endpoint.Monitoring)
			before := gather(t, host, hypervisor.InventoryQuery{})
			must(t, test.event, test.do(w))
			w.ResetStats()
			got := gather(t, host, hypervisor.InventoryQuery{Known: knownOf(before)})
			requests := int64(0)
			for _, n := range w.Stats().Requests {
				requests += n
			}
			if requests != test.requests || got.Cluster.Kept != (test.requests == 1) {
				t.Errorf("%d requests, want %d; the membership was kept: %t", requests, test.requests, got.Cluster.Kept)
			}
			truth := gather(t, host, hypervisor.InventoryQuery{})
			if same := told(got) == told(truth); same == test.late {
				t.Errorf("told with a known membership:\n%s\nand without:\n%s", told(got), told(truth))
			}
		})
	}
}

// A membership that says too little to stand for an answer is not taken.
func TestKnownMembershipThatIsNotTaken(t *testing.T) {
	t.Parallel()
	w := newFixture(t, pvesim.Options{Scenario: pvesim.ScenarioCluster, Nodes: 2, Guests: -1})
	host := w.host(t, endpoint.Monitoring)
	before := gather(t, host, hypervisor.InventoryQuery{})
	for name, edit := range map[string]func(*hypervisor.Membership){
		"partial":       func(m *hypervisor.Membership) { m.Cluster.Partial = true },
		"without entry": func(m *hypervisor.Membership) { m.Cluster.Entry = "" },
		"without nodes": func(m *hypervisor.Membership) { m.Nodes = nil },
	} {
		known := knownOf(before)
		edit(known)
		if got := gather(t, host, hypervisor.InventoryQuery{Known: known}); got.Cluster.Kept || told(got) != told(before) {
			t.Errorf("%s: %s", name, told(got))
		}
	}
}
