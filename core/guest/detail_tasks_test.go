package guest_test

import (
	"testing"
	"time"

	"github.com/hostler/hostler/core/task"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// While a rule about failed tasks is enabled, the tasks of a cluster take the place of a guest every few minutes; not while polls bring
// them.
func TestTasksHaveTurnsOfDetails(t *testing.T) {
	t.Parallel()
	r := newReadings(t)
	for range 3 {
		r.guest(t, hypervisor.VM, hypervisor.GuestRunning)
	}
	r.exec(t, "UPDATE clusters SET next_tasks_at = $1", r.now)
	asked := 0
	// turn is one of the reader's, in which tasks are asked for so many times.
	reader := r.reader()
	turn := func(what string, want int) {
		t.Helper()
		n := r.turn(t, reader)
		calls := r.cluster.Calls("tasks") - asked
		asked += calls
		if calls != want || n != 1 {
			t.Errorf("%s: %d questions, %d of them for tasks", what, n, calls)
		}
	}
	turn("at first", 1)
	turn("then", 0)
	turn("then", 0)
	r.pass(task.PollInterval)
	turn("after a while", 1)
	r.pass(time.Hour)
	r.exec(t, "UPDATE alert_rules SET enabled = false WHERE kind = 'task_failed'")
	turn("without a rule", 0)
	r.exec(t, "UPDATE alert_rules SET enabled = true WHERE kind = 'task_failed'")
	r.exec(t, "UPDATE task_watch SET until = now() + interval '1 hour'")
	turn("while polls bring them", 0)
	r.exec(t, "UPDATE task_watch SET until = now()")
	turn("again", 1)
}
