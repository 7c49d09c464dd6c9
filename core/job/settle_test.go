package job_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/internal/waittest"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
)

// lookingSince is when a job's first run began to look for its task, as the checkpoint has it; zero before.
func (i *instance) lookingSince(t testing.TB, id int64) time.Time {
	t.Helper()
	var since *time.Time
	err := i.db.Pool.QueryRow(t.Context(),
		"SELECT (progress #>> '{steps,act,looking_since}')::timestamptz FROM jobs WHERE id = $1", id).Scan(&since)
	if err != nil {
		t.Fatal(err)
	}
	if since == nil {
		return time.Time{}
	}
	return *since
}

// beginLooking moves that time by an interval from now.
func (i *instance) beginLooking(t testing.TB, id int64, at string) {
	t.Helper()
	_, err := i.db.Pool.Exec(t.Context(), `UPDATE jobs SET progress =
		jsonb_set(progress, '{steps,act,looking_since}', to_jsonb(now() + $2::interval)) WHERE id = $1`, id, at)
	if err != nil {
		t.Fatal(err)
	}
}

// The settling time runs on between the runs of a job: one that is cut short again and again does not wait for ever.
func TestSettlingTimeIsOneForAllRuns(t *testing.T) {
	t.Parallel()
	inBothShapes(t, memdriver.Spec{}, func(t *testing.T, w *fixture) {
		w.settle = time.Hour
		ref := w.cluster.NewGuest(hypervisor.VM, hypervisor.GuestRunning)
		var sends atomic.Int32
		act := func(real func() (string, error)) (string, error) {
			if sends.Add(1) == 1 {
				return "", errCut
			}
			return real()
		}
		first := w.makeUnreliable(t, act)
		id := first.enqueue(t, w.unreliableJob(ref))
		waittest.Until(t, "the first run looks for its task", func() bool { return !first.lookingSince(t, id).IsZero() })
		began := first.lookingSince(t, id)
		if err := first.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		second := w.makeUnreliable(t, act)
		waittest.Until(t, "a second run is at it", func() bool {
			j, err := second.Get(t.Context(), id, everything)
			return err == nil && j.Runs == 2
		})
		if err := second.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		third := w.add(t, nil)
		if got := third.lookingSince(t, id); !got.Equal(began) {
			t.Errorf("the second run began to wait at %v, the first at %v", got, began)
		}
		third.beginLooking(t, id, "-61 minutes")
		w.makeUnreliable(t, act)
		third.ended(t, id, either(w, job.Succeeded, job.Unknown))
		if n, want := len(w.tasks(t, ref)), either(w, 1, 0); n != want || int(sends.Load()) != 1+want {
			t.Errorf("%d requests were made, %d tasks, want %d", sends.Load(), n, want)
		}
	})
}

// What a run that died may have sent last gets the whole settling time, from when the next run begins to look.
func TestRequestOfADeadRunMayComeLate(t *testing.T) {
	t.Parallel()
	inBothShapes(t, memdriver.Spec{}, func(t *testing.T, w *fixture) {
		w.settle = time.Hour
		ref := w.endless()
		var sends atomic.Int32
		arrive := make(chan func() (string, error), 1)
		dead := make(chan struct{})
		act := func(real func() (string, error)) (string, error) {
			sends.Add(1)
			arrive <- real
			<-dead
			return "", errCut
		}
		a := w.unreliableHost(t, act)
		a.endOnceFound(w)
		a.run(t)
		id := a.enqueue(t, w.unreliableJob(ref))
		request := <-arrive
		a.BreakLocks()
		close(dead)
		waittest.Until(t, "the next run looks for the task", func() bool { return !a.lookingSince(t, id).IsZero() })
		if _, err := request(); err != nil {
			t.Fatal(err)
		}
		a.ended(t, id, job.Succeeded)
		w.once(t, ref)
		if sends.Load() != 1 {
			t.Errorf("%d requests were made, want 1", sends.Load())
		}
	})
}

// A database whose clock was put back does not make a job wait until it is that late again.
func TestSettlingTimeWithAClockPutBack(t *testing.T) {
	t.Parallel()
	inBothShapes(t, memdriver.Spec{}, func(t *testing.T, w *fixture) {
		w.settle = time.Hour
		ref := w.cluster.NewGuest(hypervisor.VM, hypervisor.GuestRunning)
		lost := func(func() (string, error)) (string, error) { return "", errCut }
		a := w.makeUnreliable(t, lost)
		id := a.enqueue(t, w.unreliableJob(ref))
		waittest.Until(t, "the first run looks for its task", func() bool { return !a.lookingSince(t, id).IsZero() })
		if err := a.Stop(context.Background()); err != nil {
			t.Fatal(err)
		}
		a.beginLooking(t, id, "10 hours")
		w.settle = 300 * time.Millisecond
		b := w.makeUnreliable(t, func(real func() (string, error)) (string, error) { return real() })
		b.ended(t, id, either(w, job.Succeeded, job.Unknown))
		if n, want := len(w.tasks(t, ref)), either(w, 1, 0); n != want {
			t.Errorf("%d tasks, want %d", n, want)
		}
	})
}
