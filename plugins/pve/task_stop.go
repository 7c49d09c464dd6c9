package pve

import "context"

// StopTask asks the task's node to stop it. That needs Sys.Modify on the node
// unless the task is the token's own.
func (h *Host) StopTask(ctx context.Context, taskID string) error {
	u, err := parseUPID(taskID)
	if err != nil {
		return err
	}
	path, err := u.path()
	if err != nil {
		return err
	}
	_, err = h.api.Delete(ctx, path, nil, nil)
	return h.explain(ctx, u.node, u.unknown(err))
}
