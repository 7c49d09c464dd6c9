package pvesim

import (
	"fmt"
	"strings"
	"time"
)

// SnapshotSpec describes a snapshot for [Cluster.AddSnapshot]. Zero values take defaults.
type SnapshotSpec struct {
	Name        string // two letters, digits, - or _ at least, the first a letter
	Description string
	// Parent is the snapshot that it comes from, default: the one that the
	// guest's present state comes from.
	Parent string
	// Taken is when it was taken, default now.
	Taken time.Time
	// Memory adds the state of the running machine; virtual machines only.
	Memory bool
	// Incomplete is one of which the taking has not been finished.
	Incomplete bool
}

// AddSnapshot takes a snapshot at once, without a task; the guest's present
// state comes from it afterwards. The guest may be off even when the snapshot
// has the state of the running machine. The error says what of the description
// does not fit.
func (c *Cluster) AddSnapshot(vmid int, s SnapshotSpec) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.settle()
	return c.addSnapshot(vmid, s)
}

// addSnapshot adds a snapshot without a task.
func (c *Cluster) addSnapshot(vmid int, s SnapshotSpec) error {
	g := c.guests[vmid]
	switch {
	case g == nil:
		return fmt.Errorf("no guest %d", vmid)
	case !configIDPattern.MatchString(s.Name) || len(s.Name) > 40 || reservedSnapshotName(s.Name):
		return fmt.Errorf("snapshot name %q is not allowed", s.Name)
	case g.snapshots[s.Name] != nil:
		return fmt.Errorf("guest %d has a snapshot %q", vmid, s.Name)
	case s.Parent != "" && g.snapshots[s.Parent] == nil:
		return fmt.Errorf("guest %d has no snapshot %q", vmid, s.Parent)
	case s.Memory && g.Type != QEMU:
		return fmt.Errorf("a snapshot of a container has no state of a running machine")
	}
	if err := c.snapshotFeature(g); err != nil {
		return fmt.Errorf("guest %d: %w", vmid, err)
	}
	if s.Taken.IsZero() {
		s.Taken = c.clock.now()
	}
	taken := g.newSnapshot(s.Name, strings.TrimRight(s.Description, "\n"), s.Taken)
	taken.memory = s.Memory
	if s.Incomplete {
		taken.state = "prepare"
	}
	if s.Parent != "" {
		taken.parent = s.Parent
	}
	g.parent = s.Name
	c.generation++
	return nil
}

// Snapshots lists a guest's snapshots, the oldest first; nil for an unknown guest.
func (c *Cluster) Snapshots(vmid int) []SnapshotSpec {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.settle()
	g := c.guests[vmid]
	if g == nil {
		return nil
	}
	var out []SnapshotSpec
	for _, s := range g.sortedSnapshots() {
		out = append(out, SnapshotSpec{Name: s.name, Description: s.description, Parent: s.parent, Taken: s.taken, Memory: s.memory,
			Incomplete: s.state != ""})
	}
	return out
}
