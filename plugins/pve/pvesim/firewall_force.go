package pvesim

import (
	"errors"
	"net/netip"
	"time"

	"github.com/hostler/hostler/plugins/pve/pvefirewall"
)

// apiPort is where nodes serve the API, whatever port a listener of the simulator has.
const apiPort = 8006

// enforcement is what nodes have made of the firewall configurations: the rules
// in force. It is guarded by the cluster's mutex.
type enforcement struct {
	clients []FirewallClient
	delay   time.Duration

	compiled   time.Time // zero before the first time
	dirty      bool
	changed    time.Time // when the first change was made that is not in force yet
	generation uint64
	nodes      map[string]*inForce
}

// inForce are the rules that a node has loaded, one for each version of IP. Nil
// lets everything pass.
type inForce struct {
	v4, v6   *pvefirewall.Firewall
	since    time.Time
	failures []string // why what is configured was not loaded
}

// SetFirewallDelay lets changes of firewalls come into force every d of the
// cluster's clock, as they do on real nodes, which look for changes every ten
// seconds. Zero, the default, is at once. What is configured now is in force.
func (c *Cluster) SetFirewallDelay(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.force.delay = max(d, 0)
	c.compileFirewall(c.clock.now())
}

// noteFirewallChange is called before each change.
func (c *Cluster) noteFirewallChange() {
	now := c.clock.now()
	if c.force.delay > 0 {
		c.applyFirewall(now)
	}
	if !c.force.dirty {
		c.force.dirty, c.force.changed = true, now
	}
}

// applyFirewall brings what is in force up to the present. Networks, guests,
// and an end of the minute for which a firewall is on, count as well; with a
// delay they are looked at in the round after, and seen as they are now.
func (c *Cluster) applyFirewall(now time.Time) {
	f := &c.force
	enable, _ := c.firewallOf(FirewallCluster).options["enable"].(int64)
	stale := f.generation != c.generation || enable > 1
	due := f.dirty || stale
	if f.delay > 0 {
		round := now.Truncate(f.delay)
		due = f.dirty && round.After(f.changed) || !f.dirty && stale && round.After(f.compiled)
	}
	if due || f.compiled.IsZero() {
		c.compileFirewall(now)
	}
}

// compileFirewall loads the configuration into the nodes' firewalls. A node
// that cannot load it goes on with the rules that it has, separately for IPv4
// and IPv6, as pve-firewall does with iptables-restore and ip6tables-restore.
func (c *Cluster) compileFirewall(now time.Time) {
	f := &c.force
	f.compiled, f.dirty, f.generation = now, false, c.generation
	if f.nodes == nil {
		f.nodes = map[string]*inForce{}
	}
	made, err := pvefirewall.Compile(c.firewallConfig(now))
	for _, n := range c.nodes {
		loaded := f.nodes[n.name]
		if loaded == nil {
			loaded = &inForce{}
			f.nodes[n.name] = loaded
		}
		loaded.failures = nil
		if err != nil {
			loaded.failures = []string{err.Error()}
			continue
		}
		loaded.since = now
		for _, family := range []struct {
			to     **pvefirewall.Firewall
			source netip.Addr
		}{{&loaded.v4, netip.IPv4Unspecified().Next()}, {&loaded.v6, netip.IPv6LinkLocalAllNodes()}} {
			var refused *pvefirewall.UndecidedError
			_, err := made.Evaluate(packetTo(n, family.source, family.source, 1))
			switch {
			case err == nil:
				*family.to = made
			case errors.As(err, &refused) && refused.Step == pvefirewall.StepNFTables:
				*family.to = nil // another program makes the rules, which is not simulated
			}
			if err != nil {
				loaded.failures = append(loaded.failures, err.Error())
			}
		}
	}
}

// packetTo is the first packet of a connection from outside to a node's API.
func packetTo(n *node, source, dest netip.Addr, port uint16) pvefirewall.Packet {
	return pvefirewall.Packet{
		From:   pvefirewall.Endpoint{Kind: pvefirewall.Outside, Node: n.name, Device: n.device()},
		To:     pvefirewall.Endpoint{Kind: pvefirewall.Host, Node: n.name},
		Source: source, Dest: dest, Protocol: 6, SourcePort: port, DestPort: apiPort,
	}
}

// judgeIncoming says what a node does with a connection from an address to its
// API, and why. Where nothing is in force, or where addresses do not go
// together, it is accepted.
func (c *Cluster) judgeIncoming(n *node, source netip.Addr, port uint16) (pvefirewall.Verdict, pvefirewall.Decision) {
	dest, err := netip.ParseAddr(n.ip)
	if err != nil {
		return pvefirewall.Accept, pvefirewall.Decision{}
	}
	return c.judge(n, packetTo(n, source, dest, port))
}

// judgeOutgoing is judgeIncoming for the connection that a node opens to another node.
func (c *Cluster) judgeOutgoing(n *node, dest netip.Addr, port uint16) (pvefirewall.Verdict, pvefirewall.Decision) {
	source, err := netip.ParseAddr(n.ip)
	if err != nil {
		return pvefirewall.Accept, pvefirewall.Decision{}
	}
	p := packetTo(n, source, dest, port)
	p.From, p.To = p.To, p.From
	return c.judge(n, p)
}

// judge evaluates a packet with the rules that a node has loaded, which may be
// older than the configured ones.
func (c *Cluster) judge(n *node, p pvefirewall.Packet) (pvefirewall.Verdict, pvefirewall.Decision) {
	c.applyFirewall(c.clock.now())
	loaded := c.force.nodes[n.name]
	if loaded == nil { // it joined since
		return pvefirewall.Accept, pvefirewall.Decision{}
	}
	rules := loaded.v4
	if p.Source.Is6() {
		rules = loaded.v6
	}
	if rules == nil {
		return pvefirewall.Accept, pvefirewall.Decision{}
	}
	judged, err := rules.Evaluate(p)
	if err != nil {
		return pvefirewall.Accept, pvefirewall.Decision{}
	}
	return judged.Verdict, judged.By
}
