package task_test

import (
	"testing"
	"time"

	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/db/inventorytest"
	"github.com/hostler/hostler/core/task"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// What failed within a day is known however late it is listed first, and is over when it has gone well since; nothing that was
// forgotten comes back as long as the hypervisor lists it.
func TestFailedTasks(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	sql := dbtest.On(t, d)
	inventorytest.Write(t, d, inventorytest.Cluster{Name: "prod", Hosts: []inventorytest.Host{{Name: "h1", Node: "n1"}}})
	store := &task.Store{DB: d}
	now := time.Now().Truncate(time.Second)
	const ok, failed, running = hypervisor.TaskOK, hypervisor.TaskFailed, hypervisor.TaskRunning
	one := func(id, kind string, guest hypervisor.GuestID, status string, hours float64) hypervisor.Task {
		at := now.Add(-time.Duration(hours * float64(time.Hour)))
		return hypervisor.Task{ID: id, Node: "n1", Type: kind, GuestID: guest, User: "root@pam", Status: status, Started: at,
			Ended: at.Add(time.Minute)}
	}
	console := one("c", "vncproxy", "100", failed, 2)
	console.Operation = hypervisor.OperationConsole
	for _, step := range []struct {
		name         string
		listed       []hypervisor.Task
		kept, failed string
	}{
		{"found late", []hypervisor.Task{one("b", "vzdump", "100", failed, 5), one("x", "vzdump", "101", ok, 5), console,
			one("y", "vzdump", "102", failed, 25)}, "b", "vzdump 100"},
		{"of two things", []hypervisor.Task{one("d", "aptupdate", "", failed, 3), one("b", "vzdump", "100", failed, 5)}, "b d",
			"aptupdate -, vzdump 100"},
		{"it runs again", []hypervisor.Task{one("e", "vzdump", "100", running, 4)}, "b d e", "aptupdate -, vzdump 100"},
		{"it has gone well, for so long that both are forgotten", []hypervisor.Task{one("e", "vzdump", "100", ok, 4),
			one("d", "aptupdate", "", failed, 3), one("b", "vzdump", "100", failed, 5)}, "d", "aptupdate -"},
		{"what is forgotten stays so", []hypervisor.Task{one("e", "vzdump", "100", ok, 4), one("b", "vzdump", "100", failed, 5)}, "d",
			"aptupdate -"},
		{"it goes well", []hypervisor.Task{one("f", "aptupdate", "", ok, 0.1)}, "f", ""},
		{"it fails again", []hypervisor.Task{one("g", "aptupdate", "", failed, 0.05), one("f", "aptupdate", "", ok, 0.1)}, "f g",
			"aptupdate -"},
	} {
		if err := store.Save(t.Context(), 1, 1, step.listed); err != nil {
			t.Fatal(err)
		}
		if got := sql.Value("SELECT coalesce(string_agg(ref, ' ' ORDER BY ref), '') FROM hypervisor_tasks"); got != step.kept {
			t.Errorf("%s: kept are %q", step.name, got)
		}
		if got := sql.Value("SELECT coalesce(string_agg(type || ' ' || coalesce(guest_ref, '-'), ', ' ORDER BY type), '') FROM (" +
			task.FailedTasksSQL + ") f"); got != step.failed {
			t.Errorf("%s: failed are %q", step.name, got)
		}
	}
}
