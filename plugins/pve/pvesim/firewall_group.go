package pvesim

import "strings"

// firewallGroupEndpoints serves security groups.
func firewallGroupEndpoints() []*endpoint {
	const at = "/cluster/firewall/groups"
	return []*endpoint{
		serve("GET", at, listSecurityGroups),
		serve("POST", at, putSecurityGroup),
		serve("DELETE", at+"/{group}", deleteSecurityGroup),
	}
}

// listSecurityGroups lists the groups with one digest for the whole list.
func listSecurityGroups(r *request) (result, *apiError) {
	rows, _ := r.c.firewallOf(FirewallCluster).groups.rows(groupKind)
	return ok(rows)
}

// putSecurityGroup lets rules follow a group that gets another name: those of
// the cluster, of all nodes, and of guests that exist.
func putSecurityGroup(r *request) (result, *apiError) {
	c, name, old := r.c, r.values.text("group"), r.values.text("rename")
	if err := putSection(r, c.changeFirewall(FirewallCluster).groups, groupKind); err != nil {
		return fail(err)
	}
	if old == "" || old == name {
		return ok(nil)
	}
	for scope, f := range c.firewalls {
		if c.checkScope(scope) != nil {
			continue
		}
		for i := range f.rules {
			if f.rules[i].Type == "group" && f.rules[i].Action == old {
				c.changeFirewall(scope).rules[i].Action = name
			}
		}
	}
	return ok(nil)
}

// noGroup is the answer for a group that is not there, or is asked for with capitals.
func noGroup(name string) *apiError { return failure("no such security group '%s'", name) }

// deleteSecurityGroup takes one away that is in use, and does not mind one that is not there.
func deleteSecurityGroup(r *request) (result, *apiError) {
	name := r.values.text("group")
	g := r.c.firewallOf(FirewallCluster).groups[name]
	switch {
	case g == nil:
		return ok(nil)
	case len(g.list) > 0:
		return fail(failure("Security group '%s' is not empty", name))
	}
	delete(r.c.changeFirewall(FirewallCluster).groups, name)
	return ok(nil)
}

// RemoveFirewallGroup removes a security group with its rules. Rules that name it stay.
func (c *Cluster) RemoveFirewallGroup(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.changeFirewall(FirewallCluster).groups, strings.ToLower(name))
}
