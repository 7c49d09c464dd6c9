package job_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/internal/waittest"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
)

var points = []string{"begun", "before-send", "after-send", "waiting", "before-end"}

// A run that loses its lock ends without an effect, and another instance goes on where it stood.
func TestLockLostAtEachPoint(t *testing.T) {
	t.Parallel()
	for _, point := range points {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			inBothShapes(t, memdriver.Spec{TaskTime: 200 * time.Millisecond}, func(t *testing.T, w *fixture) {
				ref := w.cluster.NewGuest(hypervisor.VM, hypervisor.GuestRunning)
				a, b, g := w.add(t, nil), w.add(t, nil), newGate(t)
				var first atomic.Bool
				a.Hook(func(ctx context.Context, at string, id int64) {
					if at == point && first.CompareAndSwap(false, true) {
						g.at(point)(ctx, at, id)
					}
				})
				a.run(t)
				id := a.enqueue(t, w.spec(ref, hypervisor.Stop))
				<-g.reached
				want, tasks := w.cutAt(t, point, ref) // before, since the same instance may go on at once
				a.BreakLocks()
				b.run(t)
				b.ended(t, id, want)
				if n := len(w.tasks(t, ref)); n != tasks {
					t.Errorf("%d tasks, want %d", n, tasks)
				}
			})
		})
	}
}

// A stop at any point leaves the job to the next start, soon.
func TestStoppedAtEachPoint(t *testing.T) {
	t.Parallel()
	for _, point := range points {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			inBothShapes(t, memdriver.Spec{TaskTime: 300 * time.Millisecond}, func(t *testing.T, w *fixture) {
				ref := w.cluster.NewGuest(hypervisor.VM, hypervisor.GuestRunning)
				a, g := w.add(t, nil), newGate(t)
				a.Hook(g.at(point))
				a.run(t)
				id := a.enqueue(t, w.spec(ref, hypervisor.Stop))
				<-g.reached
				stopped := make(chan error)
				go func() { stopped <- a.Stop(context.Background()) }()
				g.release()
				if err := <-stopped; err != nil {
					t.Fatal(err)
				}
				b := w.start(t, nil)
				b.ended(t, id, job.Succeeded)
				w.once(t, ref)
			})
		})
	}
}

// A worker that does not heed its context does not hold a stop up for ever, and loses its job.
func TestStopWithAStubbornWorker(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for a worker that does not stop: make check runs it")
	}
	t.Parallel()
	w := newFixture(t, memdriver.Spec{})
	w.stop = time.Second
	release, began := make(chan struct{}), make(chan struct{}, 2)
	var runs atomic.Int32
	kinds := map[string]job.Worker{"stubborn": job.WorkerFunc(func(_ context.Context, run *job.Run) error {
		began <- struct{}{}
		if runs.Add(1) == 1 {
			<-release
			run.Note("a word too late")
		}
		return nil
	})}
	a := w.add(t, kinds)
	if err := a.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	id := a.enqueue(t, job.Spec{Kind: "stubborn", Target: job.Target{Kind: "vm", ID: 1}})
	<-began
	if err := a.Stop(t.Context()); err == nil {
		t.Error("the stop did not tell that a job went on")
	}
	w.stop = 0
	b := w.start(t, kinds)
	b.ended(t, id, job.Succeeded)
	close(release)
	if got := b.transcript(t, id); strings.Contains(got, "too late") {
		t.Errorf("a run that had lost its job wrote to the transcript\n%s", got)
	}
}

// All connections of two instances break again and again while jobs come in: every job ends, with one task each, or does not know
// whether there was one where tasks are forgotten.
func TestDatabaseConnectionsBreakUnderLoad(t *testing.T) {
	if testing.Short() {
		t.Skip("takes the database away: make check runs it")
	}
	t.Parallel()
	const guests = 40
	inBothShapes(t, memdriver.Spec{TaskTime: 100 * time.Millisecond}, func(t *testing.T, w *fixture) {
		a, b := w.start(t, nil), w.start(t, nil)
		refs := make([]hypervisor.GuestRef, guests)
		ids := make([]int64, guests)
		for n := range refs {
			refs[n] = w.cluster.NewGuest(hypervisor.VM, hypervisor.GuestRunning)
		}
		var enqueuing sync.WaitGroup
		enqueuing.Go(func() {
			for n, ref := range refs {
				i := []*instance{a, b}[n%2]
				waittest.Until(t, "a job was taken", func() bool {
					id, err := i.tryEnqueue(t.Context(), w.spec(ref, hypervisor.Stop))
					if err == nil {
						ids[n] = id
					}
					// A commit whose answer was lost shows as the guest being busy.
					var busy *problem.Error
					if errors.As(err, &busy) && busy.Code == problem.CodeGuestBusy {
						ids[n] = busy.Members["job"].(int64)
					}
					return ids[n] != 0
				})
			}
		})
		for range 6 {
			waittest.Until(t, "a job runs", func() bool {
				_, running, err := a.List(t.Context(), job.Filter{Status: job.Running}, everything)
				return err == nil && running > 0
			})
			terminate(t, w.url)
		}
		enqueuing.Wait()
		runs := 0
		for n, id := range ids {
			j := a.finished(t, id)
			runs += j.Runs
			if j.Status == job.Unknown && w.Forgets && len(w.tasks(t, refs[n])) <= 1 && strings.Contains(j.Error, "does not reach back to") {
				continue
			}
			if j.Status != job.Succeeded {
				t.Errorf("job %d ended as %s: %s", id, j.Status, j.Error)
			}
			w.once(t, refs[n])
			if got := a.transcript(t, id); strings.Count(got, "log: guest is stopped") != 1 {
				t.Errorf("transcript of job %d\n%s", id, got)
			}
		}
		t.Logf("%d jobs in %d runs", guests, runs)
	})
}

