package pvesim

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// GuestSpec describes a guest for [Cluster.AddGuest]. Zero values take defaults.
type GuestSpec struct {
	VMID   int    // default: the next free one
	Type   string // QEMU (default) or LXC
	Node   string // default: the first node
	Name   string
	Status string // default: stopped
	Pool   string

	Tags     string // separated by ";"
	Lock     string // for example "backup"
	Template bool
	Cores    int    // default 1
	Memory   int64  // bytes, default 512 MiB
	Swap     int64  // bytes, containers only
	Disk     int64  // bytes, default 8 GiB; negative: no disk
	Storage  string // of the disk, default local-lvm

	Agent  bool // QEMU guest agent enabled in the configuration
	Serial bool // QEMU with a serial port
	NoNIC  bool

	// IgnoreShutdown makes the guest deaf to shutdown requests: a shutdown runs
	// into its time limit.
	IgnoreShutdown bool
	// BridgeMissing makes a start fail because the named bridge does not exist on the node.
	BridgeMissing string
	// Warnings makes tasks on this guest end with "WARNINGS: n".
	Warnings int
	// TaskLines adds that many log lines, spread over the run time, to tasks on this guest.
	TaskLines int
	// SnapshotError is what the storage says when a snapshot of the guest is
	// taken, deleted or rolled back to: these tasks fail.
	SnapshotError string
	// BackupError is what goes wrong when the guest is backed up: these tasks fail.
	BackupError string
	// HotplugErrors are, by key of the configuration, why the running guest
	// does not take a change of it.
	HotplugErrors map[string]string
	// Interfaces are what a guest tells of itself while it runs. The agent of a
	// VM without any is silent; a container without any has those of its
	// configuration.
	Interfaces []GuestInterface
	// HAManaged marks the guest as a resource of the high availability manager.
	HAManaged bool
	// Config adds or replaces values in the guest's configuration as GET config
	// shows it; nil takes one out.
	Config map[string]any
	// Pending are changes of the configuration that wait for the next start; nil takes a value out.
	Pending map[string]any
}

