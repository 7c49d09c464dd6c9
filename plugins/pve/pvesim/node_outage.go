package pvesim

import "fmt"

// A node has parts that fail alone. Its proxy (pveproxy) takes every request and does some itself; the rest it hands to
// the privileged daemon (pvedaemon) on the same node. Both need the cluster's file system (pmxcfs) to know who may do
// what.

// fileSystem is the answer of a node whose cluster file system is down.
func (f *faults) fileSystem(node string) *apiError {
	if f.take(faultCall{node: node}, false, FaultFileSystem) == nil {
		return nil
	}
	return serverError(500, "RPCEnvironment init request failed: Unable to load access control list: Connection refused", bodyText)
}

// outage is why the node that is to carry a request out cannot. The privileges have been checked by then, by the proxy.
func (f *faults) outage(r *request, e *endpoint) *apiError {
	if r.node != r.entry {
		if err := f.fileSystem(r.node.name); err != nil {
			return err
		}
	}
	if e.facts().Daemon && f.take(faultCall{node: r.node.name}, false, FaultDaemon) != nil {
		return serverError(595, "Connection refused", bodyNone)
	}
	return nil
}

// SetNodeResolves says whether the other nodes find the address of a node. The name may be that of no member: then
// requests for it fail in the look-up, and not at some other machine of that name.
func (c *Cluster) SetNodeResolves(name string, resolves bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if resolves {
		delete(c.unresolved, name)
		return
	}
	if c.unresolved == nil {
		c.unresolved = map[string]bool{}
	}
	c.unresolved[name] = true
}

// StrandGuest leaves a guest on a node that is no member of the cluster any more: it stays listed, and nobody knows its
// state.
func (c *Cluster) StrandGuest(vmid int, node string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.settle()
	g := c.guests[vmid]
	switch {
	case g == nil:
		return fmt.Errorf("no guest %d", vmid)
	case node == "" || c.nodeByName(node) != nil:
		return fmt.Errorf("%q is not the name of a node that is gone", node)
	}
	g.node = node
	c.changed()
	return nil
}
