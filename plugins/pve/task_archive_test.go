package pve_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/hostler/hostler/plugins/pve/pvesim"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// An archive reaches back to a time when an older task is in it. The tasks of others that a token does not see, and an archive
// without an older one, prove nothing.
func TestHowFarBackTheTasksOfANodeReach(t *testing.T) {
	t.Parallel()
	const service, stranger = pvesim.ServiceUser + "!lifecycle", "root@pam"
	// task is started before the time that is asked for, and runs for a while.
	type task struct {
		before, runs time.Duration
		user         string
	}
	for name, c := range map[string]struct {
		older   []task
		reaches bool
	}{
		"nothing is there":                 {nil, false},
		"an older one":                     {[]task{{time.Hour, 0, service}}, true},
		"only someone else's":              {[]task{{time.Hour, 0, stranger}}, false},
		"only one that ended later":        {[]task{{time.Hour, 2 * time.Hour, service}}, false},
		"one that still runs":              {[]task{{time.Hour, 100 * time.Hour, service}}, false},
		"one that ended a moment before":   {[]task{{30 * time.Second, 0, service}}, false},
		"one that ended later, one before": {[]task{{2 * time.Hour, 0, service}, {time.Hour, 2 * time.Hour, service}}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newFixture(t, pvesim.Options{Guests: -1})
			w.StopClock()
			ref := w.guest(t, pvesim.GuestSpec{Node: "pve1"})
			at := 24 * time.Hour // from now on, when what was there before does not count
			now := time.Duration(0)
			for _, o := range c.older {
				w.Advance(at - o.before - now)
				now = at - o.before
				_, err := w.StartTask("pve1", o.user, "qmstart", fmt.Sprint(ref.ID), o.runs, "OK")
				must(t, "starting a task", err)
			}
			w.Advance(at - now)
			since := w.Now()
			w.Advance(3 * time.Hour)
			for _, node := range []string{"pve1", ""} {
				list, err := w.host(t, endpoint.Lifecycle).Tasks(t.Context(),
					hypervisor.TaskQuery{Limit: 500, Guest: &ref, Node: node, Since: since})
				if err != nil || list.ReachesBackTo(since) != c.reaches {
					t.Errorf("node %q: complete since %v, %v; asked for %v", node, list.CompleteSince, err, since)
				}
			}
		})
	}
}

// A page that the limit has cut reaches back to the earliest end on it, whatever began earlier and ended later.
func TestACutListOfTasksSaysSo(t *testing.T) {
	t.Parallel()
	w := newFixture(t, pvesim.Options{Guests: -1})
	ref := w.guest(t, pvesim.GuestSpec{Node: "pve1"})
	start := func(runs time.Duration) time.Time {
		t.Helper()
		w.Advance(10 * time.Minute)
		_, err := w.StartTask("pve1", pvesim.ServiceUser+"!lifecycle", "qmstart", fmt.Sprint(ref.ID), runs, "OK")
		must(t, "starting a task", err)
		return w.Now()
	}
	long := start(25 * time.Minute)
	lost, second, third := start(0), start(0), start(0)
	w.Advance(10 * time.Minute)
	for limit, c := range map[int]struct{ reaches, misses time.Time }{
		// The long one ended between the second and the third.
		2: {third, second}, 3: {third, lost}, 500: {second, long.Add(-time.Hour)},
	} {
		list, err := w.host(t, endpoint.Lifecycle).Tasks(t.Context(), hypervisor.TaskQuery{Limit: limit, Guest: &ref, Node: "pve1"})
		if err != nil || !list.ReachesBackTo(c.reaches) || list.ReachesBackTo(c.misses) {
			t.Errorf("limit %d: %d tasks, complete since %v, %v; want it to reach %v and not %v", limit, len(list.Tasks), list.CompleteSince, err,
				c.reaches, c.misses)
		}
	}
}

// The list of a cluster reaches as far as that of each node. A node that is off, or has no older task, makes it unknown, and what
// the nodes broadcast is never complete.
func TestHowFarBackTheTasksOfAClusterReach(t *testing.T) {
	t.Parallel()
	w := newFixture(t, pvesim.Options{Scenario: pvesim.ScenarioCluster, Nodes: 3, Guests: -1})
	ref := w.guest(t, pvesim.GuestSpec{Node: "pve1"})
	older := func(node string) {
		t.Helper()
		_, err := w.StartTask(node, pvesim.ServiceUser+"!lifecycle", "qmstart", "100", 0, "OK")
		must(t, "starting a task", err)
	}
	older("pve1")
	older("pve2")
	w.Advance(time.Hour)
	since := w.Now()
	reaches := func(want bool, query hypervisor.TaskQuery) {
		t.Helper()
		query.Since = since
		list, err := w.host(t, endpoint.Lifecycle).Tasks(t.Context(), query)
		if err != nil || list.ReachesBackTo(since) != want {
			t.Errorf("%+v: complete since %v, %v; want %v", query, list.CompleteSince, err, want)
		}
	}
	all, one := hypervisor.TaskQuery{Limit: 500, Guest: &ref}, hypervisor.TaskQuery{Limit: 500, Guest: &ref, Node: "pve1"}
	reaches(false, all)
	reaches(true, one)
	older("pve3")
	w.Advance(time.Hour)
	since = w.Now()
	reaches(true, all)
	reaches(false, hypervisor.TaskQuery{Limit: 10})
	must(t, "switching a node off", w.SetNodeOnline("pve3", false))
	reaches(false, all)
	reaches(true, one)
}
