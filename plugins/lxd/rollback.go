package lxd

import (
	"context"
	"errors"
	"slices"

	"github.com/hostler/hostler/plugins/lxd/lxdapi"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// RollBack implements hypervisor.Snapshotter. The server brings a guest back as it found it: one that ran runs again. So a guest
// that shall not run afterwards is stopped first, and one that shall is started when it is back. The call lasts as long as that;
// each request is sent once, and after one that failed no other is sent. The restore is bound to the configuration that was read:
// where that has changed it is Conflict.
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

// snapshotOf is a guest's snapshot of a name.
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

// stopFirst stops a guest at once and reads it again: the stop changes its configuration.
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

// doubtful is the error of a call that has begun something and does not know its end.
func doubtful(err error) error {
	if plugin.KindOf(err) == plugin.NotFound {
		return plugin.Errorf(plugin.Timeout, "the host no longer knows how the operation ended: %w", err)
	}
	return err
}
