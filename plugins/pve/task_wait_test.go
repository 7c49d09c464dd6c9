package pve_test

import (
	"context"
	"testing"
	"time"

	"github.com/hostler/hostler/plugins/pve/pvesim"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// TestWaitingForATaskThatIsKilled ends although its log never tells an end: the status is looked at as well.
func TestWaitingForATaskThatIsKilled(t *testing.T) {
	t.Parallel()
	w := newFixture(t, pvesim.Options{})
	host := w.host(t, endpoint.Lifecycle)
	id := w.task(t, "vzshutdown", time.Hour, "OK", "first line")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	stopped := make(chan error, 1)
	go func() {
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for w.Stats().Requests["GET /nodes/{node}/tasks/{upid}/log"] < 5 { // it runs at the first looks
			select {
			case <-tick.C:
			case <-ctx.Done():
				stopped <- ctx.Err()
				return
			}
		}
		stopped <- host.StopTask(ctx, id)
	}()
	lines := 0
	result, err := host.WaitTask(ctx, id, 0, func(hypervisor.LogLine) error { lines++; return nil })
	must(t, "stopping the task", <-stopped)
	if err != nil || result.Status != hypervisor.TaskUnknown || lines != 1 {
		t.Errorf("%+v, %v after %d lines, want an unknown end", result, err, lines)
	}
}
