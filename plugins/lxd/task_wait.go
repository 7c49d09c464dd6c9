package lxd

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/hostler/hostler/plugins/lxd/lxdapi"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// operationID is how the server writes the id of an operation.
var operationID = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// operation reads one operation. One that ended more than 5 s ago is NotFound, as is one that never was.
func (h *Host) operation(ctx context.Context, id string) (*lxdapi.Operation, error) {
	if !operationID.MatchString(id) {
		return nil, noTask(id)
	}
	op, err := h.api.Operation(ctx, id)
	return op, h.judge(ctx, err, "")
}

// WaitTask asks the server to answer when the operation is over, again and again. A connection that breaks is tried anew until the
// silence has lasted; an operation that ended meanwhile, or a server that was started again, has forgotten it by then, and that
// is NotFound: the guest's state tells what became of it.
func (h *Host) WaitTask(ctx context.Context, taskID string, from int, line func(hypervisor.LogLine) error) (
	hypervisor.TaskResult, error) {
	op, err := h.operation(ctx, taskID)
	if err != nil {
		return hypervisor.TaskResult{}, err
	}
	for _, l := range logOf(op) {
		if l.N > from {
			if err := line(l); err != nil {
				return hypervisor.TaskResult{}, err
			}
		}
	}
	var lost time.Time // when the silence began
	for !op.Ended() {
		next, err := h.api.Wait(ctx, taskID)
		if err == nil {
			return resultOf(next), nil
		}
		for err != nil {
			switch {
			case ctx.Err() != nil:
				return hypervisor.TaskResult{}, fmt.Errorf("waiting for an operation: %w", ctx.Err())
			case !passing(err):
				return hypervisor.TaskResult{}, h.judge(ctx, err, "")
			case lost.IsZero():
				lost = time.Now()
			case time.Since(lost) > h.pace.Silence:
				return hypervisor.TaskResult{}, plugin.Errorf(plugin.Unreachable, "nothing was heard of the operation for %s: %w",
					h.pace.Silence, err)
			}
			h.log.Debug("waiting for an operation: no answer", "operation", taskID, "error", err)
			select {
			case <-ctx.Done():
				return hypervisor.TaskResult{}, fmt.Errorf("waiting for an operation: %w", ctx.Err())
			case <-time.After(h.pace.Retry):
			}
			op, err = h.api.Operation(ctx, taskID)
		}
		lost = time.Time{}
	}
	return resultOf(op), nil
}

// passing reports whether another try may mend a failure.
func passing(err error) bool {
	switch plugin.KindOf(err) {
	case plugin.Unreachable, plugin.Timeout, plugin.Busy:
		return !errors.Is(err, context.Canceled)
	}
	return false
}
