package pvesim

import (
	"strconv"
	"strings"
)

// grants maps a privilege to its propagate flag; a privilege that is present is
// granted on the path itself.
type grants map[string]bool

// permissionKey is one remembered computation: see Cluster.permissions.
type permissionKey struct {
	who  string
	path string
	deep bool // the path asked for lies below the remembered one
}

// accessChanged forgets every computed permission.
func (c *Cluster) accessChanged() {
	c.permissionCache = map[permissionKey]grants{}
	c.generation++
}

// permissions computes what an identity may do on a path:
//   - root@pam may do everything; a token of his without privilege separation too;
//   - the nearest entry on the way down wins, a user's own entry over those of his groups;
//   - the role NoAccess takes everything away;
//   - pools add the roles held on /pool/NAME to their members;
//   - a token with privilege separation has the intersection of its own entries and its user's permissions.
func (c *Cluster) permissions(who identity, path string) grants {
	path = normaliseACLPath(path)
	// Below the deepest path that carries an entry everything inherits alike:
	// remember it once, not per guest.
	key := permissionKey{who: who.id(), path: path}
	if c.poolOf(path) == "" {
		for c.acl.paths[key.path] == 0 && key.path != "/" {
			key.path = parentPath(key.path)
			key.deep = true
		}
	}
	if g, ok := c.permissionCache[key]; ok {
		return g
	}
	g := c.computePermissions(who, path)
	c.permissionCache[key] = g
	return g
}

// parentPath returns the path above p.
func parentPath(p string) string {
	i := strings.LastIndexByte(p, '/')
	if i <= 0 {
		return "/"
	}
	return p[:i]
}

// computePermissions returns the privileges of an identity at a path. Those of
// a token with privilege separation are the intersection of its own and its
// user's.
func (c *Cluster) computePermissions(who identity, path string) grants {
	if who.token == "" {
		if who.user == rootUser {
			all := make(grants, len(privileges))
			for _, p := range c.release.privileges() {
				all[p] = true
			}
			return all
		}
		return c.grantsOf(c.rolesOn(who, path))
	}
	u := c.users[who.user]
	if u == nil || u.tokens[who.token] == nil {
		return grants{}
	}
	owner := c.permissions(identity{user: who.user}, path)
	if !u.tokens[who.token].privsep {
		return owner
	}
	own := c.grantsOf(c.rolesOn(who, path))
	for priv, propagate := range own {
		if p, ok := owner[priv]; ok {
			own[priv] = propagate && p
		} else {
			delete(own, priv)
		}
	}
	return own
}

// grantsOf returns the privileges of roles, and whether each applies below the
// path.
func (c *Cluster) grantsOf(roles map[string]bool) grants {
	g := grants{}
	for id, propagate := range roles {
		r := c.roles[id]
		if r == nil {
			continue
		}
		for priv := range r.privs {
			g[priv] = g[priv] || propagate
		}
	}
	return g
}

// rolesOn returns the roles that hold on a path, with their propagate flags, pools included.
func (c *Cluster) rolesOn(who identity, path string) map[string]bool {
	roles := c.treeRoles(who, path)
	if _, no := roles["NoAccess"]; no {
		return map[string]bool{"NoAccess": roles["NoAccess"]}
	}
	pool := c.poolOf(path)
	if pool == "" {
		return roles
	}
	fromPool := c.treeRoles(who, "/pool/"+pool)
	if _, no := fromPool["NoAccess"]; no {
		return map[string]bool{"NoAccess": false}
	}
	merged := map[string]bool{}
	for id := range fromPool {
		merged[id] = false // what comes from a pool never propagates
	}
	for id, propagate := range roles {
		merged[id] = propagate
	}
	return merged
}

// treeRoles walks from the root to the path; each step with an entry replaces what came before.
func (c *Cluster) treeRoles(who identity, path string) map[string]bool {
	var roles map[string]bool
	steps := aclSteps(path)
	for i, step := range steps {
		if c.acl.paths[step] == 0 {
			continue
		}
		if found := c.stepRoles(who, step, i == len(steps)-1); len(found) > 0 {
			roles = found
		}
	}
	return roles
}

// stepRoles returns the roles that apply at one step of a path. An entry
// without propagation applies only at its own path.
func (c *Cluster) stepRoles(who identity, step string, final bool) map[string]bool {
	take := func(into map[string]bool, k aclKey) map[string]bool {
		for id, propagate := range c.acl.entries[k] {
			if final || propagate {
				if into == nil {
					into = map[string]bool{}
				}
				into[id] = into[id] || propagate
			}
		}
		return into
	}
	if who.token != "" {
		return take(nil, aclKey{step, "token", who.id()})
	}
	if own := take(nil, aclKey{step, "user", who.user}); own != nil {
		return own
	}
	var roles map[string]bool
	if u := c.users[who.user]; u != nil {
		for g := range u.groups {
			roles = take(roles, aclKey{step, "group", g})
		}
	}
	return roles
}

// poolOf returns the pool that the object of an access path ("/vms/100",
// "/storage/local") belongs to, or "".
func (c *Cluster) poolOf(path string) string {
	if id, ok := strings.CutPrefix(path, "/vms/"); ok {
		vmid, err := strconv.Atoi(id)
		if err != nil {
			return ""
		}
		if g := c.guests[vmid]; g != nil {
			return g.pool
		}
	}
	if id, ok := strings.CutPrefix(path, "/storage/"); ok {
		for _, s := range c.storages {
			if s.id == id {
				return s.pool
			}
		}
	}
	return ""
}

// allowed reports whether the identity has any of the privileges on the path.
func (c *Cluster) allowed(who identity, path string, anyOf ...string) bool {
	c.stats.privilege(who.id(), anyOf)
	g := c.permissions(who, path)
	for _, p := range anyOf {
		if _, ok := g[p]; ok {
			return true
		}
	}
	return false
}

// check returns the 403 of a missing privilege; several privileges are alternatives.
func (c *Cluster) check(who identity, path string, anyOf ...string) *apiError {
	if c.allowed(who, path, anyOf...) {
		return nil
	}
	return forbidden(normaliseACLPath(path) + ", " + strings.Join(anyOf, "|"))
}
