package toy

import (
	"context"
	"time"

	"github.com/hostler/hostler/sdk/hypervisor"
)

const (
	// logWindow is how many lines are read at once.
	logWindow = 1000
	// A task is looked at ever more rarely while it says nothing.
	firstLook, slowestLook = 50 * time.Millisecond, 2 * time.Second
)

// WaitTask implements hypervisor.Host. The order matters: the state is read before the log, so that the log of a task that
// had ended is whole. A hypervisor that cannot be reached ends the wait, which may be taken up at any line.
func (h *Host) WaitTask(ctx context.Context, id string, from int, line func(hypervisor.LogLine) error) (hypervisor.TaskResult, error) {
	path, err := taskPath(id)
	if err != nil {
		return hypervisor.TaskResult{}, err
	}
	next := max(from, 0)
	for pause := firstLook; ; pause = min(2*pause, slowestLook) {
		var t task
		if _, err := h.client.get(ctx, path, nil, &t); err != nil {
			return hypervisor.TaskResult{}, err
		}
		seen := next
		if next, err = h.follow(ctx, id, next, line); err != nil {
			return hypervisor.TaskResult{}, err
		}
		// A task that ended badly is a result and no error.
		if status := t.status(); status != hypervisor.TaskRunning {
			return hypervisor.TaskResult{Status: status, Message: t.Message}, nil
		}
		if next > seen {
			pause = firstLook
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return hypervisor.TaskResult{}, ctx.Err()
		}
	}
}

// follow hands on the lines from next on and returns the number of the one after them.
func (h *Host) follow(ctx context.Context, id string, next int, line func(hypervisor.LogLine) error) (int, error) {
	for {
		log, err := h.TaskLog(ctx, id, hypervisor.LogQuery{Start: next, Limit: logWindow})
		if err != nil {
			return next, err
		}
		for _, l := range log.Lines {
			if err := line(l); err != nil {
				return next, err
			}
			next++
		}
		if len(log.Lines) < logWindow {
			return next, nil
		}
	}
}
