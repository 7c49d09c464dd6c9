package pvesim

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// reservedSnapshotName reports whether a name stands for something else in a configuration file.
func reservedSnapshotName(name string) bool {
	return name == "current" || strings.ToLower(name) == "pending"
}

// takeSnapshot answers with a task even when there is no such guest.
func takeSnapshot(r *request) (result, *apiError) {
	name := r.values.text("snapname")
	if reservedSnapshotName(name) {
		return fail(failure("unable to use snapshot name '%s' (reserved name)", name))
	}
	description, memory := strings.TrimRight(r.values.text("description"), "\n"), r.values.boolean("vmstate", false)
	return r.guestTask(guestWork{
		action: "snapshot", lock: lockSnapshot,
		ready: func(t *task, g *guest) (time.Duration, error) {
			if g.Template {
				return 0, errors.New("you can't take a snapshot if it's a template")
			}
			if g.snapshots[name] != nil {
				return 0, fmt.Errorf("snapshot name '%s' already used", name)
			}
			if err := r.c.snapshotFeature(g); err != nil {
				return 0, err
			}
			s := g.newSnapshot(name, description, t.began)
			s.memory, s.state = memory && g.running(), "prepare" // the state of a machine that is off is not asked for
			if s.memory {
				t.log = append(t.log, logLine{t.began, "saving VM state and RAM using storage '" + g.stateStorage() + "'"})
			}
			t.failSnapshot(g)
			return 0, nil
		},
		apply: func(t *task, g *guest, now time.Time) {
			s := g.snapshots[name]
			if s.memory {
				seconds, saved := int64(now.Sub(s.taken).Seconds()), float64(g.figures(now).mem)/float64(mebibyte)
				t.log = append(t.log, logLine{now, fmt.Sprintf("completed saving the VM state in %ds, saved %.2f MiB", seconds, saved)})
			}
			r.c.logVolumeSnapshots(t, g, s, now)
			s.state, g.parent = "", name
		},
		undo: func(t *task, g *guest, now time.Time) {
			t.log = append(t.log, logLine{now, "snapshot create failed: starting cleanup"})
			delete(g.snapshots, name)
		},
	})
}

// newSnapshot keeps the guest's present configuration under a name. Its parent is what the present state comes from.
func (g *guest) newSnapshot(name, description string, taken time.Time) *snapshot {
	s := &snapshot{name: name, description: description, parent: g.parent, taken: taken, spec: g.GuestSpec, volume: g.volume}
	g.snapshots[name] = s
	return s
}

// failSnapshot lets the task fail as the guest's description says.
func (t *task) failSnapshot(g *guest) {
	if g.SnapshotError != "" {
		t.failure = errors.New(g.SnapshotError)
	}
}

// logVolumeSnapshots writes what each volume's storage says.
func (c *Cluster) logVolumeSnapshots(t *task, g *guest, s *snapshot, now time.Time) {
	for _, v := range g.volumes() {
		if g.Type == QEMU {
			t.log = append(t.log, logLine{now, fmt.Sprintf("snapshotting 'drive-%s' (%s)", v.key, v.id)})
		}
		if st := c.storageByID(v.storage); st != nil && st.plugin == "lvmthin" {
			_, name, _ := strings.Cut(v.id, ":")
			t.log = append(t.log, logLine{now, fmt.Sprintf("  Logical volume \"snap_%s_%s\" created.", name, s.name)})
		}
	}
}

// rollbackSnapshot stops the guest at the beginning. At the end one whose snapshot has the state of the running machine runs
// again; another one is started, by a task of its own, when that was asked for.
func rollbackSnapshot(r *request) (result, *apiError) {
	name, start := r.values.text("snapname"), r.values.boolean("start", false)
	return r.guestTask(guestWork{
		action: "rollback", lock: lockRollback,
		ready: func(t *task, g *guest) (time.Duration, error) {
			s := g.snapshots[name]
			switch {
			case g.Template:
				return 0, errors.New("you can't rollback if vm is a template")
			case s == nil:
				return 0, errors.New(noSnapshot(name))
			}
			if err := r.c.rollbackPossible(g, s); err != nil {
				return 0, err
			}
			if s.state != "" {
				return 0, fmt.Errorf("unable to rollback to incomplete snapshot (snapstate = %s)", s.state)
			}
			g.halt(t.began)
			t.failSnapshot(g)
			return 0, nil
		},
		apply: func(_ *task, g *guest, now time.Time) {
			s := g.snapshots[name]
			g.restore(s)
			switch {
			case s.memory:
				g.boot(r.c, now)
			case start:
				r.c.addTask(r.node, r.who, taskPrefix(r.kind)+"start", strconv.Itoa(g.VMID), r.newGuestTask(r.startWork()), now)
			}
		},
	})
}

// rollbackPossible refuses what a ZFS pool cannot do: roll back behind a later snapshot.
func (c *Cluster) rollbackPossible(g *guest, s *snapshot) error {
	for _, v := range g.volumes() {
		if st := c.storageByID(v.storage); st == nil || st.plugin != "zfspool" {
			continue
		}
		for _, later := range g.snapshots {
			if later.taken.After(s.taken) {
				return fmt.Errorf("can't rollback, '%s' is not most recent snapshot on '%s'", s.name, v.id)
			}
		}
	}
	return nil
}

// restore takes the configuration of a snapshot. What is no part of the configuration stays.
func (g *guest) restore(s *snapshot) {
	then := s.spec
	then.VMID, then.Type, then.Node, then.Pool = g.VMID, g.Type, g.Node, g.Pool
	then.Status, then.Lock, then.HAManaged, then.IgnoreShutdown = g.Status, g.Lock, g.HAManaged, g.IgnoreShutdown
	then.Warnings, then.TaskLines, then.SnapshotError, then.BackupError = g.Warnings, g.TaskLines, g.SnapshotError, g.BackupError
	then.HotplugErrors, then.Interfaces = g.HotplugErrors, g.Interfaces
	g.GuestSpec, g.volume, g.parent = then, s.volume, s.name
}

// deleteSnapshot gives the children of the snapshot to its parent. With force it forgets the snapshot even when the storage
// does not delete it; without, such a guest stays locked.
func deleteSnapshot(r *request) (result, *apiError) {
	name, force := r.values.text("snapname"), r.values.boolean("force", false)
	return r.guestTask(guestWork{
		action: "delsnapshot", lock: lockSnapshotDelete,
		ready: func(t *task, g *guest) (time.Duration, error) {
			if g.Template {
				return 0, errors.New("you can't delete a snapshot if vm is a template")
			}
			s := g.snapshots[name]
			if s == nil {
				return 0, errors.New(noSnapshot(name))
			}
			s.state = "delete"
			switch {
			case g.SnapshotError == "":
			case force:
				t.log = append(t.log, logLine{t.began, g.SnapshotError})
			default:
				t.failSnapshot(g)
			}
			return 0, nil
		},
		apply: func(_ *task, g *guest, _ time.Time) { g.forget(name) },
	})
}

// forget takes a snapshot out of the tree.
func (g *guest) forget(name string) {
	parent := g.snapshots[name].parent
	delete(g.snapshots, name)
	for _, s := range g.snapshots {
		if s.parent == name {
			s.parent = parent
		}
	}
	if g.parent == name {
		g.parent = parent
	}
}
