package pvesim

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// Guest types as the API spells them.
const (
	QEMU = "qemu"
	LXC  = "lxc"
)

// Guest states that [GuestSpec.Status] and [Cluster.SetGuestStatus] take.
const (
	StatusRunning   = "running"
	StatusStopped   = "stopped"
	StatusPaused    = "paused"    // QEMU only: status running, qmpstatus paused
	StatusSuspended = "suspended" // QEMU only: on disk; status stopped, lock suspended
)

// guest is one virtual machine or container. It is guarded by the cluster's mutex.
type guest struct {
	GuestSpec
	node      string
	pool      string
	startedAt time.Time
	pid       uint32
	born      time.Time // when it was created, for what the broadcast does not know yet
	seed      uint64
	uuid      string
	volume    string // of its disk
	base      int    // the template that its disk is built on, 0 for none
	snapshots map[string]*snapshot
	parent    string // snapshot that the present state comes from
}

// running reports whether the guest has a process.
func (g *guest) running() bool { return g.Status == StatusRunning || g.Status == StatusPaused }

// halt stops the guest at once.
func (g *guest) halt(time.Time) {
	g.Status = StatusStopped
	g.startedAt = time.Time{}
	g.pid = 0
}

// boot starts the guest and puts pending changes into effect.
func (g *guest) boot(c *Cluster, now time.Time) {
	g.Status = StatusRunning
	g.enforce()
	if g.Lock == "suspended" {
		g.Lock = ""
	}
	g.startedAt = now
	if n := c.nodeByName(g.node); n != nil {
		g.pid = n.takePID()
	}
}

// configFile is the guest's configuration file as error texts name it.
func configFile(node, kind string, vmid int) string {
	dir := "qemu-server"
	if kind == LXC {
		dir = "lxc"
	}
	return fmt.Sprintf("nodes/%s/%s/%d.conf", node, dir, vmid)
}

// noConfig returns the text of the error of an unknown guest: the original
// names the missing file.
func noConfig(node, kind string, vmid int) string {
	return "Configuration file '" + configFile(node, kind, vmid) + "' does not exist"
}

// guestOn returns the guest when it is of that type and lives on that node.
func (c *Cluster) guestOn(node, kind string, vmid int) *guest {
	g := c.guests[vmid]
	if g == nil || g.Type != kind || g.node != node {
		return nil
	}
	return g
}

// setGuestStatus changes the state of a guest without a task.
func (c *Cluster) setGuestStatus(g *guest, status string) error {
	now := c.clock.now()
	switch {
	case status == "" || status == StatusStopped:
		g.halt(now)
	case status == StatusRunning:
		if !g.running() {
			g.boot(c, now)
		}
		g.Status = StatusRunning
	case status == StatusPaused && g.Type == QEMU:
		if !g.running() {
			g.boot(c, now)
		}
		g.Status = StatusPaused
	case status == StatusSuspended && g.Type == QEMU:
		g.halt(now)
		g.Lock = "suspended"
	default:
		return fmt.Errorf("a %s guest cannot be %q", g.Type, status)
	}
	c.generation++
	return nil
}

// sortedVMIDs lists all guests; callers do not change the list.
func (c *Cluster) sortedVMIDs() []int {
	if c.vmids == nil {
		c.vmids = slices.Sorted(maps.Keys(c.guests))
	}
	return c.vmids
}
