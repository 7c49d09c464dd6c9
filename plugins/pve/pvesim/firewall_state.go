package pvesim

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// FirewallScope names one firewall configuration: [FirewallCluster], or what [FirewallNode] and [FirewallGuest] return.
type FirewallScope string

// FirewallCluster is the scope of the whole installation.
const FirewallCluster FirewallScope = "cluster"

// FirewallNode is the scope of a node.
func FirewallNode(name string) FirewallScope { return FirewallScope("node/" + name) }

// FirewallGuest is the scope of a virtual machine or a container.
func FirewallGuest(vmid int) FirewallScope { return FirewallScope("guest/" + strconv.Itoa(vmid)) }

// firewall is one firewall configuration. It is guarded by the cluster's mutex.
type firewall struct {
	rules   []FirewallRule
	aliases map[string]string   // lower-case name to address
	ipsets  map[string][]string // name to members
	options map[string]any      // those that are set
}

// firewallOf returns the configuration of a scope to be read. One that nobody has written is empty.
func (c *Cluster) firewallOf(scope FirewallScope) *firewall {
	if f := c.firewalls[scope]; f != nil {
		return f
	}
	return &firewall{}
}

// changeFirewall returns the configuration of a scope to be written; of a guest that does not exist as well.
func (c *Cluster) changeFirewall(scope FirewallScope) *firewall {
	f := c.firewalls[scope]
	if f == nil {
		f = &firewall{aliases: map[string]string{}, ipsets: map[string][]string{}}
		c.firewalls[scope] = f
	}
	return f
}

// checkScope refuses scopes of nodes and guests that are not there. The API accepts those of guests.
func (c *Cluster) checkScope(scope FirewallScope) error {
	kind, id, _ := strings.Cut(string(scope), "/")
	switch {
	case scope == FirewallCluster:
		return nil
	case kind == "node" && c.nodeByName(id) != nil:
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
	return "cluster"
}

// SetFirewallRules replaces a scope's rules. The error says which rule the API would not take, and why; then nothing changes.
func (c *Cluster) SetFirewallRules(scope FirewallScope, rules ...FirewallRule) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.setFirewallRules(scope, rules)
}

func (c *Cluster) setFirewallRules(scope FirewallScope, rules []FirewallRule) error {
	if err := c.checkScope(scope); err != nil {
		return err
	}
	verified := slices.Clone(rules)
	for i := range verified {
		errs := c.verifyRule(scope, c.environment(scope), &verified[i])
		for _, field := range slices.Sorted(maps.Keys(errs)) {
			return fmt.Errorf("firewall rule %d: %s: %s", i, field, strings.TrimSpace(errs[field]))
		}
	}
	c.changeFirewall(scope).rules = verified
	return nil
}

// FirewallRules returns a scope's rules in their order.
func (c *Cluster) FirewallRules(scope FirewallScope) []FirewallRule {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.firewallOf(scope).rules)
}

// SetFirewallAlias sets a name for an address that the rules of the scope may use; an empty address removes it.
func (c *Cluster) SetFirewallAlias(scope FirewallScope, name, cidr string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.checkScope(scope); err != nil {
		return err
	}
	if cidr == "" {
		delete(c.firewallOf(scope).aliases, strings.ToLower(name))
		return nil
	}
	if _, err := parseAddress(cidr); err != nil || !firewallNamePattern.MatchString(name) {
		return fmt.Errorf("firewall alias %q for %q: %w", name, cidr, errors.Join(err, errors.New("a name and an address are needed")))
	}
	c.changeFirewall(scope).aliases[strings.ToLower(name)] = cidr
	return nil
}

// SetFirewallIPSet creates or replaces a set of addresses that the rules of the scope may use.
func (c *Cluster) SetFirewallIPSet(scope FirewallScope, name string, members ...string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.checkScope(scope); err != nil {
		return err
	}
	if !firewallNamePattern.MatchString(name) {
		return fmt.Errorf("name of IP set %q is not allowed", name)
	}
	c.changeFirewall(scope).ipsets[name] = slices.Clone(members)
	return nil
}

// RemoveFirewallIPSet removes a set of addresses. Rules that use it stay, with an error.
func (c *Cluster) RemoveFirewallIPSet(scope FirewallScope, name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.firewallOf(scope).ipsets, name)
}

// firewallsFor lists the configurations in which a rule of the scope looks names up, the nearest first: dc/ and guest/ before a name
// choose one of them.
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
