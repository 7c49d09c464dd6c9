package pvesim

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// FirewallScope names one firewall configuration: [FirewallCluster], or what
// [FirewallNode], [FirewallGuest] and [FirewallGroup] return.
type FirewallScope string

// FirewallCluster is the scope of the whole installation.
const FirewallCluster FirewallScope = "cluster"

// FirewallNode is the scope of a node.
func FirewallNode(name string) FirewallScope { return FirewallScope("node/" + name) }

// FirewallGuest is the scope of a virtual machine or a container.
func FirewallGuest(vmid int) FirewallScope { return FirewallScope("guest/" + strconv.Itoa(vmid)) }

// FirewallGroup is the scope of a security group. It has rules and nothing else.
func FirewallGroup(name string) FirewallScope { return FirewallScope("group/" + strings.ToLower(name)) }

// firewall is one firewall configuration. It is guarded by the cluster's mutex.
type firewall struct {
	rules   []FirewallRule
	aliases map[string]FirewallAlias // by name in lower case
	ipsets  sections[FirewallMember]
	groups  sections[FirewallRule] // of the cluster
	options map[string]any         // those that are set
}

// firewallOf returns the configuration of a scope to be read. One that nobody has written is empty.
func (c *Cluster) firewallOf(scope FirewallScope) *firewall {
	if f := c.firewalls[scope]; f != nil {
		return f
	}
	return &firewall{}
}

// stored reports whether the configuration has a file. The real server deletes
// the file with the last of its content.
func (f *firewall) stored() bool {
	return len(f.rules)+len(f.aliases)+len(f.ipsets)+len(f.groups)+len(f.options) > 0
}

// changeFirewall returns the configuration of a scope to be written; of a guest
// that does not exist as well. It is called before each change: what was to be
// in force by now still is of the state before.
func (c *Cluster) changeFirewall(scope FirewallScope) *firewall {
	c.noteFirewallChange()
	f := c.firewalls[scope]
	if f == nil {
		f = newFirewall()
		c.firewalls[scope] = f
	}
	return f
}

// newFirewall returns an empty firewall.
func newFirewall() *firewall {
	return &firewall{aliases: map[string]FirewallAlias{}, ipsets: sections[FirewallMember]{}, groups: sections[FirewallRule]{}}
}

// rulesOf is the list of a scope to be read, nil for a group that is not there.
func (c *Cluster) rulesOf(scope FirewallScope) *[]FirewallRule {
	if name, isGroup := strings.CutPrefix(string(scope), "group/"); isGroup {
		if g := c.firewallOf(FirewallCluster).groups[name]; g != nil {
			return &g.list
		}
		return nil
	}
	return &c.firewallOf(scope).rules
}

// changeRules replaces the list of a scope; of a group that is not there it makes one.
func (c *Cluster) changeRules(scope FirewallScope, rules []FirewallRule) {
	name, isGroup := strings.CutPrefix(string(scope), "group/")
	if !isGroup {
		c.changeFirewall(scope).rules = rules
		return
	}
	groups := c.changeFirewall(FirewallCluster).groups
	if groups[name] == nil {
		groups[name] = &section[FirewallRule]{}
	}
	groups[name].list = rules
}

// checkScope refuses scopes of nodes and guests that are not there. The API
// accepts those of guests.
func (c *Cluster) checkScope(scope FirewallScope) error {
	kind, id, _ := strings.Cut(string(scope), "/")
	switch {
	case scope == FirewallCluster, kind == "group" && groupNamePattern.MatchString(id), kind == "node" && c.nodeByName(id) != nil:
		return nil
	case kind == "guest":
		if vmid, err := strconv.Atoi(id); err == nil && c.guests[vmid] != nil {
			return nil
		}
	}
	return fmt.Errorf("no firewall scope %q", scope)
}

// environment is what error texts call the scope's kind.
func (c *Cluster) environment(scope FirewallScope) string {
	kind, id, _ := strings.Cut(string(scope), "/")
	switch kind {
	case "node":
		return "host"
	case "guest":
		if vmid, _ := strconv.Atoi(id); c.guests[vmid] != nil && c.guests[vmid].Type == LXC {
			return "ct"
		}
		return "vm"
	}
	return kind
}

// SetFirewallRules replaces a scope's rules. The error says which rule the API
// would not take, and why; then nothing changes. A security group that does not
// exist is created.
func (c *Cluster) SetFirewallRules(scope FirewallScope, rules ...FirewallRule) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.setFirewallRules(scope, rules)
}

// setFirewallRules replaces the rules of a scope.
func (c *Cluster) setFirewallRules(scope FirewallScope, rules []FirewallRule) error {
	if err := c.checkScope(scope); err != nil {
		return err
	}
	verified := slices.Clone(rules)
	for i := range verified {
		if faults := c.verifyRule(scope, c.environment(scope), &verified[i]); len(faults.fields) > 0 {
			return fmt.Errorf("firewall rule %d: %s: %s", i, faults.fields[0], faults.texts[faults.fields[0]])
		}
	}
	c.changeRules(scope, verified)
	return nil
}

// FirewallRules returns a scope's rules in their order.
func (c *Cluster) FirewallRules(scope FirewallScope) []FirewallRule {
	c.mu.Lock()
	defer c.mu.Unlock()
	if rules := c.rulesOf(scope); rules != nil {
		return slices.Clone(*rules)
	}
	return nil
}

// firewallsFor lists the configurations in which a rule of the scope looks
// names up, the nearest first: dc/ and guest/ before a name choose one of them.
func (c *Cluster) firewallsFor(scope FirewallScope, prefix string) []*firewall {
	own, cluster := c.firewallOf(scope), c.firewallOf(FirewallCluster)
	ofGuest := strings.HasPrefix(string(scope), "guest/")
	switch {
	case prefix == "dc/" || !ofGuest && prefix == "":
		return []*firewall{cluster}
	case !ofGuest:
		return nil
	case prefix == "guest/":
		return []*firewall{own}
	}
	return []*firewall{own, cluster}
}
