package lxd

import (
	"context"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hostler/hostler/plugins/lxd/lxdapi"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// maxSnapshotName is the length of a snapshot's name in bytes.
const maxSnapshotName = 63

// checkSnapshotName returns an Invalid error for a name that no server accepts.
func checkSnapshotName(name string) error {
	odd := func(r rune) bool { return r == '/' || r == '\\' || unicode.IsSpace(r) || !unicode.IsPrint(r) }
	if name == "" || name == "." || name == ".." || len(name) > maxSnapshotName || !utf8.ValidString(name) ||
		strings.ContainsFunc(name, odd) {
		return invalid("name", "a snapshot name must have 1 to %d bytes without spaces and slashes", maxSnapshotName)
	}
	return nil
}

// Snapshots implements hypervisor.Snapshotter. LXD has no descriptions and no
// order of snapshots, so these fields are empty.
func (h *Host) Snapshots(ctx context.Context, ref hypervisor.GuestRef) ([]hypervisor.Snapshot, error) {
	f, err := h.find(ctx, ref, h.api.Definition)
	if err != nil {
		return nil, err
	}
	all, err := h.api.Snapshots(ctx, f.address)
	if err != nil {
		return nil, h.judge(ctx, absence(err), f.address.Project)
	}
	snapshots := make([]hypervisor.Snapshot, len(all))
	for i, s := range all {
		snapshots[i] = hypervisor.Snapshot{Name: s.Name, Memory: s.Stateful}
		if s.Created.Unix() > 0 {
			snapshots[i].TakenAt = s.Created.UTC()
		}
	}
	return snapshots, h.unfinished(ctx, f.address, snapshots)
}

// unfinished marks snapshots that are being taken right now: the server lists
// them from the beginning of the operation.
func (h *Host) unfinished(ctx context.Context, at lxdapi.InstanceRef, snapshots []hypervisor.Snapshot) error {
	if len(snapshots) == 0 {
		return nil
	}
	operations, _, err := h.api.Operations(ctx, lxdapi.Scope{Project: at.Project})
	if err != nil {
		return h.judge(ctx, err, at.Project)
	}
	for _, op := range operations {
		if op.Ended() || len(op.Instances) != 1 || op.Instances[0] != at || operationOf(&op) != hypervisor.OperationSnapshotCreate {
			continue
		}
		for i := range snapshots {
			if !snapshots[i].TakenAt.Before(op.Created) {
				snapshots[i].Incomplete = true
			}
		}
	}
	return nil
}

// TakeSnapshot implements hypervisor.Snapshotter. The server finds a taken name
// only in the operation, so that error comes from WaitTask.
func (h *Host) TakeSnapshot(ctx context.Context, ref hypervisor.GuestRef, spec hypervisor.SnapshotSpec) (string, error) {
	if err := checkSnapshotName(spec.Name); err != nil {
		return "", err
	}
	if spec.Description != "" {
		return "", invalid("description", "LXD snapshots cannot have a description")
	}
	f, err := h.find(ctx, ref, h.api.Definition)
	if err != nil {
		return "", err
	}
	memory, err := f.memory(spec.Memory)
	if err != nil {
		return "", err
	}
	op, err := h.api.CreateSnapshot(ctx, f.address, lxdapi.SnapshotSpec{Name: spec.Name, Stateful: memory})
	if e, ok := asError(err); ok && e.Kind == plugin.Invalid && e.Field == "" && strings.Contains(strings.ToLower(e.Message), "name") {
		e.Field = "name"
	}
	return h.begun(ctx, f.address, hypervisor.OperationSnapshotCreate, op, err)
}

// memory reports whether a snapshot will include the memory. For containers it
// would need CRIU, which hardly any server has, so it is refused. A VM must be
// configured for it (migration.stateful).
func (f *found) memory(wanted bool) (bool, error) {
	switch {
	case !wanted:
		return false, nil
	case kinds[f.instance.Type] == hypervisor.Container:
		return false, invalid("memory", "a snapshot of a container cannot include its memory")
	case f.instance.Config["migration.stateful"] != "true":
		return false, invalid("memory", "a snapshot can include the memory of this VM only if migration.stateful is true in its "+
			"configuration")
	}
	return statusOf(f.instance) == hypervisor.GuestRunning, nil
}

// DeleteSnapshot implements hypervisor.Snapshotter.
func (h *Host) DeleteSnapshot(ctx context.Context, ref hypervisor.GuestRef, name string) (string, error) {
	if err := checkSnapshotName(name); err != nil {
		return "", err
	}
	f, err := h.find(ctx, ref, h.api.Definition)
	if err != nil {
		return "", err
	}
	op, err := h.api.DeleteSnapshot(ctx, f.address, name)
	return h.begun(ctx, f.address, hypervisor.OperationSnapshotDelete, op, err)
}
