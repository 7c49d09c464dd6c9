package pvesim

import (
	"net/netip"
	"slices"
	"time"

	"github.com/hostler/hostler/plugins/pve/pvefirewall"
)

// FirewallStatus is what the nodes' firewalls do now.
type FirewallStatus struct {
	Clients []FirewallClient     `json:"clients"`
	DelayMS int64                `json:"delay_ms"`
	Nodes   []FirewallNodeStatus `json:"nodes"`
}

// FirewallNodeStatus is what one node has loaded.
type FirewallNodeStatus struct {
	Node string `json:"node"`
	// Since is when the rules in force were loaded.
	Since time.Time `json:"since"`
	// Pending tells that something was changed that is not in force yet.
	Pending bool `json:"pending"`
	// Failures say why what is configured was not loaded; the node goes on with what it had.
	Failures []string `json:"failures"`
	// Clients are the verdicts about a connection to the node's API, one for
	// each network of clients: about its first address.
	Clients []FirewallClientStatus `json:"clients"`
}

// FirewallClientStatus is what a node does with a connection from a client.
type FirewallClientStatus struct {
	As      string `json:"as"`
	Verdict string `json:"verdict"` // ACCEPT, DROP or REJECT
	// By is what decided: the scope and the position of a rule, or what Proxmox VE has built in.
	By string `json:"by"`
	// Position is that of the rule, -1 for none.
	Position int `json:"position"`
}

// FirewallStatus brings what is in force up to the present and tells it.
func (c *Cluster) FirewallStatus() FirewallStatus {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.applyFirewall(c.clock.now())
	out := FirewallStatus{Clients: slices.Clone(c.force.clients), DelayMS: c.force.delay.Milliseconds()}
	for _, n := range c.nodes {
		status := FirewallNodeStatus{Node: n.name, Pending: c.force.dirty, Failures: []string{}, Clients: []FirewallClientStatus{}}
		if loaded := c.force.nodes[n.name]; loaded != nil {
			status.Since, status.Failures = loaded.since, append(status.Failures, loaded.failures...)
		}
		for _, v := range c.force.clients {
			as := transplant(v.Network.Masked().Addr(), v.As)
			status.Clients = append(status.Clients, c.clientStatus(n, as))
		}
		out.Nodes = append(out.Nodes, status)
	}
	return out
}

// clientStatus returns what a node's firewall does with connections of a
// client.
func (c *Cluster) clientStatus(n *node, as netip.Addr) FirewallClientStatus {
	verdict, by := c.judgeIncoming(n, as, 1024)
	status := FirewallClientStatus{As: as.String(), Verdict: verdict.String(), By: "nothing", Position: -1}
	switch {
	case by.Builtin != 0:
		status.By = by.Builtin.String()
	case by.Rule != pvefirewall.RuleRef{}:
		status.By, status.Position = by.Rule.Scope.String(), by.Rule.Position
	}
	return status
}
