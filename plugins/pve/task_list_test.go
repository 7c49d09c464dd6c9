package pve_test

import (
	"fmt"
	"maps"
	"testing"
	"time"

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
	if testing.Short() {
		t.Skip("waits for what does not come: make check runs it")
	}
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
		w.fault(t, pvesim.Fault{Kind: pvesim.FaultStatus, Status: 595, Reason: "No route to host",
			Match: pvesim.Match{Path: path}})
	}
	silence("/nodes/pve2/tasks")
	everything := hypervisor.TaskQuery{Limit: 500, Since: w.Now().Add(-time.Hour)}
	list, err := host.Tasks(t.Context(), everything)
	if err != nil || len(list.Tasks) != 3 || !list.CompleteSince.IsZero() { // two starts and what made the guest
		t.Errorf("of everything: %d tasks, complete since %v, %v", len(list.Tasks), list.CompleteSince, err)
	}
	_, err = host.Tasks(t.Context(), hypervisor.TaskQuery{Limit: 500, Guest: &ref})
	wantKind(t, err, plugin.Unreachable)
	silence("/nodes/{node}/tasks")
	_, err = host.Tasks(t.Context(), everything)
	wantKind(t, err, plugin.Unreachable) // an empty list would say that there is nothing
}

// The newest tasks come from the cluster's own list in one request as long as that shows them; only the nodes of which it may have cut off
// some of them are asked as well, and when one of these does not answer its tasks of that list are told.
func TestNewestTasksTakeOneRequest(t *testing.T) {
	t.Parallel()
	w := newFixture(t, pvesim.Options{Scenario: pvesim.ScenarioCluster, Nodes: 3, Guests: -1})
	host := w.host(t, endpoint.Monitoring)
	begin := func(node string, n int) {
		t.Helper()
		for range n {
			w.Advance(time.Minute)
			_, err := w.StartTask(node, "root@pam", "vzdump", "", 0, "OK")
			must(t, "starting a task", err)
		}
	}
	list := func(name string, limit, want int, requests ...string) {
		t.Helper()
		w.ResetStats()
		got, err := host.Tasks(t.Context(), hypervisor.TaskQuery{Limit: limit})
		if err != nil || len(got.Tasks) != want || !got.CompleteSince.IsZero() {
			t.Errorf("%s: %d tasks, complete since %v, %v; want %d", name, len(got.Tasks), got.CompleteSince, err, want)
		}
		ids := map[string]bool{}
		for i, task := range got.Tasks {
			if ids[task.ID] = true; i > 0 && task.Started.After(got.Tasks[i-1].Started) {
				t.Errorf("%s: task %d began after the one before it", name, i)
			}
		}
		if len(ids) != len(got.Tasks) {
			t.Errorf("%s: a task is listed twice", name)
		}
		asked := map[string]int64{"GET /cluster/tasks": 1}
		for _, r := range requests {
			asked[r]++
		}
		if stats := w.Stats().Requests; !maps.Equal(stats, asked) {
			t.Errorf("%s: %v was asked, want %v", name, stats, asked)
		}
	}
	list("no task", 50, 0)
	begin("pve1", 19)
	begin("pve2", 3)
	list("few", 50, 22)
	begin("pve1", 41) // of 60 the cluster's list has 25
	begin("pve3", 19)
	list("one node has more", 50, 50, "GET /nodes/{node}/tasks")
	list("all", 500, 82, "GET /nodes/{node}/tasks")
	begin("pve2", 19)
	begin("pve3", 19)
	list("all that is cut off is older", 40, 40)
	w.fault(t, pvesim.Fault{Kind: pvesim.FaultStatus, Status: 595, Reason: "No route to host",
		Match: pvesim.Match{Path: "/nodes/pve1/tasks"}})
	w.ResetStats()
	got, err := host.Tasks(t.Context(), hypervisor.TaskQuery{Limit: 500})
	if err != nil || len(got.Tasks) != 25+22+38 {
		t.Errorf("a node does not tell: %d tasks, %v", len(got.Tasks), err)
	}
}
