package pvesim

import (
	"fmt"
	"time"
)

// NodePower is how a node behaves that is told to reboot or to shut down.
type NodePower struct {
	// Down is how long it still answers, while its guests are shut down; zero is 100 ms.
	Down time.Duration
	// Away is how long a reboot takes then; zero is Options.RebootTime.
	Away time.Duration
	// Stays is true for a node that never goes down, Lost for one that does not come back from a reboot.
	Stays, Lost bool
}

// SetNodePower changes how a node behaves when it is told to reboot or to shut down.
func (c *Cluster) SetNodePower(name string, p NodePower) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.nodeByName(name)
	if n == nil {
		return fmt.Errorf("no node %q", name)
	}
	n.power = p
	return nil
}

// powerNode lets the answer out first; then the guests go, then the node. A reboot ends when the clock says so, and guests that are to be
// started at boot are.
func powerNode(r *request) (result, *apiError) {
	c, name, p := r.c, r.node.name, r.node.power
	if p.Stays {
		return ok(nil)
	}
	reboot := r.values.text("command") == "reboot" && !p.Lost
	time.AfterFunc(100*time.Millisecond, func() {
		c.mu.Lock()
		for _, g := range c.guests {
			if g.node == name && g.running() {
				g.halt(c.clock.now())
			}
		}
		c.changed()
		c.mu.Unlock()
		c.server.after(c, p.Down, func() {
			if c.SetNodeOnline(name, false) != nil || !reboot {
				return
			}
			c.server.after(c, orDefault(p.Away, c.opts.RebootTime), func() {
				if c.SetNodeOnline(name, true) == nil {
					c.bootGuests(name)
				}
			})
		})
	})
	return ok(nil)
}

// bootGuests starts those of a node that are to be started at boot.
func (c *Cluster) bootGuests(node string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.settle()
	for _, g := range c.guests {
		if g.node == node && fmt.Sprint(g.Config["onboot"]) == "1" {
			g.boot(c, c.clock.now())
		}
	}
	c.changed()
}
