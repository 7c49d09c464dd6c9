package pvesim

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"
)

// firstInterfaces is the file of a new node, whose address is on a bridge.
func firstInterfaces(ip string) string {
	gateway := strings.Split(ip, ".")
	return "auto lo\niface lo inet loopback\n\niface eno1 inet manual\n\niface eno2 inet manual\n\nauto vmbr0\niface vmbr0 inet static\n" +
		"\taddress " + ip + "/24\n\tgateway " + strings.Join(append(gateway[:3], "1"), ".") +
		"\n\tbridge-ports eno1\n\tbridge-stp off\n\tbridge-fd 0\n\nsource /etc/network/interfaces.d/*\n"
}

// pending is what the API shows and changes.
func (n *node) pending() *interfaces {
	if n.staged != nil {
		return parseInterfaces(*n.staged, n.links)
	}
	return n.inForce()
}

// inForce is what the node has set up.
func (n *node) inForce() *interfaces { return parseInterfaces(n.file, n.links) }

// row is an interface as the API shows it.
func (n *node) row(i *iface) map[string]any {
	row := map[string]any{"iface": i.name, "type": i.kind}
	families := make([]any, 0, len(i.families))
	for _, f := range i.families {
		if f == "" {
			families = append(families, nil) // a part that names none
		} else {
			families = append(families, f)
		}
	}
	row["families"] = families
	for key, value := range i.options {
		if key == "bridge_vlan_aware" {
			row[key] = 1
		} else {
			row[key] = value
		}
	}
	for key, lines := range i.lines {
		row[key] = lines
	}
	if i.priority > 0 {
		row["priority"] = i.priority
	}
	if i.autostart {
		row["autostart"] = 1
	}
	switch {
	case i.exists != nil:
		row["exists"] = *i.exists
	case i.kind == "vlan", i.kind == "alias":
		row["exists"] = nil
	}
	if physical(i.name, n.links) || n.inForce().named(i.name) != nil {
		row["active"] = 1
	}
	if names := n.otherNames(i.name); len(names) > 0 {
		row["altnames"] = names
	}
	return row
}

// otherNames are the other names of what is called so, in order.
func (n *node) otherNames(name string) []string {
	for link, others := range n.links {
		all := append([]string{link}, others...)
		if slices.Contains(all, name) {
			all = slices.DeleteFunc(all, func(o string) bool { return o == name })
			slices.Sort(all)
			return all
		}
	}
	return nil
}

// vlanOf is what a VLAN is on, and its tag, by its name where nothing else says it.
func vlanOf(i *iface) (device, tag string) {
	if m := vlanName.FindStringSubmatch(i.name); m != nil {
		return m[1], m[2]
	}
	if m := vlanNumber.FindStringSubmatch(i.name); m != nil {
		return i.options["vlan-raw-device"], m[1]
	}
	return i.options["vlan-raw-device"], i.options["vlan-id"]
}

// changes is the diff between the file and the staged one.
func (n *node) changes(now time.Time) string {
	if n.staged == nil {
		return ""
	}
	lines := func(text string) []string { return strings.Split(strings.TrimSuffix(text, "\n"), "\n") }
	hunks := unified(lines(n.file), lines(*n.staged))
	if hunks == "" {
		return ""
	}
	const stamp = "2006-01-02 15:04:05.000000000 -0700"
	return "--- /etc/network/interfaces\t" + n.booted.Format(stamp) + "\n+++ /etc/network/interfaces.new\t" + now.Format(stamp) + "\n" + hunks
}

// reachable reports whether the node has its address on something that comes up and leads out of it.
func (n *node) reachable() bool {
	f := n.inForce()
	for _, i := range f.all {
		for _, cidr := range []string{i.options["cidr"], i.options["cidr6"]} {
			p, err := netip.ParsePrefix(cidr)
			if err == nil && p.Addr().String() == n.ip && i.autostart && n.leadsOut(f, i.name, 0) {
				return true
			}
		}
	}
	return false
}

