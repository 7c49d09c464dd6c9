package poll_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/core/task"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// Tasks are asked for while somebody looks, and those that others started are kept, whatever a plugin tells.
func TestTasksOfOthers(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id := f.host(func() hypervisor.Page {
		return hypervisor.Page{Cluster: &hypervisor.Cluster{Name: "c", Quorate: true, Entry: "n1"}, Nodes: []hypervisor.Node{node("n1")},
			Guests: []hypervisor.Guest{vm(100, "n1", "web")}}
	})
	f.Exec("INSERT INTO host_credentials (host_id, capability, token_id, secret) VALUES ($1, 'lifecycle', 'service@x!lifecycle', '')", id)
	p := f.poller(f.db)
	f.sync(p, id)
	if len(f.taskQueries) > 0 {
		t.Error("tasks were asked for though nobody looks")
	}
	store := &task.Store{DB: f.db}
	if err := store.Watch(t.Context(), time.Minute); err != nil {
		t.Fatal(err)
	}
	now := time.Now().Truncate(time.Second)
	const running, ok = hypervisor.TaskRunning, hypervisor.TaskOK
	f.tasks = []hypervisor.Task{
		{ID: "T1", Node: "n1", Type: "vzdump", GuestID: "100", User: "root@pam", Status: running, Started: now.Add(-time.Hour)},
		{ID: "T1", Node: "n1", Type: "twice", User: "root@pam", Status: running, Started: now},
		{ID: "T2", Node: "n1", Type: "ours", User: "service@x", TokenID: "lifecycle", Status: ok, Started: now, Ended: now},
		{ID: "T3", Node: "n1", Type: "ours", TokenID: "service@x!lifecycle", Status: ok, Started: now, Ended: now},
		{ID: "T4", Node: "n1", Type: "old", User: "root@pam", Status: ok, Started: now.Add(-time.Hour), Ended: now},
		{ID: "", Type: "no id", User: "root@pam", Status: ok, Started: now},
		{ID: strings.Repeat("x", 301), User: "root@pam", Status: ok, Started: now},
		{ID: "T5", Started: time.Time{}, Status: running},
		{ID: "T6\x00", Node: "n\x00", Type: strings.Repeat("y", 5000), GuestID: "a\x00b", User: "\xff", Status: "odd", Started: now,
			Error: strings.Repeat("z", 5000), Ended: now.Add(-time.Hour)},
	}
	f.sync(p, id)
	if len(f.taskQueries) != 1 || f.taskQueries[0] != (hypervisor.TaskQuery{Limit: task.ListLimit}) {
		t.Errorf("questions: %+v", f.taskQueries)
	}
	kept := func() string {
		t.Helper()
		return f.Value("SELECT coalesce(string_agg(ref || ' ' || status || ' ' || (ended_at IS NOT NULL) || ' ' || length(type) || ' ' || " +
			"coalesce(guest_ref, '-') || ' ' || coalesce(length(error), 0), ', ' ORDER BY ref), '') FROM hypervisor_tasks")
	}
	if got, want := kept(), "T1 running false 6 100 0, T6 unknown false 128 - 1000"; got != want {
		t.Errorf("kept: %s, want %s", got, want)
	}
	found, err := store.ByIDs(t.Context(), []int64{1, 2, 3, 4})
	if err != nil || len(found) != 2 {
		t.Fatalf("%+v %v", found, err)
	}
	for _, one := range found {
		if one.Ref == "T1" && (one.GuestID == nil || *one.GuestID != 1 || one.HostID != id || one.TeamID != 1) {
			t.Errorf("%+v", one)
		}
	}
	// The end of what ran is kept, however long ago it began; what is not told stays as it was.
	f.tasks = []hypervisor.Task{{ID: "T1", Node: "n1", Type: "vzdump", GuestID: "100", User: "root@pam", Status: hypervisor.TaskFailed,
		Error: "no space", Started: now.Add(-time.Hour), Ended: now}}
	f.sync(p, id)
	if got, want := kept(), "T1 failed true 6 100 8, T6 unknown false 128 - 1000"; got != want {
		t.Errorf("kept: %s, want %s", got, want)
	}
	// A hypervisor that does not tell is polled all the same.
	f.taskErr = errors.New("no")
	f.sync(p, id)
	f.taskErr = nil
	if n := f.Value("SELECT status FROM hosts WHERE id = $1", id); n != "online" {
		t.Errorf("the host is %s", n)
	}
	// After an hour they are forgotten, but for what failed last of its kind, and that after a day; and they do not come back while they
	// are listed still.
	for _, c := range []struct {
		hours  int
		status string
		want   string
	}{{2, hypervisor.TaskFailed, "T1 failed true 6 100 8"}, {25, hypervisor.TaskFailed, ""}, {2, ok, ""}} {
		ended := now.Add(-time.Duration(c.hours) * time.Hour)
		f.Exec("UPDATE hypervisor_tasks SET started_at = $1::timestamptz - interval '1 hour', ended_at = $1, "+
			"seen_at = CASE ref WHEN 'T1' THEN seen_at ELSE now() - interval '2 hours' END", ended)
		f.tasks[0].Started, f.tasks[0].Ended, f.tasks[0].Status = ended.Add(-time.Hour), ended, c.status
		f.sync(p, id)
		f.sync(p, id)
		if got := kept(); got != c.want {
			t.Errorf("after %d hours, %s: %q", c.hours, c.status, got)
		}
	}
	f.Exec("UPDATE task_watch SET until = now()")
	asked := len(f.taskQueries)
	f.sync(p, id)
	if len(f.taskQueries) != asked {
		t.Error("tasks are asked for though nobody looks any more")
	}
	// However many a plugin tells, a few are kept.
	f.tasks = nil
	for n := range 5000 {
		f.tasks = append(f.tasks, hypervisor.Task{ID: fmt.Sprint("M", n), Type: "x", User: "u", Status: running, Started: now})
	}
	if err := store.Watch(t.Context(), time.Minute); err != nil {
		t.Fatal(err)
	}
	f.sync(p, id)
	if n := f.Value("SELECT count(*) FROM hypervisor_tasks"); n != fmt.Sprint(task.ListLimit) {
		t.Errorf("%s tasks are kept", n)
	}
}
