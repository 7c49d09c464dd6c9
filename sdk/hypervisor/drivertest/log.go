package drivertest

import (
	"context"
	"slices"
	"testing"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// log tests Host.TaskLog. Lines are numbered from 1, Start counts the lines to
// skip, a Limit of zero means all, and Total is the length of the whole log for
// every window. A window beyond the end is empty and not an error.
func (s *suite) log(t *testing.T) {
	s.run(t, "windows", func(t *testing.T, ctx context.Context) {
		hook(t, "EndedTask", s.EndedTask != nil)
		host := s.host(t, endpoint.Monitoring)
		id := s.EndedTask(t)
		whole, err := host.TaskLog(ctx, id, hypervisor.LogQuery{})
		must(t, "reading the log", err)
		if whole.Total != len(whole.Lines) || whole.Total < 5 {
			t.Fatalf("total is %d with %d lines, want equal numbers of at least five", whole.Total, len(whole.Lines))
		}
		for i, line := range whole.Lines {
			if line.N != i+1 {
				t.Fatalf("line %d has number %d", i+1, line.N)
			}
			if !(line.Share >= 0 && line.Share <= 1) { // which NaN is not
				t.Errorf("line %d reports a share of %v, want 0 to 1", line.N, line.Share)
			}
		}
		for _, w := range []struct{ start, limit, from, to int }{
			{0, 2, 0, 2}, {1, 2, 1, 3}, {3, 0, 3, whole.Total}, {whole.Total - 1, 10, whole.Total - 1, whole.Total},
			{whole.Total, 5, 0, 0}, {whole.Total + 100, 0, 0, 0},
		} {
			part, err := host.TaskLog(ctx, id, hypervisor.LogQuery{Start: w.start, Limit: w.limit})
			must(t, "reading a window", err)
			if !slices.Equal(part.Lines, whole.Lines[w.from:w.to]) {
				t.Errorf("window %d+%d is %v, want %v", w.start, w.limit, part.Lines, whole.Lines[w.from:w.to])
			}
			if part.Total != whole.Total {
				t.Errorf("window %d+%d: total is %d, want %d", w.start, w.limit, part.Total, whole.Total)
			}
		}
	})
	s.run(t, "unknown task", func(t *testing.T, ctx context.Context) {
		host := s.host(t, endpoint.Monitoring)
		for _, id := range badTasks {
			_, err := host.TaskLog(ctx, id, hypervisor.LogQuery{})
			wantNoTask(t, id, err)
		}
	})
}

// wantNoTask checks that an unknown task is answered with NotFound or Invalid.
func wantNoTask(t *testing.T, id string, err error) {
	t.Helper()
	switch plugin.KindOf(err) {
	case plugin.NotFound, plugin.Invalid:
	default:
		t.Errorf("task %q: error is %v, want not found or invalid", id, err)
	}
}
