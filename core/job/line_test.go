package job_test

import (
	"context"
	"testing"

	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/internal/waittest"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
)

// Of those that wait for a slot on any instance, the one enqueued first has the next one.
func TestLineOfTwoInstances(t *testing.T) {
	if testing.Short() {
		t.Skip("runs several instances: make check runs it")
	}
	t.Parallel()
	const slots = 4
	w := newFixture(t, memdriver.Spec{})
	begun, end := make(chan int64, 2*slots), make(chan struct{})
	kinds := map[string]job.Worker{"held": job.WorkerFunc(func(ctx context.Context, run *job.Run) error {
		begun <- run.Job().ID
		select {
		case <-end:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	})}
	a, b := w.start(t, kinds), w.start(t, kinds)
	var ids []int64
	enqueue := func(i *instance) {
		ids = append(ids, i.enqueue(t, job.Spec{Kind: "held", Target: job.Target{Kind: "vm", ID: int64(len(ids) + 1)}}))
	}
	for range slots {
		enqueue(a)
	}
	waittest.Until(t, "all slots are taken", func() bool { return len(begun) == slots })
	for range slots {
		<-begun
	}
	for range slots / 2 {
		enqueue(a)
		enqueue(b)
	}
	waittest.Until(t, "the others wait for one", func() bool { return a.rows(t, "running") == 2*slots })
	for _, want := range ids[slots:] {
		end <- struct{}{}
		waittest.Until(t, "the next one has begun", func() bool { return len(begun) > 0 })
		if got := <-begun; got != want {
			t.Errorf("job %d has begun, and %d was before it in the line", got, want)
		}
	}
	close(end)
	for _, id := range ids {
		a.ended(t, id, job.Succeeded)
	}
}
