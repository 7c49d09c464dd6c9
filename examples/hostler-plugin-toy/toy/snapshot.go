package toy

import (
	"context"
	"net/http"
	"net/url"
	"regexp"
	"time"

	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

var _ hypervisor.Snapshotter = (*Host)(nil)

// snapshotName is the form of a snapshot's name.
var snapshotName = regexp.MustCompile(`^[a-z][a-zA-Z0-9-]{0,62}$`)

// Snapshots implements hypervisor.Snapshotter. The toy keeps no tree, so nothing follows anything.
func (h *Host) Snapshots(ctx context.Context, ref hypervisor.GuestRef) ([]hypervisor.Snapshot, error) {
	guest, err := h.Guest(ctx, ref)
	if err != nil {
		return nil, err
	}
	path, err := guestPath(ref.ID)
	if err != nil {
		return nil, err
	}
	var rows []struct {
		Name  string
		Note  string
		Taken time.Time
	}
	if _, err := h.client.get(ctx, path+"/snapshots", url.Values{"uuid": {guest.UID}}, &rows); err != nil {
		return nil, err
	}
	list := make([]hypervisor.Snapshot, len(rows))
	for i, r := range rows {
		list[i] = hypervisor.Snapshot{Name: r.Name, Description: r.Note, TakenAt: r.Taken}
	}
	return list, nil
}

// TakeSnapshot implements hypervisor.Snapshotter. What the toy cannot keep is refused and not left out in silence.
func (h *Host) TakeSnapshot(ctx context.Context, ref hypervisor.GuestRef, spec hypervisor.SnapshotSpec) (string, error) {
	if !snapshotName.MatchString(spec.Name) {
		return "", invalid("name", "a snapshot name must start with a letter, followed by at most 62 letters, digits and -")
	}
	if spec.Memory {
		return "", invalid("memory", "a snapshot cannot include the memory")
	}
	return h.change(ctx, ref, http.MethodPost, "/snapshots", url.Values{"name": {spec.Name}, "note": {spec.Description}})
}

// DeleteSnapshot implements hypervisor.Snapshotter.
func (h *Host) DeleteSnapshot(ctx context.Context, ref hypervisor.GuestRef, name string) (string, error) {
	path, err := snapshotPath(name)
	if err != nil {
		return "", err
	}
	return h.change(ctx, ref, http.MethodDelete, path, url.Values{})
}

// RollBack implements hypervisor.Snapshotter.
func (h *Host) RollBack(ctx context.Context, ref hypervisor.GuestRef, spec hypervisor.RollbackSpec) (string, error) {
	path, err := snapshotPath(spec.Name)
	if err != nil {
		return "", err
	}
	query := url.Values{}
	if spec.Start {
		query.Set("start", "1")
	}
	return h.change(ctx, ref, http.MethodPost, path+"/restore", query)
}

func snapshotPath(name string) (string, error) {
	if !snapshotName.MatchString(name) {
		return "", plugin.Errorf(plugin.NotFound, "snapshot %.40q does not exist", name)
	}
	return "/snapshots/" + name, nil
}
