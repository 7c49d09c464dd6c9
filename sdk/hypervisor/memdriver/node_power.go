package memdriver

import (
	"context"
	"slices"
	"time"

	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// Power describes how a node reacts to a reboot or a shutdown.
type Power struct {
	// Down is how long it still answers, and Away how long a reboot takes then;
	// zero is the cluster's time of a task each.
	Down, Away time.Duration
	// Stays is true for a node that never goes down, Lost for one that never comes back.
	Stays, Lost bool
}

// power is the state of one node.
type power struct {
	Power
	// down and up are when the node stops to answer and answers again; zero is
	// never. told says that it was told to.
	told     bool
	down, up time.Time
	commands []hypervisor.PowerCommand
}

// SetPower sets how a node reacts from now on, and forgets earlier commands.
func (c *Cluster) SetPower(node string, behaviour Power) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.power[node] = &power{Power: behaviour}
}

// PowerOn switches on a node that is off.
func (c *Cluster) PowerOn(node string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.powerOf(node).up = time.Now()
}

// PowerCommands returns the commands that a node has accepted, the oldest first.
func (c *Cluster) PowerCommands(node string) []hypervisor.PowerCommand {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.powerOf(node).commands)
}

// powerOf returns the state of a node. The caller holds the lock.
func (c *Cluster) powerOf(node string) *power {
	p := c.power[node]
	if p == nil {
		p = &power{}
		c.power[node] = p
	}
	return p
}

// away reports whether a node does not answer now. The caller holds the lock.
func (c *Cluster) away(node string) bool {
	p, now := c.power[node], time.Now()
	return p != nil && p.told && !p.down.IsZero() && now.After(p.down) && (p.up.IsZero() || now.Before(p.up))
}

// uptime returns how many seconds a node has been up. A node that was never
// rebooted has been up for an hour.
func (c *Cluster) uptime(node string) (int64, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.away(node) {
		return 0, plugin.Errorf(plugin.Unreachable, "node %s is offline", node)
	}
	if p := c.power[node]; p != nil && !p.up.IsZero() && time.Now().After(p.up) {
		return int64(time.Since(p.up).Seconds()), nil
	}
	return 3600, nil
}

// PowerNode implements hypervisor.NodePowerManager. It does not change the guests.
func (h *Host) PowerNode(ctx context.Context, node string, command hypervisor.PowerCommand) error {
	if !slices.Contains(hypervisor.PowerCommands(), command) {
		return plugin.Errorf(plugin.Unsupported, "unknown command %.80q", command)
	}
	c, privileges, err := h.begin(ctx, "powernode")
	if err != nil {
		return err
	}
	if !slices.Contains(c.nodes, node) {
		return plugin.Errorf(plugin.NotFound, "node %.80q not found", node)
	}
	if err := require(privileges, NodePower, "/nodes/"+node); err != nil {
		return err
	}
	if err := c.tell(node, command); err != nil {
		return err
	}
	if fault := c.fault("powernode"); fault.Late {
		return fault.apply(ctx, h.target)
	}
	return nil
}

// tell gives a node a command.
func (c *Cluster) tell(node string, command hypervisor.PowerCommand) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.away(node) {
		return plugin.Errorf(plugin.Unreachable, "node %s is offline", node)
	}
	p := c.powerOf(node)
	p.commands = append(p.commands, command)
	p.told, p.down, p.up = true, time.Time{}, time.Time{}
	if !p.Stays {
		p.down = time.Now().Add(max(p.Down, c.taskTime))
		if command == hypervisor.PowerReboot && !p.Lost {
			p.up = p.down.Add(max(p.Away, c.taskTime))
		}
	}
	return nil
}
