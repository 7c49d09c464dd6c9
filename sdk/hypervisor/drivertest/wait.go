package drivertest

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"testing"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// wait follows a task to its end and returns the lines of its log.
func wait(t *testing.T, ctx context.Context, host hypervisor.Host, id string, from int) ([]hypervisor.LogLine, hypervisor.TaskResult) {
	t.Helper()
	var lines []hypervisor.LogLine
	result, err := host.WaitTask(ctx, id, from, func(line hypervisor.LogLine) error {
		lines = append(lines, line)
		return nil
	})
	must(t, "waiting for the task", err)
	return lines, result
}

// wait tests Host.WaitTask. WaitTask can be called several times for the same
// task and from any line, because the service resumes it after a restart. A
// task that failed is a result and not an error.
func (s *suite) wait(t *testing.T) {
	s.run(t, "from any line and twice", func(t *testing.T, ctx context.Context) {
		hook(t, "EndedTask", s.EndedTask != nil)
		host := s.host(t, endpoint.Monitoring)
		id := s.EndedTask(t)
		whole, result := wait(t, ctx, host, id, 0)
		if !result.OK() || len(whole) < 5 {
			t.Fatalf("result is %+v after %d lines", result, len(whole))
		}
		for _, from := range []int{0, 1, 3, len(whole), len(whole) + 10} {
			lines, again := wait(t, ctx, host, id, from)
			if want := whole[min(from, len(whole)):]; !slices.Equal(lines, want) {
				t.Errorf("from %d: lines are %v, want %v", from, lines, want)
			}
			if !reflect.DeepEqual(again, result) {
				t.Errorf("from %d: result is %+v, want %+v", from, again, result)
			}
		}
		log, err := host.TaskLog(ctx, id, hypervisor.LogQuery{})
		must(t, "reading the log", err)
		if !slices.Equal(log.Lines, whole) {
			t.Errorf("the log is %v, and %v when waited for", log.Lines, whole)
		}
	})
	s.run(t, "a failed task is a result", func(t *testing.T, ctx context.Context) {
		hook(t, "FailedTask", s.FailedTask != nil)
		_, result := wait(t, ctx, s.host(t, endpoint.Monitoring), s.FailedTask(t), 0)
		if result.Status != hypervisor.TaskFailed || result.Message == "" || result.OK() {
			t.Errorf("result is %+v, want failed with its text", result)
		}
	})
	s.run(t, "a task of unknown end is a result", func(t *testing.T, ctx context.Context) {
		hook(t, "LostTask", s.LostTask != nil)
		_, result := wait(t, ctx, s.host(t, endpoint.Monitoring), s.LostTask(t), 0)
		if result.Status != hypervisor.TaskUnknown || result.OK() {
			t.Errorf("result is %+v, want unknown", result)
		}
	})
	s.run(t, "cancel ends it", func(t *testing.T, ctx context.Context) {
		hook(t, "RunningTask", s.RunningTask != nil)
		id := s.RunningTask(t)
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		_, err := s.host(t, endpoint.Monitoring).WaitTask(ctx, id, 0, func(hypervisor.LogLine) error {
			cancel()
			return nil
		})
		wantCanceled(t, err)
	})
	s.run(t, "an error from line ends it", func(t *testing.T, ctx context.Context) {
		hook(t, "RunningTask", s.RunningTask != nil)
		enough := errors.New("enough")
		_, err := s.host(t, endpoint.Monitoring).WaitTask(ctx, s.RunningTask(t), 0, func(hypervisor.LogLine) error { return enough })
		if !errors.Is(err, enough) {
			t.Errorf("error is %v, want the line's own", err)
		}
	})
	s.run(t, "unknown task", func(t *testing.T, ctx context.Context) {
		host := s.host(t, endpoint.Monitoring)
		for _, id := range badTasks {
			_, err := host.WaitTask(ctx, id, 0, func(hypervisor.LogLine) error { return nil })
			wantNoTask(t, id, err)
		}
	})
}
