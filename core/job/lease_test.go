package job_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/internal/waittest"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
)

// Jobs that are held open: as many run as there are slots over all instances, never one more, and each end lets one in.
func TestSlotsAreFilledAndNeverExceeded(t *testing.T) {
	t.Parallel()
	const slots, jobs = 4, 12
	w := newFixture(t, memdriver.Spec{})
	var now, most atomic.Int64
	began, release := make(chan struct{}, jobs), make(chan struct{})
	kinds := map[string]job.Worker{"held": job.WorkerFunc(func(ctx context.Context, _ *job.Run) error {
		n := now.Add(1)
		defer now.Add(-1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		began <- struct{}{}
		select {
		case <-release:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	})}
	a, b := w.start(t, kinds), w.start(t, kinds)
	var ids []int64
	for k := range jobs {
		ids = append(ids, []*instance{a, b}[k%2].enqueue(t, job.Spec{Kind: "held", Target: job.Target{Kind: "vm", ID: int64(k)}}))
	}
	next := func(what string) {
		t.Helper()
		select {
		case <-began:
		case <-time.After(time.Minute):
			t.Fatalf("%s does not begin", what)
		}
	}
	for range slots {
		next("a job that has a slot")
	}
	// Both instances have their hands full: those that have no slot are in the line for one.
	waittest.Until(t, "all that can wait for a slot do", func() bool { return a.rows(t, "running") == 2*slots })
	for ended := 1; ended <= jobs-slots; ended++ {
		release <- struct{}{}
		next("the next in line") // everyone in it was woken and tried
		waittest.Until(t, "the next in line have come up", func() bool { return a.rows(t, "running") == min(2*slots, jobs-ended) })
		if n := now.Load(); n > slots {
			t.Errorf("%d jobs run, want at most %d", n, slots)
		}
	}
	close(release)
	for _, id := range ids {
		a.ended(t, id, job.Succeeded)
	}
	if most.Load() != slots {
		t.Errorf("at most %d jobs ran at once, want %d", most.Load(), slots)
	}
}
