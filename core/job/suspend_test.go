package job_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/internal/waittest"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
)

// A suspended instance gives up what it runs at a safe point and takes nothing; another one does it all, and it itself again
// when it may.
func TestSuspend(t *testing.T) {
	t.Parallel()
	const jobs = 10
	inBothShapes(t, memdriver.Spec{}, func(t *testing.T, w *fixture) {
		var atA, atB atomic.Int64
		kind := func(count *atomic.Int64, hold bool) map[string]job.Worker {
			return map[string]job.Worker{"long": job.WorkerFunc(func(ctx context.Context, _ *job.Run) error {
				count.Add(1)
				if hold {
					<-ctx.Done()
					return ctx.Err()
				}
				return nil
			})}
		}
		a := w.start(t, kind(&atA, true))
		var ids []int64
		for k := range jobs {
			ids = append(ids, a.enqueue(t, job.Spec{Kind: "long", Target: job.Target{Kind: "vm", ID: int64(k)}}))
		}
		waittest.Until(t, "four run", func() bool { return atA.Load() == 4 })
		a.Suspend()
		a.Suspend()
		waittest.Until(t, "the instance has given up its jobs", func() bool { return a.rows(t, "running") == 0 })
		b := w.start(t, kind(&atB, false))
		for _, id := range ids {
			a.ended(t, id, job.Succeeded)
		}
		if atA.Load() != 4 || atB.Load() != jobs {
			t.Errorf("%d runs at the suspended instance, %d at the other", atA.Load(), atB.Load())
		}
		if err := b.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		// One is asked of it while it is suspended, and begins when it no longer is.
		ref := w.cluster.NewGuest(hypervisor.VM, hypervisor.GuestRunning)
		waiting := a.enqueue(t, w.spec(ref, hypervisor.Stop))
		a.Unsuspend()
		a.ended(t, waiting, job.Succeeded)
		w.once(t, ref)
		a.Suspend()
		a.Unsuspend()
		a.ended(t, a.enqueue(t, w.spec(ref, hypervisor.Start)), job.Succeeded)
	})
}

// The line stays as it is for others: a suspended instance does not even fetch from it, nor from the line of its place.
func TestSuspendedInstanceFetchesNothing(t *testing.T) {
	t.Parallel()
	for _, place := range []string{"", "here"} {
		t.Run("place "+place, func(t *testing.T) {
			t.Parallel()
			w := places(t)
			a := w.at(t, place, nil)
			a.run(t)
			a.ended(t, a.enqueue(t, noted(place)), job.Succeeded)
			a.Suspend()
			// What is enqueued before the instance has let go may still be fetched; from then on rows lie there untouched.
			var ids []int64
			waittest.Until(t, "a job lies in the line untouched for longer than fetching takes", func() bool {
				var untouched, old bool
				if len(ids) > 0 {
					err := a.db.Pool.QueryRow(t.Context(), `SELECT r.state = 'available' AND r.attempt = 0, j.created_at < now() - interval '3 seconds'
						FROM jobs j JOIN river_job r ON r.id = j.river_id WHERE j.id = $1`, ids[len(ids)-1]).Scan(&untouched, &old)
					if err != nil {
						t.Fatal(err)
					}
				}
				if !untouched {
					ids = append(ids, a.enqueue(t, noted(place)))
				}
				return untouched && old
			})
			a.Unsuspend()
			for _, id := range ids {
				a.ended(t, id, job.Succeeded)
			}
		})
	}
}

// A job whose task runs is followed to its end by another instance when its own is suspended.
func TestSuspendWhileATaskRuns(t *testing.T) {
	t.Parallel()
	inBothShapes(t, memdriver.Spec{}, func(t *testing.T, w *fixture) {
		ref := w.endless()
		a, b := w.add(t, nil), w.add(t, nil)
		a.run(t)
		id := a.enqueue(t, w.spec(ref, hypervisor.Stop))
		waittest.Until(t, "the task is there", func() bool { return len(w.tasks(t, ref)) == 1 })
		a.Suspend()
		b.run(t)
		waittest.Until(t, "another run follows it", func() bool {
			j, err := b.Get(t.Context(), id, everything)
			return err == nil && j.Runs == 2
		})
		w.cluster.EndTask(w.once(t, ref), hypervisor.TaskOK, "OK")
		b.ended(t, id, job.Succeeded)
	})
}

// An instance that cannot do a job leaves it to one that can, instead of failing it.
func TestUnableLeavesTheJob(t *testing.T) {
	t.Parallel()
	w := newFixture(t, memdriver.Spec{})
	unable := errors.New("the token cannot be opened here")
	var tries atomic.Int32
	var a *instance
	w.unable = func(err error) bool {
		if !errors.Is(err, unable) {
			return false
		}
		a.Suspend()
		return true
	}
	a = w.start(t, map[string]job.Worker{"some": job.WorkerFunc(func(context.Context, *job.Run) error {
		tries.Add(1)
		return unable
	})})
	id := a.enqueue(t, job.Spec{Kind: "some", Target: job.Target{Kind: "vm", ID: 1}})
	waittest.Until(t, "it was tried", func() bool { return tries.Load() > 0 })
	w.unable = nil
	b := w.start(t, map[string]job.Worker{"some": job.WorkerFunc(func(context.Context, *job.Run) error { return nil })})
	if j := b.ended(t, id, job.Succeeded); tries.Load() != 1 || j.Runs != 2 {
		t.Errorf("%d tries in vain, %d runs in all", tries.Load(), j.Runs)
	}
}
