package job_test

import (
	"context"
	"testing"

	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/core/job/jobtest"
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
	w := newFixture(t, memdriver.Spec{})
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
}

// Rows that dead processes left are closed, and those of jobs that run, or that were handed out a moment ago, are not.
func TestVoidRowsAreClosed(t *testing.T) {
	t.Parallel()
	w := newFixture(t, memdriver.Spec{})
	held := make(chan struct{})
	i := w.start(t, map[string]job.Worker{"held": job.WorkerFunc(func(ctx context.Context, _ *job.Run) error {
		select {
		case <-held:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	})})
	runs := i.enqueue(t, job.Spec{Kind: "held", Target: job.Target{Kind: "vm", ID: 1}})
	until(t, "the job runs", func() bool { return i.rows(t, "running") == 1 })
	i.exec(t, "UPDATE river_job SET attempted_at = now() - interval '2 hours' WHERE state = 'running'")
	gone := `INSERT INTO river_job (args, kind, max_attempts, queue, state, priority, attempt, attempted_at)
		VALUES ($1, 'job', 1, $2, 'running', 2, 1, now() - $3::interval)`
	ended := i.enqueue(t, job.Spec{Kind: "held", Target: job.Target{Kind: "vm", ID: 2}})
	i.cancel(t, ended)
	i.ended(t, ended, job.Canceled)
	i.exec(t, gone, map[string]any{"job_id": ended}, "jobs", "2 minutes")
	i.exec(t, gone, map[string]any{"job_id": runs}, "jobs", "2 minutes") // another row than the one that the job runs on
	i.exec(t, gone, map[string]any{"job_id": 4711}, "jobs", "2 minutes")
	i.exec(t, gone, map[string]any{"job_id": ended}, "jobs", "-1 hours")
	i.exec(t, gone, map[string]any{"job_id": ended}, "foreign", "2 minutes")
	// The job that ended on its row does not keep it.
	own := i.enqueue(t, job.Spec{Kind: "held", Target: job.Target{Kind: "vm", ID: 3}})
	i.cancel(t, own)
	i.exec(t, "WITH its AS ("+gone+" RETURNING id) UPDATE jobs SET river_id = (SELECT id FROM its) WHERE id = $4",
		map[string]any{"job_id": own}, "jobs", "2 minutes", own)
	until(t, "the row of the job that ended on it is closed", func() (closed bool) {
		err := i.db.Pool.QueryRow(t.Context(),
			"SELECT r.state = 'discarded' FROM jobs j JOIN river_job r ON r.id = j.river_id WHERE j.id = $1", own).Scan(&closed)
		return err == nil && closed
	})
	until(t, "the void rows are closed", func() bool { return i.rows(t, "discarded") == 4 })
	if got := i.rows(t, "running"); got != 3 {
		t.Errorf("%d rows say running, want those of the job, of the young one and of another queue", got)
	}
	close(held)
	j := i.ended(t, runs, job.Succeeded)
	if j.Runs != 1 {
		t.Errorf("the job took %d runs", j.Runs)
	}
}
