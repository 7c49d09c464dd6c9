package job_test

import (
	"context"
	"testing"

	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
)

// Jobs that mostly wait take no slot: more of them run than there are slots, and others run beside them.
func TestJobsBesideTakeNoSlot(t *testing.T) {
	t.Parallel()
	const jobs = 12
	w := newFixture(t, memdriver.Spec{})
	began, release := make(chan struct{}, jobs), make(chan struct{})
	a := w.add(t, map[string]job.Worker{"quick": job.WorkerFunc(func(context.Context, *job.Run) error { return nil })})
	a.RegisterUnslotted("waits", job.WorkerFunc(func(ctx context.Context, _ *job.Run) error {
		began <- struct{}{}
		select {
		case <-release:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}))
	if err := a.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.Stop(context.Background()) })
	var ids []int64
	for k := range jobs {
		ids = append(ids, a.enqueue(t, job.Spec{Kind: "waits", Target: job.Target{Kind: "vm", ID: int64(k)}}))
	}
	for range jobs {
		<-began
	}
	a.ended(t, a.enqueue(t, job.Spec{Kind: "quick", Target: job.Target{Kind: "vm", ID: 99}}), job.Succeeded)
	close(release)
	for _, id := range ids {
		a.ended(t, id, job.Succeeded)
	}
}
