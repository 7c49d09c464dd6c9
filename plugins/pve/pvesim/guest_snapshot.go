package pvesim

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Locks that stand in a guest's configuration while a task works on its snapshots.
const (
	lockSnapshot       = "snapshot"
	lockRollback       = "rollback"
	lockSnapshotDelete = "snapshot-delete"
)

// snapshot is one snapshot of a guest, with the configuration of its time.
type snapshot struct {
	name        string
	description string
	parent      string // empty for a root of the tree
	taken       time.Time
	memory      bool   // with the state of the running machine
	state       string // "prepare" while it is taken, "delete" while it is deleted, otherwise empty
	spec        GuestSpec
	volume      string
}

// snapshotEndpoints serves snapshots.
func snapshotEndpoints() []*endpoint {
	return slices.Concat(
		serveGuests("GET", "/snapshot", listSnapshots),
		serveGuests("POST", "/snapshot", takeSnapshot),
		serveGuests("GET", "/snapshot/{snapname}", listSnapshotCommands),
		serveGuests("DELETE", "/snapshot/{snapname}", deleteSnapshot),
		serveGuests("GET", "/snapshot/{snapname}/config", readSnapshotConfig),
		serveGuests("PUT", "/snapshot/{snapname}/config", updateSnapshotConfig),
		serveGuests("POST", "/snapshot/{snapname}/rollback", rollbackSnapshot),
	)
}

// noSnapshot returns the text of the error of an unknown snapshot.
func noSnapshot(name string) string { return "snapshot '" + name + "' does not exist" }

// sortedSnapshots lists a guest's snapshots, the oldest first.
func (g *guest) sortedSnapshots() []*snapshot {
	list := make([]*snapshot, 0, len(g.snapshots))
	for _, s := range g.snapshots {
		list = append(list, s)
	}
	slices.SortFunc(list, func(a, b *snapshot) int { return cmp.Or(a.taken.Compare(b.taken), strings.Compare(a.name, b.name)) })
	return list
}

// describe is a snapshot's description as it is read back: of a container's it ends with a newline.
func (g *guest) describe(s *snapshot) string {
	if g.Type == LXC && s.description != "" {
		return s.description + "\n"
	}
	return s.description
}

// listSnapshots has a row for the present state at its end.
func listSnapshots(r *request) (result, *apiError) {
	g, err := r.guestOf()
	if err != nil {
		return fail(err)
	}
	rows := []map[string]any{}
	for _, s := range g.sortedSnapshots() {
		row := map[string]any{"name": s.name, "snaptime": s.taken.Unix(), "description": g.describe(s)}
		if g.Type == QEMU {
			row["vmstate"] = oneOrZero(s.memory)
		}
		if s.parent != "" {
			row["parent"] = s.parent
		}
		if s.state != "" {
			row["snapstate"] = s.state
		}
		rows = append(rows, row)
	}
	current := map[string]any{"name": "current", "description": "You are here!", "digest": g.digest(), "running": oneOrZero(g.running())}
	if g.parent != "" {
		current["parent"] = g.parent
	}
	return ok(append(rows, current))
}

// listSnapshotCommands looks at neither the guest nor the snapshot.
func listSnapshotCommands(*request) (result, *apiError) {
	return ok([]map[string]any{{"cmd": "rollback"}, {"cmd": "config"}})
}

// snapshotOfPath returns the guest and the snapshot in the path of a request.
func (r *request) snapshotOfPath() (*guest, *snapshot, *apiError) {
	g, err := r.guestOf()
	if err != nil {
		return nil, nil, err
	}
	s := g.snapshots[r.values.text("snapname")]
	if s == nil {
		return nil, nil, failure("%s", noSnapshot(r.values.text("snapname")))
	}
	return g, s, nil
}

// snapshotConfig is the section of the configuration file that holds a snapshot.
func (g *guest) snapshotConfig(s *snapshot) map[string]any {
	then := *g
	then.GuestSpec, then.volume, then.parent = s.spec, s.volume, s.parent
	then.Lock = ""
	cfg := then.config()
	delete(cfg, "description")
	cfg["snaptime"] = s.taken.Unix()
	if s.description != "" {
		cfg["description"] = g.describe(s)
	}
	if s.state != "" {
		cfg["snapstate"] = s.state
	}
	if s.memory {
		cfg["vmstate"] = fmt.Sprintf("%s:vm-%d-state-%s", then.stateStorage(), g.VMID, s.name)
		cfg["runningmachine"] = "pc-i440fx-10.1+pve0"
		cfg["runningcpu"] = "kvm64,enforce,+kvm_pv_eoi,+kvm_pv_unhalt,+lahf_lm,+sep"
	}
	return cfg
}

// readSnapshotConfig returns the configuration that a snapshot has kept.
func readSnapshotConfig(r *request) (result, *apiError) {
	g, s, err := r.snapshotOfPath()
	if err != nil {
		return fail(err)
	}
	return ok(g.snapshotConfig(s))
}

// updateSnapshotConfig changes the description; nothing else of a snapshot can be changed.
func updateSnapshotConfig(r *request) (result, *apiError) {
	g, err := r.guestOf()
	if err != nil {
		return fail(err)
	}
	if lockErr := g.checkLock(); lockErr != nil {
		return fail(failure("%v", lockErr))
	}
	_, s, err := r.snapshotOfPath()
	if err != nil {
		return fail(err)
	}
	if r.values.has("description") {
		s.description = strings.TrimRight(r.values.text("description"), "\n")
		r.c.generation++
	}
	return ok(nil)
}
