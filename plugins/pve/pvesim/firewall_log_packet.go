package pvesim

import (
	"fmt"
	"net/netip"
	"strings"

	"github.com/hostler/hostler/plugins/pve/pvefirewall"
)

// firewallLogLevels are the levels as lines of the log count them.
var firewallLogLevels = map[string]int{"emerg": 0, "alert": 1, "crit": 2, "err": 3, "warning": 4, "notice": 5, "info": 6, "debug": 7}

// logVerdict writes a line about a connection to a node's API, if what decided wants that: a rule by its own level, the policy and
// the blacklist by the level of the node's option. A line is written for each connection, though the real log has a limit of lines
// a second, and one for each time that the client's kernel tries again.
func (c *Cluster) logVerdict(n *node, verdict pvefirewall.Verdict, by pvefirewall.Decision, source netip.Addr, port uint16) {
	level, chain, prefix := c.logOf(n, verdict, by)
	number, wanted := firewallLogLevels[level]
	dest, err := netip.ParseAddr(n.ip)
	if !wanted || err != nil {
		return
	}
	device, physical := n.device(), ""
	if i := n.inForce().named(device); i != nil {
		if ports := strings.Fields(i.options["bridge_ports"]); len(ports) > 0 {
			physical = "PHYSIN=" + ports[0] + " "
		}
	}
	protocol, header := "08:00", "LEN=60 TOS=0x00 PREC=0x00 TTL=64 ID=%d DF"
	if source.Is6() {
		protocol, header = "86:dd", "LEN=40 TC=0 FLOWLBL=%d HOPLIMIT=64"
	}
	n.logFirewall(fmt.Sprintf("0 %d %s %s %sIN=%s %sMAC=bc:24:11:00:00:%02x:bc:24:11:00:01:00:%s SRC=%s DST=%s "+header+
		" PROTO=TCP SPT=%d DPT=%d SEQ=%d ACK=0 WINDOW=64240 SYN ",
		number, chain, c.clock.now().UTC().Format(firewallLogTime), prefix, device, physical, byte(n.index), protocol, source, dest,
		c.rand.Uint32N(1<<16), port, apiPort, c.rand.Uint32()))
}

// logOf is the level, the chain and the first words of the line that a decision makes.
func (c *Cluster) logOf(n *node, verdict pvefirewall.Verdict, by pvefirewall.Decision) (level, chain, prefix string) {
	level, _ = c.firewallOf(FirewallNode(n.name)).options["log_level_in"].(string)
	switch {
	case by.Builtin == pvefirewall.Policy && verdict != pvefirewall.Accept && by.Exception == pvefirewall.NoException:
		return level, "PVEFW-HOST-IN", "policy " + verdict.String() + ": "
	case by.Builtin == pvefirewall.Blacklist:
		return level, "PVEFW-blacklist", "DROP: "
	case by.Builtin != 0, by.Rule == pvefirewall.RuleRef{}:
		return "", "", ""
	}
	scope, chain := FirewallCluster, "PVEFW-HOST-IN"
	switch s := by.Rule.Scope; s.Kind {
	case pvefirewall.ScopeNode:
		scope = FirewallNode(s.Node)
	case pvefirewall.ScopeGroup:
		scope, chain = FirewallGroup(s.Group), "GROUP-"+s.Group+"-IN"
	}
	// With a delay the rules may be others by now than those in force.
	rules := c.rulesOf(scope)
	if rules == nil || by.Rule.Position >= len(*rules) {
		return "", "", ""
	}
	rule := (*rules)[by.Rule.Position]
	return rule.Log, chain, rule.Action + ": "
}