// guestNamePattern is the form of a guest's name, a DNS name.
var guestNamePattern = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9.-]{0,253}[A-Za-z0-9])?$`)

// AddGuest creates a guest at once and leaves the finished task of root@pam
// that creating one leaves, qmcreate or vzcreate. Guests of the scenario have
// none: their tasks are no longer in the archive. It returns the guest's id.
func (c *Cluster) AddGuest(s GuestSpec) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.settle()
	vmid, err := c.addGuest(s)
	if err != nil {
		return 0, err
	}
	g := c.guests[vmid]
	c.startTask(c.nodeByName(g.node), identity{user: rootUser}, taskPrefix(g.Type)+"create", strconv.Itoa(vmid), scripted(0, "OK", nil))
	return vmid, nil
}

// addGuest adds a guest without a task. It selects a free ID if none is given.
func (c *Cluster) addGuest(s GuestSpec) (int, error) {
	if s.VMID == 0 {
		s.VMID = c.nextFreeVMID()
	}
	if s.VMID < 100 || s.VMID > 999_999_999 {
		return 0, fmt.Errorf("guest id %d is not in 100 to 999999999", s.VMID)
	}
	if c.guests[s.VMID] != nil {
		return 0, fmt.Errorf("guest %d exists already", s.VMID)
	}
	if s.Type == "" {
		s.Type = QEMU
	}
	if s.Type != QEMU && s.Type != LXC {
		return 0, fmt.Errorf("guest type %q is neither qemu nor lxc", s.Type)
	}
	if s.Node == "" {
		s.Node = c.nodes[0].name
	}
	if c.nodeByName(s.Node) == nil {
		return 0, fmt.Errorf("no node %q", s.Node)
	}
	if s.Name == "" {
		s.Name = fmt.Sprintf("%s%d", map[string]string{QEMU: "vm", LXC: "ct"}[s.Type], s.VMID)
	}
	if !guestNamePattern.MatchString(s.Name) {
		return 0, fmt.Errorf("guest name %q is not a DNS name", s.Name)
	}
	if s.Pool != "" {
		if _, ok := c.pools[s.Pool]; !ok {
			return 0, fmt.Errorf("no pool %q", s.Pool)
		}
	}
	s.Cores = max(s.Cores, 1)
	if s.Memory <= 0 {
		s.Memory = 512 * mebibyte
	}
	if s.Disk == 0 {
		s.Disk = 8 * gibibyte
	}
	s.Disk = max(s.Disk, 0)
	s.Tags = normaliseTags(s.Tags)
	if s.Storage == "" {
		s.Storage = defaultStorage
	}
	if c.storageByID(s.Storage) == nil {
		return 0, fmt.Errorf("no storage %q", s.Storage)
	}
	status := s.Status
	s.Status = StatusStopped
	now := c.clock.now()
	g := &guest{
		GuestSpec: s, node: s.Node, pool: s.Pool, born: now, seed: c.rand.Uint64(), uuid: c.newUUID(), snapshots: map[string]*snapshot{},
	}
	g.volume = c.volumeOf(g)
	c.guests[s.VMID] = g
	c.vmids = nil
	if s.Pool != "" {
		c.accessChanged()
	}
	c.generation++
	if err := c.setGuestStatus(g, status); err != nil {
		delete(c.guests, s.VMID)
		c.vmids = nil
		return 0, err
	}
	if c.building {
		g.born = time.Time{}
		if g.running() {
			g.startedAt = now.Add(-time.Duration(60+c.rand.IntN(200_000)) * time.Second)
		}
	}
	return s.VMID, nil
}

// normaliseTags sorts tags, drops doubles and joins them by ";", as the server does.
func normaliseTags(tags string) string {
	list := strings.FieldsFunc(strings.ToLower(tags), func(r rune) bool { return r == ';' || r == ',' || r == ' ' })
	slices.Sort(list)
	return strings.Join(slices.Compact(list), ";")
}

// nextFreeVMID returns the lowest free ID.
func (c *Cluster) nextFreeVMID() int {
	for id := c.opts.FirstVMID; ; id++ {
		if c.guests[id] == nil {
			return id
		}
	}
}

// ChangeGuest lets f edit a guest's description at once. The id, type and node
// stay; use [Cluster.MigrateGuest] to move it.
func (c *Cluster) ChangeGuest(vmid int, f func(*GuestSpec)) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.settle()
	g := c.guests[vmid]
	if g == nil {
		return fmt.Errorf("no guest %d", vmid)
	}
	s := g.GuestSpec
	s.Pool, s.Node = g.pool, g.node
	f(&s)
	if s.Pool != "" {
		if _, ok := c.pools[s.Pool]; !ok {
			return fmt.Errorf("no pool %q", s.Pool)
		}
	}
	if !guestNamePattern.MatchString(s.Name) {
		return fmt.Errorf("guest name %q is not a DNS name", s.Name)
	}
	if c.storageByID(s.Storage) == nil {
		return fmt.Errorf("no storage %q", s.Storage)
	}
	status := s.Status
	s.VMID, s.Type, s.Status, s.Node = g.VMID, g.Type, g.Status, g.node
	s.Tags = normaliseTags(s.Tags)
	if g.pool != s.Pool {
		g.pool = s.Pool
		c.accessChanged()
	}
	g.GuestSpec = s
	g.volume = c.volumeOf(g)
	c.generation++
	if status != g.Status {
		return c.setGuestStatus(g, status)
	}
	return nil
}

// SetGuestStatus changes a guest's state at once, without a task.
func (c *Cluster) SetGuestStatus(vmid int, status string) error {
	return c.ChangeGuest(vmid, func(s *GuestSpec) { s.Status = status })
}

// RemoveGuest deletes a guest at once.
func (c *Cluster) RemoveGuest(vmid int) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.settle()
	if c.guests[vmid] == nil {
		return fmt.Errorf("no guest %d", vmid)
	}
	delete(c.guests, vmid)
	delete(c.firewalls, FirewallGuest(vmid))
	c.vmids = nil
	c.accessChanged()
	return nil
}

// MigrateGuest moves a guest to another node at once.
func (c *Cluster) MigrateGuest(vmid int, node string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.settle()
	g := c.guests[vmid]
	if g == nil {
		return fmt.Errorf("no guest %d", vmid)
	}
	if c.nodeByName(node) == nil {
		return fmt.Errorf("no node %q", node)
	}
	g.node = node
	c.generation++
	return nil
}

// Guest returns a guest's present description.
func (c *Cluster) Guest(vmid int) (GuestSpec, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.settle()
	g := c.guests[vmid]
	if g == nil {
		return GuestSpec{}, false
	}
	s := g.GuestSpec
	s.Node, s.Pool = g.node, g.pool
	return s, true
}

// GuestConfig is a guest's configuration as GET config shows it; nil when there is no such guest.
func (c *Cluster) GuestConfig(vmid int) map[string]any {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.settle()
	if g := c.guests[vmid]; g != nil {
		return g.config()
	}
	return nil
}

// Guests lists the guests' ids in ascending order.
func (c *Cluster) Guests() []int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.sortedVMIDs())
}

// AddPool creates a pool. Guests join through [GuestSpec.Pool].
func (c *Cluster) AddPool(name, comment string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pools[name] = comment
	c.accessChanged()
}
