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

// operation reads an operation. It is NotFound if the server does not know it,
// or forgot it.
func (h *Host) operation(ctx context.Context, id string) (*lxdapi.Operation, error) {
	if !operationID.MatchString(id) {
		return nil, noTask(id)
	}
	op, err := h.api.Operation(ctx, id)
	return op, h.judge(ctx, err, "")
}

// WaitTask implements hypervisor.Host. It first waits for a moment at the
// server. Then it follows the events of the operation's project, over a stream
// that all waits share, or asks for the end again and again if that is not
// possible. An operation that ended while the host was unreachable is forgotten
// by then, and is NotFound: the state of the guest tells what became of it.
func (h *Host) WaitTask(ctx context.Context, taskID string, from int, line func(hypervisor.LogLine) error) (
	hypervisor.TaskResult, error) {
	op, err := h.operation(ctx, taskID)
	if err != nil {
		return hypervisor.TaskResult{}, err
	}
	log := &taskLog{line: line}
	if err := log.begin(op, from); err != nil {
		return hypervisor.TaskResult{}, err
	}
	if op.Ended() {
		return resultOf(op), nil
	}
	next, err := h.api.WaitFor(ctx, taskID, h.pace.Step)
	if err == nil && next.Ended() {
		return resultOf(next), nil
	}
	project, known := h.projects.of(h.target.Address, op)
	if err != nil || !known {
		return h.waitAgain(ctx, taskID)
	}
	events, leave := h.streams.join(h, project)
	defer leave()
	if end, err := h.follow(ctx, events, taskID, log); err != nil {
		return hypervisor.TaskResult{}, err
	} else if end != nil {
		return resultOf(end), nil
	}
	result, err := h.waitAgain(ctx, taskID)
	if plugin.KindOf(err) == plugin.NotFound {
		if end := events.endOf(taskID); end != nil {
			return resultOf(end), nil
		}
	}
	return result, err
}

// waitAgain waits for the end of an operation with the server's own waiting
// call, again and again. After a broken connection it retries until the host
// has been silent for the configured time; then it returns Unreachable. An
// error that will not pass, such as an unknown operation, ends it at once.
func (h *Host) waitAgain(ctx context.Context, taskID string) (hypervisor.TaskResult, error) {
	var lost time.Time // when the silence began
	for {
		op, err := h.api.Wait(ctx, taskID)
		for err != nil {
			switch {
			case ctx.Err() != nil:
				return hypervisor.TaskResult{}, fmt.Errorf("waiting for an operation: %w", ctx.Err())
			case !passing(err):
				return hypervisor.TaskResult{}, h.judge(ctx, err, "")
			case lost.IsZero():
				lost = time.Now()
			case time.Since(lost) > h.pace.Silence:
				return hypervisor.TaskResult{}, plugin.Errorf(plugin.Unreachable, "the host did not answer about the operation for %s: %w",
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
		if op.Ended() {
			return resultOf(op), nil
		}
		lost = time.Time{}
	}
}

// passing reports whether a failure may pass, so that another attempt makes
// sense.
func passing(err error) bool {
	switch plugin.KindOf(err) {
	case plugin.Unreachable, plugin.Timeout, plugin.Busy:
		return !errors.Is(err, context.Canceled)
	}
	return false
}
