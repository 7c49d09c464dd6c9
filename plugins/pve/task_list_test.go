package pve_test

import (
	"fmt"
	"testing"

	"github.com/hostler/hostler/plugins/pve/pvesim"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// TestMoreTasksThanTheClustersListHas: it keeps about 25 of each node, so a longer list must come from the nodes.
func TestMoreTasksThanTheClustersListHas(t *testing.T) {
	t.Parallel()
	w := newFixture(t, pvesim.Options{Guests: -1})
	for range 60 {
		w.task(t, "vzdump", 0, "OK")
	}
	host := w.host(t, endpoint.Monitoring)
	for _, limit := range []int{1, 19, 20, 21, 26, 50, 60} {
		list, err := host.Tasks(t.Context(), hypervisor.TaskQuery{Limit: limit})
		if err != nil || len(list.Tasks) != limit {
			t.Errorf("limit %d: %d tasks, %v", limit, len(list.Tasks), err)
		}
	}
}

// TestANodeThatDoesNotTellItsTasks is left out of lists of everything. Who looks for the trace of an action on a guest gets
// an error: it may be just there.
func TestANodeThatDoesNotTellItsTasks(t *testing.T) {
	t.Parallel()
	w := newFixture(t, pvesim.Options{Scenario: pvesim.ScenarioCluster, Nodes: 3, Guests: -1})
	ref := w.guest(t, pvesim.GuestSpec{Node: "pve1"})
	for _, node := range []string{"pve1", "pve2", "pve3"} {
		_, err := w.StartTask(node, "root@pam", "qmstart", fmt.Sprint(ref.ID), 0, "OK")
		must(t, "starting a task", err)
	}
	host := w.host(t, endpoint.Monitoring)
	silence := func(path string) {
		t.Helper()
		w.ClearFaults()
		w.fault(t, pvesim.Fault{Kind: pvesim.FaultStatus, Status: 595, Reason: "No route to host", Match: pvesim.Match{Path: path}})
	}
	silence("/nodes/pve2/tasks")
	list, err := host.Tasks(t.Context(), hypervisor.TaskQuery{Limit: 500})
	if err != nil || len(list.Tasks) != 3 || !list.CompleteSince.IsZero() { // two starts and what made the guest
		t.Errorf("of everything: %d tasks, complete since %v, %v", len(list.Tasks), list.CompleteSince, err)
	}
	_, err = host.Tasks(t.Context(), hypervisor.TaskQuery{Limit: 500, Guest: &ref})
	wantKind(t, err, plugin.Unreachable)
	silence("/nodes/{node}/tasks")
	_, err = host.Tasks(t.Context(), hypervisor.TaskQuery{Limit: 500})
	wantKind(t, err, plugin.Unreachable) // an empty list would say that there is nothing
}
