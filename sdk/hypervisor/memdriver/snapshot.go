package memdriver

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// snapshotName is the form of a snapshot's name.
var snapshotName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,39}$`)

// Snapshots implements hypervisor.Snapshotter.
func (h *Host) Snapshots(ctx context.Context, ref hypervisor.GuestRef) ([]hypervisor.Snapshot, error) {
	c, privileges, err := h.begin(ctx, "snapshots")
	if err != nil {
		return nil, err
	}
	if err := require(privileges, GuestAudit, guestPath(ref.ID)); err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	guest, err := c.find(ref)
	if err != nil {
		return nil, err
	}
	return slices.Clone(guest.snapshots), nil
}

// TakeSnapshot implements hypervisor.Snapshotter. The new snapshot follows the
// one from which the present state comes.
func (h *Host) TakeSnapshot(ctx context.Context, ref hypervisor.GuestRef, spec hypervisor.SnapshotSpec) (string, error) {
	return h.change(ctx, "takesnapshot", GuestPower, ref, func(guest *guest) (work, error) {
		switch {
		case !snapshotName.MatchString(spec.Name):
			return work{}, invalid("name", "a snapshot's name is of 1 to 40 letters, digits, - and _, the first a letter")
		case spec.Memory && ref.Kind == hypervisor.Container:
			return work{}, invalid("memory", "a container's memory cannot be kept")
		case guest.snapshot(spec.Name) >= 0:
			return work{}, plugin.Errorf(plugin.Conflict, "guest %s has a snapshot %s already", ref.ID, spec.Name)
		}
		return work{hypervisor.OperationSnapshotCreate, func() error {
			if guest.snapshot(spec.Name) >= 0 {
				return fmt.Errorf("guest %s has a snapshot %s already", ref.ID, spec.Name)
			}
			guest.snapshots = append(guest.snapshots, hypervisor.Snapshot{
				Name: spec.Name, Parent: guest.origin, Description: spec.Description, TakenAt: time.Now().UTC(),
				Memory: spec.Memory && guest.Status == hypervisor.GuestRunning,
			})
			guest.origin = spec.Name
			return nil
		}}, nil
	})
}

// DeleteSnapshot implements hypervisor.Snapshotter. The snapshots after the
// deleted one then follow its parent.
func (h *Host) DeleteSnapshot(ctx context.Context, ref hypervisor.GuestRef, name string) (string, error) {
	return h.change(ctx, "deletesnapshot", GuestPower, ref, func(guest *guest) (work, error) {
		if guest.snapshot(name) < 0 {
			return work{}, noSnapshot(guest, name)
		}
		return work{hypervisor.OperationSnapshotDelete, func() error {
			i := guest.snapshot(name)
			if i < 0 {
				return noSnapshot(guest, name)
			}
			parent := guest.snapshots[i].Parent
			guest.snapshots = slices.Delete(guest.snapshots, i, i+1)
			for i := range guest.snapshots {
				if s := &guest.snapshots[i]; s.Parent == name {
					s.Parent = parent
				}
			}
			if guest.origin == name {
				guest.origin = parent
			}
			return nil
		}}, nil
	})
}

// RollBack implements hypervisor.Snapshotter.
func (h *Host) RollBack(ctx context.Context, ref hypervisor.GuestRef, spec hypervisor.RollbackSpec) (string, error) {
	return h.change(ctx, "rollback", GuestPower, ref, func(guest *guest) (work, error) {
		if guest.snapshot(spec.Name) < 0 {
			return work{}, noSnapshot(guest, spec.Name)
		}
		return work{hypervisor.OperationSnapshotRollback, func() error {
			i := guest.snapshot(spec.Name)
			if i < 0 {
				return noSnapshot(guest, spec.Name)
			}
			if guest.snapshots[i].Incomplete {
				return fmt.Errorf("guest %s cannot go back to the incomplete snapshot %s", ref.ID, spec.Name)
			}
			status := hypervisor.GuestStopped
			if spec.Start || guest.snapshots[i].Memory {
				status = hypervisor.GuestRunning
			}
			guest.setStatus(status)
			guest.began = time.Now()
			guest.origin = spec.Name
			return nil
		}}, nil
	})
}

// ChangeSnapshots edits the snapshots of a guest, the oldest first, for example
// to leave an incomplete one.
func (c *Cluster) ChangeSnapshots(id hypervisor.GuestID, edit func([]hypervisor.Snapshot) []hypervisor.Snapshot) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if g, ok := c.guests[id]; ok {
		g.snapshots = edit(g.snapshots)
	}
}

// snapshot returns the index of a guest's snapshot, or -1. The caller holds the
// lock.
func (g *guest) snapshot(name string) int {
	return slices.IndexFunc(g.snapshots, func(s hypervisor.Snapshot) bool { return s.Name == name })
}

// noSnapshot returns NotFound for a snapshot.
func noSnapshot(guest *guest, name string) error {
	return plugin.Errorf(plugin.NotFound, "guest %s has no snapshot %.80q", guest.ID, name)
}
