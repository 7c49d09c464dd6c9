package pvesim

import (
	"slices"
	"strings"
)

// aclKey says who an access control entry is for and where.
type aclKey struct {
	path string // normalised: "/", "/vms", "/vms/100"
	kind string // user, group or token
	ugid string
}

// aclTree holds the access control entries: per path and subject the roles with
// their propagate flags.
type aclTree struct {
	entries map[aclKey]map[string]bool
	paths   map[string]int // number of entries on exactly this path
}

// newACLTree returns an empty tree.
func newACLTree() *aclTree {
	return &aclTree{entries: map[aclKey]map[string]bool{}, paths: map[string]int{}}
}

// set adds a role at a path.
func (t *aclTree) set(k aclKey, role string, propagate bool) {
	roles := t.entries[k]
	if roles == nil {
		roles = map[string]bool{}
		t.entries[k] = roles
		t.paths[k.path]++
	}
	roles[role] = propagate
}

// unset removes a role at a path.
func (t *aclTree) unset(k aclKey, role string) {
	roles := t.entries[k]
	if roles == nil {
		return
	}
	delete(roles, role)
	if len(roles) == 0 {
		t.remove(k)
	}
}

// remove removes an entry and counts down the entries of its path. A path
// without entries costs nothing in a check.
func (t *aclTree) remove(k aclKey) {
	delete(t.entries, k)
	if t.paths[k.path]--; t.paths[k.path] <= 0 {
		delete(t.paths, k.path)
	}
}

// drop removes every entry of one subject.
func (t *aclTree) drop(kind, ugid string) {
	for k := range t.entries {
		if k.kind == kind && k.ugid == ugid {
			t.remove(k)
		}
	}
}

// dropRole removes a role from every entry.
func (t *aclTree) dropRole(role string) {
	for k := range t.entries {
		t.unset(k, role)
	}
}

// sortedKeys returns the entries' keys by path, kind and subject.
func (t *aclTree) sortedKeys() []aclKey {
	keys := make([]aclKey, 0, len(t.entries))
	for k := range t.entries {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b aclKey) int {
		if c := strings.Compare(a.path, b.path); c != 0 {
			return c
		}
		if c := strings.Compare(a.kind, b.kind); c != 0 {
			return c
		}
		return strings.Compare(a.ugid, b.ugid)
	})
	return keys
}

// normaliseACLPath brings a path into the form of aclKey.path: leading slash,
// no doubled or trailing one.
func normaliseACLPath(p string) string {
	parts := strings.FieldsFunc(p, func(r rune) bool { return r == '/' })
	return "/" + strings.Join(parts, "/")
}

// aclPathPrefixes are the trees that access control knows; anything else is refused.
var aclPathPrefixes = []string{"/access", "/mapping", "/nodes", "/pool", "/sdn", "/storage", "/vms"}

// validACLPath reports whether the API accepts a path. Unknown first parts are
// refused.
func validACLPath(p string) bool {
	if p == "/" {
		return true
	}
	return slices.ContainsFunc(aclPathPrefixes, func(prefix string) bool {
		return p == prefix || strings.HasPrefix(p, prefix+"/")
	})
}

// aclSteps returns the path and all its ancestors, root first.
func aclSteps(path string) []string {
	steps := []string{"/"}
	if path == "/" {
		return steps
	}
	for i := 1; i < len(path); i++ {
		if path[i] == '/' {
			steps = append(steps, path[:i])
		}
	}
	return append(steps, path)
}

// Grant gives a role to a user ("a@pve"), a token ("a@pve!t") or a group ("@ops") on a path.
func (c *Cluster) Grant(path, subject, role string, propagate bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.grant(path, subject, role, propagate)
}

// grant adds a role and voids all cached permissions.
func (c *Cluster) grant(path, subject, role string, propagate bool) {
	c.acl.set(aclKeyOf(path, subject), role, propagate)
	c.accessChanged()
}

// Revoke takes back what Grant gave.
func (c *Cluster) Revoke(path, subject, role string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.acl.unset(aclKeyOf(path, subject), role)
	c.accessChanged()
}

// aclKeyOf returns the key of an entry. The first character of the subject, or
// an exclamation mark in it, tells its kind.
func aclKeyOf(path, subject string) aclKey {
	k := aclKey{path: normaliseACLPath(path), kind: "user", ugid: subject}
	switch {
	case strings.HasPrefix(subject, "@"):
		k.kind, k.ugid = "group", subject[1:]
	case strings.Contains(subject, "!"):
		k.kind = "token"
	}
	return k
}

// ClearACL removes every access control entry.
func (c *Cluster) ClearACL() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.acl = newACLTree()
	c.accessChanged()
}
