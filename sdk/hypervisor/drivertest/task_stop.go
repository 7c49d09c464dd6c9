package drivertest

import (
	"context"
	"testing"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// taskStop tests TaskStopper. Stopping a task that has ended is not an error,
// because it can end at the same moment. A stopped task has failed or has an
// unknown end; it never counts as a success.
func (s *suite) taskStop(t *testing.T) {
	need[hypervisor.TaskStopper](t, s)
	stopper := func(t *testing.T) (hypervisor.Host, hypervisor.TaskStopper) {
		host := s.host(t, endpoint.Lifecycle)
		return host, as[hypervisor.TaskStopper](t, host)
	}
	s.run(t, "a running task ends", func(t *testing.T, ctx context.Context) {
		hook(t, "RunningTask", s.RunningTask != nil)
		_, stop := stopper(t)
		id := s.RunningTask(t)
		must(t, "stopping the task", stop.StopTask(ctx, id))
		_, result := wait(t, ctx, s.host(t, endpoint.Monitoring), id, 0)
		if result.Status != hypervisor.TaskFailed && result.Status != hypervisor.TaskUnknown {
			t.Errorf("the stopped task ended as %+v, want failed or unknown", result)
		}
		s.wantAmongErrors(t, ctx, id)
		must(t, "stopping it again", stop.StopTask(ctx, id))
	})
	s.run(t, "an ended task is no error", func(t *testing.T, ctx context.Context) {
		hook(t, "EndedTask", s.EndedTask != nil)
		_, stop := stopper(t)
		must(t, "stopping an ended task", stop.StopTask(ctx, s.EndedTask(t)))
	})
	s.run(t, "unknown task", func(t *testing.T, ctx context.Context) {
		_, stop := stopper(t)
		for _, id := range badTasks {
			wantNoTask(t, id, stop.StopTask(ctx, id))
		}
	})
}
