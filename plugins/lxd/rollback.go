package lxd

import (
	"context"
	"errors"
	"slices"

	"github.com/hostler/hostler/plugins/lxd/lxdapi"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// RollBack implements hypervisor.Snapshotter. The server restores a guest to
// the state in which it found it: one that ran runs again. So a guest that
// shall be stopped afterwards is stopped first, and one that shall run is
// started after the restore. The call lasts until the last step begins. Each
// request is sent once, and none after a failed one.
//
// The restore carries the ETag of the configuration that was read, so it is a
// Conflict if the configuration has changed.
func (h *Host) RollBack(ctx context.Context, ref hypervisor.GuestRef, spec hypervisor.RollbackSpec) (string, error) {
	if err := checkSnapshotName(spec.Name); err != nil {
		return "", err
	}
	f, err := h.find(ctx, ref, h.api.Definition)
	if err != nil {
		return "", err
	}
	snapshot, err := h.snapshotOf(ctx, f.address, spec.Name)
	if err != nil {
		return "", err
	}
	status := statusOf(f.instance)
	stays := status == hypervisor.GuestStopped || status == hypervisor.GuestSuspended
	if runs := status == hypervisor.GuestRunning && spec.Start; !stays && !runs {
		if f, err = h.stopFirst(ctx, ref, f.address); err != nil {
			return "", err
		}
		stays = true
	}
	op, err := h.api.RestoreSnapshot(ctx, f.address, spec.Name, snapshot.Stateful, f.meta.ETag)
	id, err := h.begun(ctx, f.address, hypervisor.OperationSnapshotRollback, op, err)
	if err != nil || !stays || !spec.Start || snapshot.Stateful {
		return id, err
	}
	ended, err := h.api.Wait(ctx, id)
	if err != nil {
		return "", doubtful(err)
	}
	if ended.Failure() != nil {
		return id, nil // its end tells
	}
	return h.act(ctx, f.address, hypervisor.Start)
}

// snapshotOf returns a snapshot of a guest by its name.
func (h *Host) snapshotOf(ctx context.Context, at lxdapi.InstanceRef, name string) (lxdapi.Snapshot, error) {
	all, err := h.api.Snapshots(ctx, at)
	if err != nil {
		return lxdapi.Snapshot{}, h.judge(ctx, absence(err), at.Project)
	}
	i := slices.IndexFunc(all, func(s lxdapi.Snapshot) bool { return s.Name == name })
	if i < 0 {
		return lxdapi.Snapshot{}, plugin.Errorf(plugin.NotFound, "snapshot %s does not exist", name)
	}
	return all[i], nil
}

// stopFirst stops a guest and reads it again, because stopping changes its
// configuration and so its ETag.
func (h *Host) stopFirst(ctx context.Context, ref hypervisor.GuestRef, at lxdapi.InstanceRef) (*found, error) {
	id, err := h.act(ctx, at, hypervisor.Stop)
	if err != nil {
		return nil, err
	}
	ended, err := h.api.Wait(ctx, id)
	switch {
	case errors.Is(err, lxdapi.ErrOperationNotFound): // the guest's state tells
	case err != nil:
		return nil, doubtful(err)
	case ended.Failure() != nil && plugin.KindOf(ended.Failure()) != plugin.Conflict: // it may have stopped by itself
		return nil, ended.Failure()
	}
	f, err := h.find(ctx, ref, h.api.Definition)
	if err != nil {
		return nil, err
	}
	if f.instance.Status != "Stopped" {
		return nil, plugin.Errorf(plugin.Conflict, "the guest could not be stopped, so the rollback was not done")
	}
	return f, nil
}

// doubtful returns the error of a call that has started something whose end it
// does not know.
func doubtful(err error) error {
	if plugin.KindOf(err) == plugin.NotFound {
		return plugin.Errorf(plugin.Timeout, "the host no longer knows how the operation ended: %w", err)
	}
	return err
}
