package pvesim

import (
	"fmt"
	"strings"
)

// firewallIPSetEndpoints serves IP sets.
func firewallIPSetEndpoints() []*endpoint {
	var all []*endpoint
	for _, at := range firewallObjectPaths {
		all = append(all,
			serve("GET", at+"/ipset", listIPSets),
			serve("POST", at+"/ipset", putIPSet),
			serve("DELETE", at+"/ipset/{name}", deleteIPSet),
			serve("GET", at+"/ipset/{name}", listMembers),
			serve("POST", at+"/ipset/{name}", createMember),
			serve("GET", at+"/ipset/{name}/{cidr}", readMember),
			serve("PUT", at+"/ipset/{name}/{cidr}", updateMember),
			serve("DELETE", at+"/ipset/{name}/{cidr}", deleteMember),
		)
	}
	return all
}

// listIPSets lists the sets of a scope.
func listIPSets(r *request) (result, *apiError) {
	rows, _ := r.firewall().ipsets.rows(ipsetKind)
	return ok(rows)
}

// putIPSet leaves rules that name the set by its old name as they are.
func putIPSet(r *request) (result, *apiError) {
	if err := putSection(r, r.changeFirewall().ipsets, ipsetKind); err != nil {
		return fail(err)
	}
	return ok(nil)
}

// ipsetOfPath finds the set that the path names, with the case that it has there.
func (r *request) ipsetOfPath() (*section[FirewallMember], *apiError) {
	name := r.values.text("name")
	set := r.firewall().ipsets[name]
	if set == nil {
		return nil, failure("no such IPSet '%s'", name)
	}
	return set, nil
}

// deleteIPSet takes one away that is in use.
func deleteIPSet(r *request) (result, *apiError) {
	set, err := r.ipsetOfPath()
	switch {
	case err != nil:
		return fail(err)
	case len(set.list) > 0 && !r.values.boolean("force", false):
		return fail(failure("IPSet '%s' is not empty", r.values.text("name")))
	}
	delete(r.changeFirewall().ipsets, r.values.text("name"))
	return ok(nil)
}

// SetFirewallIPSet creates or replaces a set of addresses that the rules of the
// scope may use. A ! before a member makes it one that is not in the set. A
// capital in the name becomes a small letter.
func (c *Cluster) SetFirewallIPSet(scope FirewallScope, name string, members ...string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.checkScope(scope); err != nil {
		return err
	}
	if !firewallNamePattern.MatchString(name) {
		return fmt.Errorf("name of IP set %q is not allowed", name)
	}
	set := &section[FirewallMember]{}
	for _, text := range members {
		m := FirewallMember{}
		m.CIDR, m.NoMatch = strings.CutPrefix(text, "!")
		set.list = append(set.list, m)
	}
	sortMembers(set.list)
	c.changeFirewall(scope).ipsets[strings.ToLower(name)] = set
	return nil
}

// RemoveFirewallIPSet removes a set of addresses. Rules that use it stay, with an error.
func (c *Cluster) RemoveFirewallIPSet(scope FirewallScope, name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.changeFirewall(scope).ipsets, strings.ToLower(name))
}
