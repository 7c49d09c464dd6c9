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

// snapshotName is what a snapshot may be called.
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
	if _, err := c.find(ref); err != nil {
		return nil, err
	}
	return slices.Clone(c.snapshots[ref.ID]), nil
}

// TakeSnapshot implements hypervisor.Snapshotter. The new snapshot follows the one that the present state comes from.
func (h *Host) TakeSnapshot(ctx context.Context, ref hypervisor.GuestRef, spec hypervisor.SnapshotSpec) (string, error) {
	return h.change(ctx, "takesnapshot", GuestPower, ref, func(c *Cluster, _ *hypervisor.Guest) (work, error) {
		switch {
		case !snapshotName.MatchString(spec.Name):
			return work{}, invalid("name", "a snapshot's name is of 1 to 40 letters, digits, - and _, the first a letter")
		case spec.Memory && ref.Kind == hypervisor.Container:
			return work{}, invalid("memory", "a container's memory cannot be kept")
		case c.snapshot(ref.ID, spec.Name) >= 0:
			return work{}, plugin.Errorf(plugin.Conflict, "guest %d has a snapshot %s already", ref.ID, spec.Name)
		}
		return work{hypervisor.OperationSnapshotCreate, func(guest *hypervisor.Guest) error {
			if c.snapshot(ref.ID, spec.Name) >= 0 {
				return fmt.Errorf("guest %d has a snapshot %s already", ref.ID, spec.Name)
			}
			c.snapshots[ref.ID] = append(c.snapshots[ref.ID], hypervisor.Snapshot{
				Name: spec.Name, Parent: c.origins[ref.ID], Description: spec.Description, TakenAt: time.Now().UTC(),
				Memory: spec.Memory && guest.Status == hypervisor.GuestRunning,
			})
			c.origins[ref.ID] = spec.Name
			return nil
		}}, nil
	})
}

// DeleteSnapshot implements hypervisor.Snapshotter. Those that follow the snapshot then follow its parent.
func (h *Host) DeleteSnapshot(ctx context.Context, ref hypervisor.GuestRef, name string) (string, error) {
	return h.change(ctx, "deletesnapshot", GuestPower, ref, func(c *Cluster, _ *hypervisor.Guest) (work, error) {
		if c.snapshot(ref.ID, name) < 0 {
			return work{}, noSnapshot(ref.ID, name)
		}
		return work{hypervisor.OperationSnapshotDelete, func(*hypervisor.Guest) error {
			i := c.snapshot(ref.ID, name)
			if i < 0 {
				return noSnapshot(ref.ID, name)
			}
			parent := c.snapshots[ref.ID][i].Parent
			c.snapshots[ref.ID] = slices.Delete(c.snapshots[ref.ID], i, i+1)
			for i := range c.snapshots[ref.ID] {
				if s := &c.snapshots[ref.ID][i]; s.Parent == name {
					s.Parent = parent
				}
			}
			if c.origins[ref.ID] == name {
				c.origins[ref.ID] = parent
			}
			return nil
		}}, nil
	})
}

// RollBack implements hypervisor.Snapshotter.
func (h *Host) RollBack(ctx context.Context, ref hypervisor.GuestRef, spec hypervisor.RollbackSpec) (string, error) {
	return h.change(ctx, "rollback", GuestPower, ref, func(c *Cluster, _ *hypervisor.Guest) (work, error) {
		if c.snapshot(ref.ID, spec.Name) < 0 {
			return work{}, noSnapshot(ref.ID, spec.Name)
		}
		return work{hypervisor.OperationSnapshotRollback, func(guest *hypervisor.Guest) error {
			i := c.snapshot(ref.ID, spec.Name)
			if i < 0 {
				return noSnapshot(ref.ID, spec.Name)
			}
			if c.snapshots[ref.ID][i].Incomplete {
				return fmt.Errorf("guest %d cannot go back to the incomplete snapshot %s", ref.ID, spec.Name)
			}
			status := hypervisor.GuestStopped
			if spec.Start || c.snapshots[ref.ID][i].Memory {
				status = hypervisor.GuestRunning
			}
			c.setStatus(guest, status)
			c.began[ref.ID] = time.Now()
			c.origins[ref.ID] = spec.Name
			return nil
		}}, nil
	})
}

// ChangeSnapshots edits a guest's snapshots, the oldest first, such as to leave an incomplete one.
func (c *Cluster) ChangeSnapshots(id int64, edit func([]hypervisor.Snapshot) []hypervisor.Snapshot) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.snapshots[id] = edit(c.snapshots[id])
}

// snapshot is the place of a guest's snapshot, or -1; it needs the lock.
func (c *Cluster) snapshot(id int64, name string) int {
	return slices.IndexFunc(c.snapshots[id], func(s hypervisor.Snapshot) bool { return s.Name == name })
}

func noSnapshot(id int64, name string) error {
	return plugin.Errorf(plugin.NotFound, "guest %d has no snapshot %.80q", id, name)
}
