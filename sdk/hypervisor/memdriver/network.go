package memdriver

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// network is the network of one node. The cluster's lock protects it.
type network struct {
	current []hypervisor.Interface
	// staged is nil where nothing is.
	staged []hypervisor.Interface
	// cuts says that an apply cuts the node off, and away that it is.
	cuts, away bool
	// before is what was in force before the last apply, and task that of it.
	before []hypervisor.Interface
	task   *task
}

// network returns the network of a node. It begins with one bridge for each
// name of the cluster; the first one has the node's address. The caller holds
// the lock.
func (c *Cluster) network(node string) *network {
	if n := c.networks[node]; n != nil {
		return n
	}
	index := slices.Index(c.nodes, node)
	if index < 0 {
		return nil
	}
	n := &network{current: []hypervisor.Interface{
		{Name: "eth0", Type: hypervisor.InterfaceNIC, Active: true}, {Name: "eth1", Type: hypervisor.InterfaceNIC, Active: true},
	}}
	for i, name := range c.bridges {
		bridge := hypervisor.Interface{Name: name, Type: hypervisor.InterfaceBridge, Active: true, Autostart: true}
		if i == 0 {
			bridge.CIDR, bridge.Gateway = c.nodeAddress(index)+"/24", "192.0.2.1"
			bridge.Ports = []string{"eth0"}
		}
		n.current = append(n.current, bridge)
	}
	if c.networks == nil {
		c.networks = map[string]*network{}
	}
	c.networks[node] = n
	return n
}

// SetNetwork gives a node other interfaces, with nothing staged.
func (c *Cluster) SetNetwork(node string, interfaces ...hypervisor.Interface) {
	c.mu.Lock()
	defer c.mu.Unlock()
	*c.network(node) = network{current: interfaces}
}

// CutByApply sets whether the next apply on a node cuts it off: the apply
// succeeds, and nothing about the node's network can be asked afterwards. False
// connects it again.
func (c *Cluster) CutByApply(node string, cuts bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.network(node)
	n.cuts, n.away = cuts, false
}

// UndoApply does what the machine of a node does by itself, or somebody at its
// console: the network before the last apply is in force again, and the node is
// connected.
func (c *Cluster) UndoApply(node string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.network(node)
	n.away, n.current = false, slices.Clone(n.before)
	if n.task != nil && n.task.Status == hypervisor.TaskRunning {
		n.task.end(hypervisor.TaskOK, "OK")
	}
}

// StagedDiff returns the diff of the staged configuration of a node; empty if there
// is none.
func (c *Cluster) StagedDiff(node string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.network(node).diff()
}

// diff returns the difference between the staged configuration and the one in
// force.
func (n *network) diff() string {
	if n.staged == nil {
		return ""
	}
	var b strings.Builder
	line := func(sign string, i hypervisor.Interface) {
		i.Active = false
		text, err := json.Marshal(i)
		if err != nil {
			panic(err) // plain values
		}
		_, _ = fmt.Fprintf(&b, "%s%s\n", sign, text)
	}
	for _, i := range n.current {
		if now := interfaceIn(n.staged, i.Name); now == nil || !sameInterface(*now, i) {
			line("-", i)
		}
	}
	for _, i := range n.staged {
		if was := interfaceIn(n.current, i.Name); was == nil || !sameInterface(*was, i) {
			line("+", i)
		}
	}
	return b.String()
}

// sameInterface reports whether two interfaces have the same configuration.
func sameInterface(a, b hypervisor.Interface) bool {
	a.Active, b.Active = false, false
	x, _ := json.Marshal(a) // plain values
	y, _ := json.Marshal(b)
	return string(x) == string(y)
}

// interfaceIn returns the interface with a name, or nil.
func interfaceIn(all []hypervisor.Interface, name string) *hypervisor.Interface {
	if i := slices.IndexFunc(all, func(i hypervisor.Interface) bool { return i.Name == name }); i >= 0 {
		return &all[i]
	}
	return nil
}

// changeNetwork runs every call about a node's network. do is called with the lock.
func (h *Host) changeNetwork(ctx context.Context, method, privilege, node string, do func(c *Cluster, n *network) error) error {
	c, privileges, err := h.begin(ctx, method)
	if err != nil {
		return err
	}
	if err := require(privileges, privilege, "/nodes/"+node); err != nil {
		return err
	}
	c.mu.Lock()
	n := c.network(node)
	switch {
	case n == nil:
		err = plugin.Errorf(plugin.NotFound, "node %.80q not found", node)
	case n.away:
		err = plugin.Errorf(plugin.Unreachable, "node %s does not answer", node)
	default:
		err = do(c, n)
	}
	c.mu.Unlock()
	if err != nil {
		return err
	}
	if fault := c.fault(method); fault.Late {
		return fault.apply(ctx, h.target)
	}
	return nil
}

