package memdriver

import (
	"crypto/sha256"
	"crypto/x509"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// Spec is the size of a new cluster.
type Spec struct {
	// Nodes is at least one.
	Nodes int
	// VMs and Containers are spread over the nodes; their ids count from 100. Every third one is stopped.
	VMs        int
	Containers int
	// Prefix begins the name of every node and guest, so that two clusters can be told apart.
	Prefix string
	// TaskTime is how long an action takes; zero is 10 ms.
	TaskTime time.Duration
	// Forgetful makes the list of tasks forget each as it ends, and say so.
	Forgetful bool
}

// Cluster is one hypervisor endpoint and all behind it.
type Cluster struct {
	address     string
	fingerprint string
	taskTime    time.Duration
	prefix      string
	anyToken    bool
	forgetful   bool

	mu       sync.Mutex
	nodes    []string
	guests   map[int64]*hypervisor.Guest
	began    map[int64]time.Time // when each running guest was started
	nextID   int64
	tokens   map[string]token
	tasks    []*task // oldest first
	sequence int
	faults   map[string]Fault
	// snapshots are those of each guest, the oldest first, and origins the ones that the guests' present states follow.
	snapshots map[int64][]hypervisor.Snapshot
	origins   map[int64]string
}

func newCluster(address string, spec Spec) *Cluster {
	c := &Cluster{
		address: address, taskTime: spec.TaskTime, prefix: spec.Prefix, forgetful: spec.Forgetful,
		guests: map[int64]*hypervisor.Guest{}, began: map[int64]time.Time{}, nextID: 100, tokens: map[string]token{}, faults: map[string]Fault{},
		snapshots: map[int64][]hypervisor.Snapshot{}, origins: map[int64]string{},
	}
	if c.taskTime == 0 {
		c.taskTime = 10 * time.Millisecond
	}
	sum := sha256.Sum256([]byte(address))
	c.fingerprint = endpoint.Fingerprint(&x509.Certificate{Raw: sum[:]})
	for i := range max(spec.Nodes, 1) {
		c.nodes = append(c.nodes, fmt.Sprintf("%snode%d", spec.Prefix, i+1))
	}
	for i := range spec.VMs + spec.Containers {
		kind, status := hypervisor.VM, hypervisor.GuestRunning
		if i >= spec.VMs {
			kind = hypervisor.Container
		}
		if i%3 == 0 {
			status = hypervisor.GuestStopped
		}
		c.newGuest(kind, status)
	}
	for _, capability := range endpoint.Capabilities() {
		c.tokens[tokenID(capability, "")] = token{secret: plugin.Secret("secret-of-" + capability), privileges: needs[capability]}
	}
	return c
}

// Fingerprint is what the endpoint shows.
func (c *Cluster) Fingerprint() string { return c.fingerprint }

// Target is a pinned target with the capability's proper token.
func (c *Cluster) Target(capability endpoint.Capability) endpoint.Target {
	return c.target(capability, "")
}

func (c *Cluster) target(capability endpoint.Capability, suffix string) endpoint.Target {
	c.mu.Lock()
	defer c.mu.Unlock()
	id := tokenID(capability, suffix)
	return endpoint.Target{
		Address: c.address, Fingerprint: c.fingerprint, AllowLocal: true,
		Credential: endpoint.Credential{Capability: capability, TokenID: id, Secret: c.tokens[id].secret},
	}
}

// SetFault makes a method misbehave, "any" for all methods. The zero Fault ends it.
func (c *Cluster) SetFault(method string, fault Fault) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.faults[method] = fault
}

func (c *Cluster) fault(method string) Fault {
	c.mu.Lock()
	defer c.mu.Unlock()
	if k, ok := c.faults[method]; ok {
		return k
	}
	return c.faults["any"]
}

// NewGuest makes a guest in one of the guest states. It leaves the ended task "guest_create", which is no action of ours;
// the guests of a Spec have none.
func (c *Cluster) NewGuest(kind hypervisor.GuestKind, status string) hypervisor.GuestRef {
	c.mu.Lock()
	defer c.mu.Unlock()
	ref := c.newGuest(kind, status).GuestRef
	c.newTask(ref.Node, "guest_create", ref, endpoint.Credential{TokenID: "root@mem"}).end(hypervisor.TaskOK, "OK")
	return ref
}

// Change edits a guest, for example its name, node or lock. It reports whether there was one.
func (c *Cluster) Change(id int64, edit func(*hypervisor.Guest)) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	g, ok := c.guests[id]
	if ok {
		edit(g)
	}
	return ok
}

// Remove takes a guest away.
func (c *Cluster) Remove(id int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.guests, id)
	delete(c.began, id)
	delete(c.snapshots, id)
	delete(c.origins, id)
}

// Nodes names all nodes.
func (c *Cluster) Nodes() []string { return slices.Clone(c.nodes) }

// Guests lists all guests by id.
func (c *Cluster) Guests() []hypervisor.GuestRef {
	c.mu.Lock()
	defer c.mu.Unlock()
	var refs []hypervisor.GuestRef
	for _, id := range slices.Sorted(maps.Keys(c.guests)) {
		refs = append(refs, c.guests[id].GuestRef)
	}
	return refs
}

// newGuest needs the lock.
func (c *Cluster) newGuest(kind hypervisor.GuestKind, status string) *hypervisor.Guest {
	id := c.nextID
	c.nextID++
	g := &hypervisor.Guest{
		GuestRef:    hypervisor.GuestRef{Kind: kind, Node: c.nodes[int(id)%len(c.nodes)], ID: id},
		Name:        fmt.Sprintf("%s%s-%d", c.prefix, kind, id),
		Tags:        []string{"mem"},
		CPUs:        ptr(2.0),
		MemoryTotal: ptr(int64(2 << 30)),
		DiskTotal:   ptr(int64(32 << 30)),
	}
	c.setStatus(g, status)
	c.began[id] = time.Now().Add(-time.Hour) // long before any test
	c.guests[id] = g
	return g
}

// setStatus also sets the figures that only a running guest has. It needs the lock.
func (c *Cluster) setStatus(g *hypervisor.Guest, status string) {
	g.Status = status
	g.CPU, g.Memory, g.Uptime = nil, nil, nil
	g.NetIn, g.NetOut, g.DiskRead, g.DiskWrite = nil, nil, nil, nil
	if status == hypervisor.GuestRunning || status == hypervisor.GuestPaused {
		g.CPU, g.Memory, g.Uptime = ptr(0.25), ptr(int64(1<<30)), ptr(int64(1))
		g.NetIn, g.NetOut = ptr(int64(1000)), ptr(int64(2000))
		g.DiskRead, g.DiskWrite = ptr(int64(3000)), ptr(int64(4000))
	}
}

// present is a guest as it is now. It needs the lock.
func (c *Cluster) present(g *hypervisor.Guest) hypervisor.Guest {
	now := *g
	if g.Uptime != nil {
		now.Uptime = ptr(int64(time.Since(c.began[g.ID]).Seconds()))
	}
	return now
}

func ptr[T any](v T) *T { return &v }
