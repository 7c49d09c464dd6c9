package pve_test

import (
	"testing"
	"time"

	"github.com/hostler/hostler/internal/waittest"
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
	var result hypervisor.TaskResult
	var err error
	lines, ended := 0, make(chan struct{})
	go func() {
		defer close(ended)
		result, err = host.WaitTask(t.Context(), id, 0, func(hypervisor.LogLine) error { lines++; return nil })
	}()
	waittest.Until(t, "that it runs at the first looks", func() bool {
		return w.Stats().Requests["GET /nodes/{node}/tasks/{upid}/log"] >= 5
	})
	must(t, "stopping the task", host.StopTask(t.Context(), id))
	<-ended
	if err != nil || result.Status != hypervisor.TaskUnknown || lines != 1 {
		t.Errorf("%+v, %v after %d lines, want an unknown end", result, err, lines)
	}
}
