package lxd

import (
	"context"

	"github.com/hostler/hostler/sdk/plugin"
)

// StopTask implements hypervisor.TaskStopper. The server can only cancel few
// operations: tokens, downloads of images and the sources of migrations. All
// others are a Conflict and go on to their end. An operation that has ended is
// no error.
func (h *Host) StopTask(ctx context.Context, taskID string) error {
	op, err := h.operation(ctx, taskID)
	if err != nil || op.Ended() {
		return err
	}
	err = h.api.Cancel(ctx, taskID)
	switch plugin.KindOf(err) {
	case plugin.NotFound: // it has ended since it was looked at
		return nil
	case plugin.Conflict:
		if now, readErr := h.api.Operation(ctx, taskID); readErr == nil && now.Ended() {
			return nil
		}
	}
	return h.judge(ctx, err, "")
}
