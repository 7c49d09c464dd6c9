package pve

import (
	"context"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/hostler/hostler/plugins/pve/pveapi"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// snapshotName is the form of a configuration's id, of at most 40 characters
// (pve-configid).
var snapshotName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{1,39}$`)

// checkSnapshotName also refuses the names of other sections in a guest's
// configuration.
func checkSnapshotName(name string) error {
	if snapshotName.MatchString(name) && name != present && !strings.EqualFold(name, "pending") {
		return nil
	}
	e := plugin.Errorf(plugin.Invalid, "a snapshot name has 2 to 40 letters, digits, - and _, starts with a letter, and is neither "+
		"current nor pending")
	e.Field = "name"
	return e
}

// present is the name of the guest's present state in a list of snapshots.
const present = "current"

// Snapshots implements hypervisor.Snapshotter. Proxmox VE lists the current
// state as a row named "current", which is left out. A snapshot with the state
// "prepare" or "delete" is incomplete: a task that created or deleted it failed
// or still runs. Descriptions of containers end in a line feed, which is
// removed.
func (h *Host) Snapshots(ctx context.Context, ref hypervisor.GuestRef) ([]hypervisor.Snapshot, error) {
	path, err := guestPath(ref, "snapshot")
	if err != nil {
		return nil, err
	}
	var rows []struct {
		Name        pveapi.Text `json:"name"`
		Parent      pveapi.Text `json:"parent"`
		Description pveapi.Text `json:"description"`
		Taken       pveapi.Int  `json:"snaptime"`
		Memory      pveapi.Flag `json:"vmstate"`
		State       pveapi.Text `json:"snapstate"` // prepare or delete; absent of a whole one
	}
	if _, err := h.api.Get(ctx, path, nil, &rows); err != nil {
		return nil, h.explain(ctx, ref.Node, absence(err))
	}
	snapshots := make([]hypervisor.Snapshot, 0, len(rows))
	for _, row := range rows {
		if row.Name == present {
			continue
		}
		s := hypervisor.Snapshot{
			Name: string(row.Name), Parent: string(row.Parent), Memory: bool(row.Memory), Incomplete: row.State != "",
			Description: strings.TrimSuffix(string(row.Description), "\n"), // which a container's always ends with
		}
		if row.Taken.N > 0 {
			s.TakenAt = time.Unix(row.Taken.N, 0).UTC()
		}
		snapshots = append(snapshots, s)
	}
	return snapshots, nil
}

// TakeSnapshot implements hypervisor.Snapshotter. Most obstacles show only in
// the task.
func (h *Host) TakeSnapshot(ctx context.Context, ref hypervisor.GuestRef, spec hypervisor.SnapshotSpec) (string, error) {
	if err := checkSnapshotName(spec.Name); err != nil {
		return "", err
	}
	form := url.Values{"snapname": {spec.Name}}
	if spec.Description != "" {
		form.Set("description", spec.Description)
	}
	if spec.Memory {
		if ref.Kind == hypervisor.Container {
			e := plugin.Errorf(plugin.Invalid, "a snapshot of a container cannot include its memory")
			e.Field = "memory"
			return "", e
		}
		form.Set("vmstate", "1")
	}
	path, err := guestPath(ref, "snapshot")
	if err != nil {
		return "", err
	}
	var answer pveapi.Text
	_, err = h.api.Post(ctx, path, form, &answer)
	return h.snapshotTask(ctx, ref, hypervisor.OperationSnapshotCreate, answer, err)
}

// DeleteSnapshot implements hypervisor.Snapshotter. It does not force: a
// snapshot whose disks could not be deleted must stay visible.
func (h *Host) DeleteSnapshot(ctx context.Context, ref hypervisor.GuestRef, name string) (string, error) {
	path, err := snapshotPath(ref, name)
	if err != nil {
		return "", err
	}
	var answer pveapi.Text
	_, err = h.api.Delete(ctx, path, nil, &answer)
	return h.snapshotTask(ctx, ref, hypervisor.OperationSnapshotDelete, answer, err)
}

// RollBack implements hypervisor.Snapshotter. If a start is requested, Proxmox
// VE starts the guest in a separate task.
func (h *Host) RollBack(ctx context.Context, ref hypervisor.GuestRef, spec hypervisor.RollbackSpec) (string, error) {
	path, err := snapshotPath(ref, spec.Name, "rollback")
	if err != nil {
		return "", err
	}
	var form url.Values
	if spec.Start {
		form = url.Values{"start": {"1"}}
	}
	var answer pveapi.Text
	_, err = h.api.Post(ctx, path, form, &answer)
	return h.snapshotTask(ctx, ref, hypervisor.OperationSnapshotRollback, answer, err)
}

// snapshotPath returns the path of one snapshot.
func snapshotPath(ref hypervisor.GuestRef, name string, rest ...string) (string, error) {
	if err := checkSnapshotName(name); err != nil {
		return "", err
	}
	return guestPath(ref, append([]string{"snapshot", name}, rest...)...)
}

// snapshotTask returns the task of a change of snapshots.
func (h *Host) snapshotTask(ctx context.Context, ref hypervisor.GuestRef, what hypervisor.Operation, answer pveapi.Text, err error) (
	string, error) {
	if err != nil {
		return "", h.explain(ctx, ref.Node, snapshotError(err))
	}
	h.log.Debug("snapshot task started", "node", ref.Node, "guest", ref.ID, "operation", string(what), "task", string(answer))
	return taskIn(string(answer)), nil
}

// snapshotError turns an error about snapshots into one of the SDK.
func snapshotError(err error) error {
	e, ok := asError(err)
	if !ok {
		return err
	}
	text := strings.ToLower(e.Message)
	switch {
	case e.Kind == plugin.Invalid && e.Field == "snapname":
		e.Field = "name"
	case e.Kind == plugin.Invalid && e.Field == "vmstate":
		e.Field = "memory"
	case strings.Contains(text, "unable to use snapshot name"):
		wrongParameter(e, "name")
	case strings.Contains(text, "already used"):
		e.Kind = plugin.Conflict
	case strings.Contains(text, "snapshot feature is not available"):
		e.Kind = plugin.Unsupported
	case strings.Contains(text, "not most recent snapshot"), strings.Contains(text, "incomplete snapshot"),
		strings.Contains(text, "a template"):
		e.Kind = plugin.Conflict
	}
	return e
}
