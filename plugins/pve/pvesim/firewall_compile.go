package pvesim

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/hostler/hostler/plugins/pve/pvefirewall"
)

// firewallConfig is the present state as the evaluation of firewalls takes it.
func (c *Cluster) firewallConfig(now time.Time) *pvefirewall.Config {
	cluster := c.firewallOf(FirewallCluster)
	config := &pvefirewall.Config{Now: now, Cluster: pvefirewall.Cluster{
		Aliases: compiledAliases(cluster), IPSets: compiledSets(cluster), Rules: compiledRules(cluster.rules)}}
	setCompiledOptions(config.Cluster.Options.Set, cluster, now)
	for _, name := range slices.Sorted(maps.Keys(cluster.groups)) {
		config.Cluster.Groups = append(config.Cluster.Groups,
			pvefirewall.Group{Name: name, Rules: compiledRules(cluster.groups[name].list)})
	}
	at := map[string]int{}
	for i, n := range c.nodes {
		own := c.firewallOf(FirewallNode(n.name))
		node := pvefirewall.Node{Name: n.name, Rules: compiledRules(own.rules)}
		setCompiledOptions(node.Options.Set, own, now)
		node.Addresses, node.LocalNetwork = n.addresses()
		config.Nodes, at[n.name] = append(config.Nodes, node), i
	}
	if c.opts.Scenario == ScenarioCluster {
		config.Corosync = &pvefirewall.Corosync{Transport: "knet"}
		for _, n := range c.nodes {
			ring, _ := netip.ParseAddr(n.ip) // none for a node whose name nothing resolves
			config.Corosync.Nodes = append(config.Corosync.Nodes, pvefirewall.CorosyncNode{Name: n.name, Rings: []netip.Addr{ring}})
		}
	}
	for _, vmid := range c.sortedVMIDs() {
		g := c.guests[vmid]
		i, known := at[g.node]
		if !known {
			continue
		}
		own := c.firewallOf(FirewallGuest(vmid))
		made := pvefirewall.Guest{ID: vmid, Container: g.Type == LXC, NICs: g.compiledNICs(), Aliases: compiledAliases(own),
			IPSets: compiledSets(own), Rules: compiledRules(own.rules)}
		setCompiledOptions(made.Options.Set, own, now)
		config.Nodes[i].Guests = append(config.Nodes[i].Guests, made)
	}
	return config
}

// setCompiledOptions hands options over; what decides nothing, or what only a
// file can have, is forgotten.
func setCompiledOptions(set func(key, value string) error, f *firewall, now time.Time) {
	for name, value := range f.setOptions(now) {
		_ = set(name, fmt.Sprint(value))
	}
}

// compiledAliases returns the aliases for the evaluator.
func compiledAliases(f *firewall) []pvefirewall.Alias {
	var out []pvefirewall.Alias
	for _, name := range slices.Sorted(maps.Keys(f.aliases)) {
		out = append(out, pvefirewall.Alias{Name: name, CIDR: f.aliases[name].CIDR})
	}
	return out
}

// compiledSets returns the sets for the evaluator.
func compiledSets(f *firewall) []pvefirewall.IPSet {
	var out []pvefirewall.IPSet
	for _, name := range slices.Sorted(maps.Keys(f.ipsets)) {
		set := pvefirewall.IPSet{Name: name}
		for _, m := range f.ipsets[name].list {
			set.Members = append(set.Members, pvefirewall.Member{CIDR: m.CIDR, NoMatch: m.NoMatch})
		}
		out = append(out, set)
	}
	return out
}

// compiledRules returns the rules for the evaluator.
func compiledRules(rules []FirewallRule) []pvefirewall.Rule {
	out := make([]pvefirewall.Rule, len(rules))
	for i, r := range rules {
		out[i] = pvefirewall.Rule{Type: r.Type, Action: r.Action, Disabled: !r.Enable, Macro: r.Macro, Iface: r.Interface, Proto: r.Proto,
			Source: r.Source, Dest: r.Dest, SPort: r.Sport, DPort: r.Dport, ICMPType: r.ICMPType}
	}
	return out
}

// addresses are those of a node's interfaces that are in force, and the network
// that its address in the cluster is in.
func (n *node) addresses() (all []netip.Prefix, local netip.Prefix) {
	own, _ := netip.ParseAddr(n.ip)
	for _, i := range n.inForce().all {
		for _, key := range []string{"cidr", "cidr6"} {
			p, err := netip.ParsePrefix(i.options[key])
			if err != nil {
				continue
			}
			if all = append(all, p); p.Contains(own) {
				local = p.Masked()
			}
		}
	}
	return all, local
}

// device is the interface that has the node's address in the cluster.
func (n *node) device() string {
	for _, i := range n.inForce().all {
		if address, _, _ := strings.Cut(i.options["cidr"], "/"); address == n.ip {
			return i.name
		}
	}
	return "vmbr0"
}

// compiledNICs reads the network interfaces of a guest's configuration.
func (g *guest) compiledNICs() []pvefirewall.NIC {
	var out []pvefirewall.NIC
	config := g.config()
	for i := range pvefirewall.MaxNICs {
		name := fmt.Sprintf("net%d", i)
		text, isText := config[name].(string)
		if !isText {
			continue
		}
		nic := pvefirewall.NIC{Name: name}
		for part := range strings.SplitSeq(text, ",") {
			key, value, _ := strings.Cut(part, "=")
			if mac, err := pvefirewall.ParseMAC(value); err == nil {
				nic.MAC = mac
			}
			switch key {
			case "bridge":
				nic.Bridge = value
			case "firewall":
				nic.Firewall = value == "1"
			case "ip", "ip6":
				if p, err := netip.ParsePrefix(value); err == nil {
					nic.Addresses = append(nic.Addresses, p.Addr())
				}
			}
		}
		out = append(out, nic)
	}
	return out
}