// leadsOut reports whether an interface has a physical one below it.
func (n *node) leadsOut(f *interfaces, name string, depth int) bool {
	i := f.named(name)
	for _, other := range n.otherNames(name) {
		if i == nil {
			i = f.named(other)
		}
	}
	if i == nil || depth > 8 {
		return false
	}
	below := slices.Concat(i.ports("bridge_ports"), i.ports("slaves"), i.ports("ovs_ports"), i.ports("ovs_bonds"))
	switch device, _ := vlanOf(i); i.kind {
	case "eth", "OVSPort":
		return true
	case "vlan":
		below = append(below, device)
	case "alias":
		below = append(below, aliasName.FindStringSubmatch(name)[1])
	case "OVSIntPort":
		below = append(below, i.options["ovs_bridge"])
	}
	return slices.ContainsFunc(below, func(o string) bool {
		return o != name && (f.named(o) == nil || f.named(o).kind != "OVSIntPort") && n.leadsOut(f, o, depth+1)
	})
}

// RestoreNetwork is what somebody does at the node's console: what was in force before the last apply is so again, and faults that refuse
// connections to the node end.
func (c *Cluster) RestoreNetwork(name string) error {
	c.mu.Lock()
	n := c.nodeByName(name)
	if n == nil {
		c.mu.Unlock()
		return fmt.Errorf("no node %q", name)
	}
	if n.before != nil {
		n.file = *n.before
	}
	c.mu.Unlock()
	for _, f := range c.Faults() {
		if f.Kind == FaultRefuse && f.Match.Node == name {
			c.ClearFaults(f.ID)
		}
	}
	return nil
}

// StageInterfaces gives a node the network that it had at first, with these bridges staged and nothing else.
func (c *Cluster) StageInterfaces(name string, bridges ...string) error {
	if err := c.SetNodeFiles(name, NodeFiles{}); err != nil {
		return err
	}
	return c.AddStagedInterfaces(name, bridges...)
}

// AddStagedInterfaces stages bridges on a node besides what is staged there.
func (c *Cluster) AddStagedInterfaces(name string, bridges ...string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.nodeByName(name)
	if n == nil {
		return fmt.Errorf("no node %q", name)
	}
	for _, bridge := range bridges {
		f := n.pending()
		made := f.touch(bridge)
		made.kind, made.families = "bridge", []string{"inet"}
		text, err := f.write()
		if err != nil {
			return fmt.Errorf("staging %s: %s", bridge, err.text)
		}
		n.staged = &text
	}
	c.generation++
	return nil
}

// NodeFiles are the files of a node's network.
type NodeFiles struct {
	// Interfaces is what is in force; empty is what a new node has. Staged is what an apply puts there; empty stages nothing.
	Interfaces string `json:"interfaces"`
	Staged     string `json:"staged"`
	// Links are the physical interfaces that the kernel has, each with its other names. Without any, those are physical that the file
	// names so.
	Links map[string][]string `json:"links"`
}

// SetNodeFiles gives a node other files of its network.
func (c *Cluster) SetNodeFiles(name string, files NodeFiles) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.nodeByName(name)
	if n == nil {
		return fmt.Errorf("no node %q", name)
	}
	n.file, n.staged, n.before, n.links = files.Interfaces, nil, nil, files.Links
	if n.file == "" {
		n.file = firstInterfaces(n.ip)
	}
	if files.Staged != "" {
		n.staged = &files.Staged
	}
	c.generation++
	return nil
}

// NodeFiles are the files of a node's network as they are.
func (c *Cluster) NodeFiles(name string) (NodeFiles, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.settle()
	n := c.nodeByName(name)
	if n == nil {
		return NodeFiles{}, fmt.Errorf("no node %q", name)
	}
	files := NodeFiles{Interfaces: n.file, Links: n.links}
	if n.staged != nil {
		files.Staged = *n.staged
	}
	return files, nil
}
