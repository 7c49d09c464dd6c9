package pvesim

import (
	"maps"
	"slices"
)

// permissionEndpoints serves the caller's permissions.
func permissionEndpoints() []*endpoint {
	return []*endpoint{serve("GET", "/access/permissions", readPermissions)}
}

// alwaysListed are the paths that /access/permissions looks at besides those with entries.
var alwaysListed = []string{"/", "/access", "/access/groups", "/nodes", "/pool", "/sdn", "/storage", "/vms"}

// readPermissions dumps the caller's permissions, those of a token of his, or
// with Sys.Audit on /access anybody's.
func readPermissions(r *request) (result, *apiError) {
	who := r.who
	if id := r.values.text("userid"); id != "" {
		who = parseIdentity(id)
		own := who == r.who || r.who.token == "" && who.user == r.who.user
		if !own {
			if err := r.c.check(r.who, "/access", "Sys.Audit"); err != nil {
				return fail(err)
			}
		}
		if r.c.users[who.user] == nil {
			return fail(failure("no such user ('%s')", who.user))
		}
		if who.token != "" && r.c.users[who.user].tokens[who.token] == nil {
			return fail(failure("no such token '%s' for user '%s'", who.token, who.user))
		}
	}
	out := map[string]map[string]int{}
	if path := r.values.text("path"); path != "" {
		path = normaliseACLPath(path)
		if !validACLPath(path) {
			return fail(badParameter("path", "invalid ACL path '"+path+"'"))
		}
		out[path] = r.c.permissions(who, path).numbers()
		return ok(out)
	}
	for _, path := range r.c.listedPaths() {
		if g := r.c.permissions(who, path); len(g) > 0 {
			out[path] = g.numbers()
		}
	}
	return ok(out)
}

// listedPaths are the usual paths, those with entries and their ancestors, and
// the members of pools.
func (c *Cluster) listedPaths() []string {
	set := map[string]bool{}
	for _, p := range alwaysListed {
		set[p] = true
	}
	for p := range c.acl.paths {
		for _, step := range aclSteps(p) {
			set[step] = true
		}
	}
	for _, g := range c.guests {
		if g.pool != "" {
			set["/vms/"+itoa(g.VMID)] = true
		}
	}
	for _, s := range c.storages {
		if s.pool != "" {
			set["/storage/"+s.id] = true
		}
	}
	return slices.Sorted(maps.Keys(set))
}

// numbers returns the privileges with 1 for those that propagate.
func (g grants) numbers() map[string]int {
	out := make(map[string]int, len(g))
	for priv, propagate := range g {
		out[priv] = oneOrZero(propagate)
	}
	return out
}