// NodeNetwork implements hypervisor.NetworkManager.
func (h *Host) NodeNetwork(ctx context.Context, node string) (found hypervisor.NodeNetwork, err error) {
	err = h.changeNetwork(ctx, "nodenetwork", NodeAudit, node, func(_ *Cluster, n *network) error {
		found = hypervisor.NodeNetwork{Interfaces: slices.Clone(n.current), Current: slices.Clone(n.current)}
		if found.Diff = n.diff(); found.Diff != "" {
			found.Interfaces, found.Restore = slices.Clone(n.staged), "restore the network of "+node
			found.Undo = "echo \"$1: the network of " + node + "\"; : >\"$1\""
		}
		return nil
	})
	return found, err
}

// stage returns a copy of the staged configuration, which the caller changes.
func (n *network) stage() []hypervisor.Interface {
	if n.staged != nil {
		return slices.Clone(n.staged)
	}
	return append([]hypervisor.Interface{}, n.current...)
}

// StageInterface implements hypervisor.NetworkManager.
func (h *Host) StageInterface(ctx context.Context, change hypervisor.InterfaceChange) error {
	return h.changeNetwork(ctx, "stageinterface", GuestPower, change.Node, func(_ *Cluster, n *network) error {
		all, want := n.stage(), change.Want
		was := interfaceIn(all, want.Name)
		switch {
		case want.Name == "" || len(want.Name) > 15 || strings.ContainsAny(want.Name, "/ \x00"):
			return invalid("name", "this is not an interface's name")
		case change.Was == nil && was != nil:
			return plugin.Errorf(plugin.Conflict, "interface %s exists already", want.Name)
		case change.Was != nil && was == nil:
			return plugin.Errorf(plugin.NotFound, "interface %s not found", want.Name)
		}
		for _, port := range want.Ports {
			if !slices.ContainsFunc(all, func(i hypervisor.Interface) bool { return i.Name == port || slices.Contains(i.AltNames, port) }) {
				return invalid("ports", "interface %.20q not found", port)
			}
		}
		want.Dynamic, want.Dynamic6 = false, false
		if want.Active = false; was == nil {
			all = append(all, want)
		} else {
			want.Active = was.Active
			*was = want
		}
		n.staged = all
		return nil
	})
}

// StageRemoval implements hypervisor.NetworkManager.
func (h *Host) StageRemoval(ctx context.Context, node, name string) error {
	return h.changeNetwork(ctx, "stageremoval", GuestPower, node, func(_ *Cluster, n *network) error {
		all := n.stage()
		if interfaceIn(all, name) == nil {
			return plugin.Errorf(plugin.NotFound, "interface %.20q not found", name)
		}
		n.staged = slices.DeleteFunc(all, func(i hypervisor.Interface) bool { return i.Name == name })
		return nil
	})
}

// RevertNetwork implements hypervisor.NetworkManager.
func (h *Host) RevertNetwork(ctx context.Context, node string) error {
	return h.changeNetwork(ctx, "revertnetwork", GuestPower, node, func(_ *Cluster, n *network) error {
		n.staged = nil
		return nil
	})
}

// ApplyNetwork implements hypervisor.NetworkManager.
func (h *Host) ApplyNetwork(ctx context.Context, node string) (taskID string, err error) {
	err = h.changeNetwork(ctx, "applynetwork", GuestPower, node, func(c *Cluster, n *network) error {
		t := c.newTask(node, "network_apply", hypervisor.GuestRef{}, h.target.Credential)
		t.Operation = hypervisor.OperationApplyNetwork
		t.add("applying the network of " + node)
		taskID = t.ID
		n.task, n.before = t, slices.Clone(n.current)
		if n.staged != nil {
			n.current, n.staged = n.staged, nil
			for i := range n.current {
				n.current[i].Active = true
			}
		}
		n.away = n.cuts
		time.AfterFunc(c.taskTime, func() {
			c.mu.Lock()
			defer c.mu.Unlock()
			if t.Status == hypervisor.TaskRunning && !n.away {
				t.add("applied")
				t.end(hypervisor.TaskOK, "OK")
			}
		})
		return nil
	})
	return taskID, err
}

// Stage stages an interface without the API, as another administrator would.
func (c *Cluster) Stage(node string, i hypervisor.Interface) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.network(node)
	n.staged = append(slices.DeleteFunc(n.stage(), func(o hypervisor.Interface) bool { return o.Name == i.Name }), i)
}