// terminate breaks every connection to a database.
func terminate(t testing.TB, url string) {
	t.Helper()
	server, err := dbtest.Server()
	if err != nil {
		t.Fatal(err)
	}
	admin, err := pgx.Connect(t.Context(), server)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = admin.Close(context.WithoutCancel(t.Context())) }()
	_, err = admin.Exec(t.Context(), "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1",
		url[strings.LastIndex(url, "/")+1:])
	if err != nil {
		t.Fatal(err)
	}
}

// A job whose row of River vanished is not forgotten.
func TestQueueRowVanished(t *testing.T) {
	t.Parallel()
	inBothShapes(t, memdriver.Spec{VMs: 1}, func(t *testing.T, w *fixture) {
		i := w.add(t, nil)
		ref := w.cluster.Guests()[0]
		id := i.enqueue(t, w.spec(ref, hypervisor.Start))
		if _, err := i.db.Pool.Exec(t.Context(), "DELETE FROM river_job"); err != nil {
			t.Fatal(err)
		}
		i.run(t)
		i.ended(t, id, job.Succeeded)
		var kept bool
		err := i.db.Pool.QueryRow(t.Context(),
			"SELECT r.scheduled_at = j.created_at FROM jobs j JOIN river_job r ON r.id = j.river_id").Scan(&kept)
		if err != nil || !kept {
			t.Errorf("the job lost its turn, %v", err)
		}
	})
}

// A row of River that is not the job's own is void.
func TestVoidQueueRow(t *testing.T) {
	t.Parallel()
	w := newFixture(t, memdriver.Spec{})
	var runs atomic.Int32
	i := w.add(t, map[string]job.Worker{"count": job.WorkerFunc(func(context.Context, *job.Run) error {
		runs.Add(1)
		return nil
	})})
	id := i.enqueue(t, job.Spec{Kind: "count", Target: job.Target{Kind: "vm", ID: 1}})
	err := i.db.Tx(t.Context(), func(tx *db.Tx) error {
		return tx.Exec(`INSERT INTO river_job (args, kind, max_attempts, queue, state, priority)
			SELECT args, kind, max_attempts, queue, state, 1 FROM river_job, generate_series(1, 5)`).Error
	})
	if err != nil {
		t.Fatal(err)
	}
	i.run(t)
	i.ended(t, id, job.Succeeded)
	waittest.Until(t, "all rows were handed out", func() bool {
		var left int
		err := i.db.Pool.QueryRow(t.Context(), "SELECT count(*) FROM river_job WHERE state <> 'completed'").Scan(&left)
		return err == nil && left == 0
	})
	if runs.Load() != 1 {
		t.Errorf("the job ran %d times", runs.Load())
	}
}

func TestCheckpointsSurvive(t *testing.T) {
	t.Parallel()
	w := newFixture(t, memdriver.Spec{})
	type mark struct{ Done int }
	var a *instance
	a = w.start(t, map[string]job.Worker{"long": job.WorkerFunc(func(ctx context.Context, run *job.Run) error {
		var m mark
		if err := run.LoadCheckpoint(&m); err != nil {
			return err
		}
		for m.Done < 3 {
			m.Done++
			run.Log(fmt.Sprintf("part %d", m.Done))
			if err := run.SaveCheckpoint(ctx, m); err != nil {
				return err
			}
			if m.Done == run.Job().Runs {
				a.BreakLocks()
				<-ctx.Done()
				return ctx.Err()
			}
		}
		return nil
	})})
	id := a.enqueue(t, job.Spec{Kind: "long", Target: job.Target{Kind: "vm", ID: 1}})
	j := a.ended(t, id, job.Succeeded)
	got := a.transcript(t, id)
	for n := 1; n <= 3; n++ {
		if strings.Count(got, fmt.Sprintf("log: part %d", n)) != 1 {
			t.Errorf("part %d was not done once\n%s", n, got)
		}
	}
	if j.Runs != 4 {
		t.Errorf("%d runs, want 4", j.Runs)
	}
}
