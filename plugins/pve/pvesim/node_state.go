package pvesim

import (
	"fmt"
	"sync/atomic"
	"time"
)

// node is one machine of the cluster. Its fields are guarded by the cluster's mutex, save where a type guards itself.
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
}

const (
	gibibyte = int64(1) << 30
	mebibyte = int64(1) << 20
)

func (c *Cluster) addNode(index int) (*node, error) {
	n := &node{
		cluster: c,
		name:    fmt.Sprintf("%s%d", c.opts.NodePrefix, index+1),
		index:   index,
		ip:      fmt.Sprintf("10.99.%d.%d", index/240, 10+index%240),
		cores:   16,
		memory:  64 * gibibyte,
		disk:    400 * gibibyte,
		nextPID: 900 + c.rand.Uint32N(400),
		booted:  c.clock.now().Add(-72*time.Hour - time.Duration(index)*time.Minute),
	}
	if c.opts.Scenario == ScenarioCluster {
		n.id = index + 1
	}
	n.online.Store(true)
	if err := n.cert.renew(n.name, n.ip); err != nil {
		return nil, err
	}
	c.nodes = append(c.nodes, n)
	return n, nil
}

// SetNodeOnline switches a node off or on. An offline node refuses connections, requests for it through another
// node fail with 595 or 596, its guests stop running and stay listed as unknown. Its running tasks are lost.
func (c *Cluster) SetNodeOnline(name string, online bool) error {
	c.mu.Lock()
	n := c.nodeByName(name)
	if n == nil {
		c.mu.Unlock()
		return fmt.Errorf("no node %q", name)
	}
	if n.online.Swap(online) != online {
		c.settle()
		c.generation++
		c.broadcast.stale = true
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

// quorate reports whether a majority of the nodes is online.
func (c *Cluster) quorate() bool {
	online := 0
	for _, n := range c.nodes {
		if n.online.Load() {
			online++
		}
	}
	return online*2 > len(c.nodes)
}
