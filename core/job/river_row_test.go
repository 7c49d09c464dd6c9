package job_test

import (
	"context"
	"testing"

	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/core/job/jobtest"
	"github.com/hostler/hostler/internal/waittest"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
)

// rows counts the rows of River in a state.
func (i *instance) rows(t testing.TB, state string) int {
	t.Helper()
	return dbtest.Value[int](t, i.db, "SELECT count(*) FROM river_job WHERE state = $1::river_job_state", state)
}

// A job's end closes the queue's row with it: no death in between leaves a row that says running.
func TestJobsEndClosesTheQueuesRow(t *testing.T) {
	t.Parallel()
	inBothShapes(t, memdriver.Spec{}, func(t *testing.T, w *fixture) {
		ref := w.cluster.NewGuest(hypervisor.VM, hypervisor.GuestRunning)
		process := jobtest.Start(t, w.url, serve(t, w.open()), "over")
		i := w.add(t, nil)
		id := i.enqueue(t, w.spec(ref, hypervisor.Stop))
		process.Says(t, "at over")
		process.Kill()
		i.ended(t, id, job.Succeeded)
		if running, completed := i.rows(t, "running"), i.rows(t, "completed"); running != 0 || completed != 1 {
			t.Errorf("%d rows say running and %d completed", running, completed)
		}
	})
}

// Rows that dead processes left are closed, and those of jobs that run, or that were handed out a moment ago, are not.
func TestVoidRowsAreClosed(t *testing.T) {
	t.Parallel()
	w := newFixture(t, memdriver.Spec{})
	held, begun := make(chan struct{}), make(chan struct{}, 10)
	i := w.start(t, map[string]job.Worker{"held": job.WorkerFunc(func(ctx context.Context, _ *job.Run) error {
		begun <- struct{}{}
		select {
		case <-held:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	})})
	runs := i.enqueue(t, job.Spec{Kind: "held", Target: job.Target{Kind: "vm", ID: 1}})
	// A row that is just handed out carries no run yet: the job may get another one.
	waittest.Until(t, "the job runs", func() bool { return len(begun) == 1 })
	i.exec(t, "UPDATE river_job SET attempted_at = now() - interval '2 hours' WHERE state = 'running'")
	// leave makes the row that a dead process has left of a job, and gives its id.
	leave := func(job int64, queue, ago string) int64 {
		t.Helper()
		return dbtest.Value[int64](t, i.db, `INSERT INTO river_job (args, kind, max_attempts, queue, state, priority, attempt, attempted_at)
			VALUES ($1, 'job', 1, $2, 'running', 2, 1, now() - $3::interval) RETURNING id`, map[string]any{"job_id": job}, queue, ago)
	}
	ended := i.enqueue(t, job.Spec{Kind: "held", Target: job.Target{Kind: "vm", ID: 2}})
	i.cancel(t, ended)
	i.ended(t, ended, job.Canceled)
	own := i.enqueue(t, job.Spec{Kind: "held", Target: job.Target{Kind: "vm", ID: 3}})
	i.cancel(t, own)
	i.ended(t, own, job.Canceled)
	void := []int64{
		leave(ended, "jobs", "2 minutes"), leave(4711, "jobs", "2 minutes"),
		leave(runs, "jobs", "2 minutes"), // another row than the one that the job runs on
		leave(own, "jobs", "2 minutes"),
	}
	// The job that ended on its row does not keep it.
	i.exec(t, "UPDATE jobs SET river_id = $1 WHERE id = $2", void[3], own)
	kept := []int64{
		dbtest.Value[int64](t, i.db, "SELECT river_id FROM jobs WHERE id = $1", runs), leave(ended, "jobs", "-1 hours"),
		leave(ended, "foreign", "2 minutes"),
	}
	in := func(ids []int64, state string) int {
		return dbtest.Value[int](t, i.db, "SELECT count(*) FROM river_job WHERE id = ANY ($1) AND state = $2::river_job_state", ids, state)
	}
	waittest.Until(t, "the void rows are closed", func() bool { return in(void, "discarded") == len(void) })
	// A row of a job that has just ended says so a moment later.
	waittest.Until(t, "no other row says running", func() bool { return i.rows(t, "running") == len(kept) })
	if got := in(kept, "running"); got != len(kept) {
		t.Errorf("%d rows say running, want those of the job, of the young one and of another queue", got)
	}
	close(held)
	j := i.ended(t, runs, job.Succeeded)
	if j.Runs != 1 {
		t.Errorf("the job took %d runs", j.Runs)
	}
}
