package pvesim

import (
	"fmt"
	"slices"
	"sync/atomic"
	"time"
)

// node is one machine of the cluster. Its fields are guarded by the cluster's
// mutex, save where a type guards itself.
type node struct {
	cluster *Cluster
	name    string
	index   int
	id      int // corosync node id, 0 on a standalone host
	ip      string
	cores   int
	memory  int64
	disk    int64
	online  atomic.Bool
	cert    certificate
	nextPID uint32
	booted  time.Time
	version string // of its package, where that is not the cluster's
	power   NodePower
	// file is the file of interfaces that is in force, staged what is not yet:
	// nil where nothing is. before is what was in force before the last apply.
	// links are the physical interfaces, with their other names; none is what
	// the file calls so.
	file           string
	staged, before *string
	links          map[string][]string
	apply          NetworkApply
	firewallLog    []string // lines, the oldest first
}

// Units of sizes.
const (
	gibibyte = int64(1) << 30
	mebibyte = int64(1) << 20
)

// addNode adds a node with its certificate.
func (c *Cluster) addNode(index int) (*node, error) {
	n := &node{
		cluster: c,
		name:    fmt.Sprintf("%s%d", c.opts.NodePrefix, index+1),
		index:   index,
		ip:      c.nodeAddress(index),
		cores:   16,
		memory:  64 * gibibyte,
		disk:    400 * gibibyte,
		nextPID: 900 + c.rand.Uint32N(400),
		booted:  c.clock.now().Add(-72*time.Hour - time.Duration(index)*time.Minute),
	}
	if c.opts.Scenario == ScenarioCluster {
		n.id = index + 1
	}
	n.file = firstInterfaces(n.ip)
	n.online.Store(true)
	if err := n.cert.renew(n.name, n.ip); err != nil {
		return nil, err
	}
	c.nodes = append(c.nodes, n)
	return n, nil
}

// nodeAddress is what the cluster knows as a node's address: one of a network
// that nobody has, or where it listens.
func (c *Cluster) nodeAddress(index int) string {
	if c.opts.Loopbacks {
		return fmt.Sprintf("127.0.%d.%d", index/240, 1+index%240)
	}
	return fmt.Sprintf("10.99.%d.%d", index/240, 10+index%240)
}

// SetNodeOnline switches a node off or on. An offline node refuses connections,
// requests for it through another node fail with 595 or 596, its guests stop
// running and stay listed as unknown. Its running tasks are lost.
func (c *Cluster) SetNodeOnline(name string, online bool) error {
	c.mu.Lock()
	n := c.nodeByName(name)
	if n == nil {
		c.mu.Unlock()
		return fmt.Errorf("no node %q", name)
	}
	if n.online.Swap(online) != online {
		c.settle()
		c.changed()
		if online {
			n.booted = c.clock.now()
		} else {
			c.tasks.lose(c, name)
			for _, g := range c.guests {
				if g.node == name && g.running() {
					g.halt(c.clock.now())
				}
			}
		}
	}
	c.mu.Unlock()
	if !online {
		c.server.dropConnections(name)
	}
	return nil
}

// takePID hands out the next process id of the node.
func (n *node) takePID() uint32 {
	n.nextPID += 1 + n.cluster.rand.Uint32N(40)
	if n.nextPID > 4_000_000 {
		n.nextPID = 1000
	}
	return n.nextPID
}

// ticksSinceBoot is the process start time in hundredths of a second, as UPIDs carry it.
func (n *node) ticksSinceBoot(now time.Time) uint64 {
	ticks := uint64(now.Sub(n.booted) / (10 * time.Millisecond))
	if n.cluster.opts.LongPStart {
		ticks += 1 << 32
	}
	return ticks
}

// SetNodeAddress gives a node another address in the cluster; an empty one is
// that of a node whose name nothing resolves.
func (c *Cluster) SetNodeAddress(name, ip string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.nodeByName(name)
	if n == nil {
		return fmt.Errorf("no node %q", name)
	}
	n.ip = ip
	return nil
}

// AddNode lets another machine join the cluster, and gives its name. No port of
// its own is opened for it.
func (c *Cluster) AddNode() (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.settle()
	index := 0
	for _, n := range c.nodes {
		index = max(index, n.index+1)
	}
	n, err := c.addNode(index)
	if err != nil {
		return "", err
	}
	c.changed()
	return n.name, nil
}

// RemoveNode takes a node out of the cluster. Guests on it stay listed, and
// nobody knows their state.
func (c *Cluster) RemoveNode(name string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.settle()
	before := len(c.nodes)
	c.nodes = slices.DeleteFunc(c.nodes, func(n *node) bool { return n.name == name })
	if len(c.nodes) == before {
		return fmt.Errorf("no node %q", name)
	}
	c.changed()
	return nil
}

// changed voids what was made of the cluster's state before.
func (c *Cluster) changed() {
	c.generation++
	c.broadcast.stale = true
}

// SetExtraVotes adds votes that nobody casts to those that a majority is counted of.
func (c *Cluster) SetExtraVotes(votes int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.extraVotes = votes
}

// noQuorum is how whatever makes, starts, copies or moves a guest is refused without a quorum.
func noQuorum() *apiError { return failure("cluster not ready - no quorum?") }

// quorate reports whether a majority of the votes, one for each node, is online.
func (c *Cluster) quorate() bool {
	online := 0
	for _, n := range c.nodes {
		if n.online.Load() {
			online++
		}
	}
	return online*2 > len(c.nodes)+c.extraVotes
}
