package job_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
)

func hold(ctx context.Context, d *db.DB, exclusive string, limit time.Duration) (held *job.Hold, err error) {
	err = d.Tx(ctx, func(tx *db.Tx) (err error) {
		held, err = job.AcquireHold(ctx, d, tx, exclusive, limit)
		return err
	})
	return held, err
}

// busy fails unless the error is guest_busy.
func busy(t *testing.T, what string, err error) {
	t.Helper()
	if problem.CodeOf(err) != problem.CodeGuestBusy {
		t.Errorf("%s: %v, want guest_busy", what, err)
	}
}

func TestHoldKeepsJobsOff(t *testing.T) {
	t.Parallel()
	w := newFixture(t, memdriver.Spec{VMs: 2})
	i := w.add(t, nil)
	one, other := w.spec(w.cluster.Guests()[0], hypervisor.Start), w.spec(w.cluster.Guests()[1], hypervisor.Start)
	held, err := hold(t.Context(), i.db, one.Exclusive, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	_, err = i.tryEnqueue(t.Context(), one)
	busy(t, "a job on what is held", err)
	_, err = hold(t.Context(), i.db, one.Exclusive, time.Minute)
	busy(t, "a second hold", err)
	i.enqueue(t, other)
	if err := held.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	first := i.enqueue(t, one)
	_, err = hold(t.Context(), i.db, one.Exclusive, time.Minute)
	busy(t, "a hold beside a job", err)
	if p := problem.From(err); p.Members["job"] != first {
		t.Errorf("%v names the job %v, want %d", err, p.Members["job"], first)
	}
}

// A job that works on another thing as well holds that against jobs and other holds. It has the hold that a run of it has left which died,
// and none that is somebody else's.
func TestJobHoldsAnotherThing(t *testing.T) {
	t.Parallel()
	w := newFixture(t, memdriver.Spec{VMs: 3})
	guests := w.cluster.Guests()
	spec, other, foreign := w.spec(guests[0], hypervisor.Start), w.spec(guests[1], hypervisor.Start), w.spec(guests[2], hypervisor.Start)
	begun, release := make(chan error), make(chan struct{})
	i := w.add(t, map[string]job.Worker{"both": job.WorkerFunc(func(ctx context.Context, run *job.Run) error {
		_, err := run.Hold(ctx, other.Exclusive, time.Minute)
		end, again := run.Hold(ctx, other.Exclusive, time.Minute)
		if begun <- errors.Join(err, again); end == nil {
			return again
		}
		<-release
		_, err = run.Hold(ctx, foreign.Exclusive, time.Minute)
		busy(t, "a job's hold of what is held", err)
		end()
		return nil
	})})
	if _, err := hold(t.Context(), i.db, foreign.Exclusive, time.Minute); err != nil {
		t.Fatal(err)
	}
	i.run(t)
	spec.Kind = "both"
	id := i.enqueue(t, spec)
	if err := <-begun; err != nil {
		t.Fatal(err)
	}
	_, err := i.tryEnqueue(t.Context(), other)
	busy(t, "a job on what a job holds", err)
	_, err = hold(t.Context(), i.db, other.Exclusive, time.Minute)
	busy(t, "a hold of what a job holds", err)
	close(release)
	i.ended(t, id, job.Succeeded)
	i.enqueue(t, other)
}

// Who held and died holds no longer than the limit.
func TestHoldEnds(t *testing.T) {
	t.Parallel()
	w := newFixture(t, memdriver.Spec{VMs: 1})
	i := w.add(t, nil)
	spec := w.spec(w.cluster.Guests()[0], hypervisor.Start)
	if _, err := hold(t.Context(), i.db, spec.Exclusive, -time.Second); err != nil {
		t.Fatal(err)
	}
	if _, err := hold(t.Context(), i.db, spec.Exclusive, -time.Second); err != nil {
		t.Errorf("a hold after one that has ended: %v", err)
	}
	i.enqueue(t, spec)
}

// Of a job and a hold that are asked for at the same time one is refused, whichever commits first.
func TestHoldAndJobAtOnce(t *testing.T) {
	t.Parallel()
	w := newFixture(t, memdriver.Spec{VMs: 1})
	i := w.add(t, nil)
	spec := w.spec(w.cluster.Guests()[0], hypervisor.Start)
	undo := errors.New("undo")
	err := i.db.Tx(t.Context(), func(tx *db.Tx) error {
		if _, err := i.Enqueue(t.Context(), tx, spec); err != nil {
			return err
		}
		_, err := hold(t.Context(), i.db, spec.Exclusive, time.Minute)
		busy(t, "a hold beside a job that is being enqueued", err)
		return undo
	})
	if !errors.Is(err, undo) {
		t.Fatal(err)
	}
	enqueued := make(chan error, 1)
	err = i.db.Tx(t.Context(), func(tx *db.Tx) error {
		if _, err := job.AcquireHold(t.Context(), i.db, tx, spec.Exclusive, time.Minute); err != nil {
			return err
		}
		go func() {
			_, err := i.tryEnqueue(context.WithoutCancel(t.Context()), spec)
			enqueued <- err
		}()
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	busy(t, "a job that waited for the hold", <-enqueued)
}
