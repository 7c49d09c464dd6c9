package lxd

import (
	"context"

	"github.com/hostler/hostler/sdk/plugin"
)

// StopTask cancels an operation. The server lets few be: tokens, downloads of images, the sources of a migration. Of all others it
// is Conflict, and they go on to their end.
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
