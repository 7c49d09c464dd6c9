package pvesim

import (
	"maps"
	"slices"
)

// aclEndpoints serves the access control list.
func aclEndpoints() []*endpoint {
	return []*endpoint{
		serve("GET", "/access/acl", listACL),
		serve("PUT", "/access/acl", updateACL),
	}
}

// listACL shows the entries of those paths on which the caller may change permissions.
func listACL(r *request) (result, *apiError) {
	rows := []map[string]any{}
	for _, k := range r.c.acl.sortedKeys() {
		if !r.c.allowed(r.who, k.path, "Permissions.Modify", "Sys.Audit") {
			continue
		}
		roles := r.c.acl.entries[k]
		for _, role := range slices.Sorted(maps.Keys(roles)) {
			rows = append(rows, map[string]any{
				"path": k.path, "type": k.kind, "ugid": k.ugid, "roleid": role, "propagate": oneOrZero(roles[role]),
			})
		}
	}
	return ok(rows)
}

// updateACL adds or removes entries for any number of users, groups, tokens and
// roles. If a role or a subject does not exist, nothing is changed.
func updateACL(r *request) (result, *apiError) {
	v := r.values
	if !v.has("users") && !v.has("groups") && !v.has("tokens") {
		const text = "either 'users', 'groups' or 'tokens' is required."
		return fail(badParameters(map[string]string{"users": text, "groups": text, "tokens": text}))
	}
	path, remove := normaliseACLPath(v.text("path")), v.boolean("delete", false)
	roles := v.listOf("roles")
	for _, role := range roles {
		if r.c.roles[role] == nil {
			return fail(failure("ACL update failed: role '%s' does not exist", role))
		}
	}
	var keys []aclKey
	for kind, name := range map[string]string{"user": "users", "group": "groups", "token": "tokens"} {
		for _, id := range v.listOf(name) {
			if err := r.c.aclSubjectExists(kind, id); err != nil {
				return fail(err)
			}
			keys = append(keys, aclKey{path, kind, id})
		}
	}
	for _, k := range keys {
		for _, role := range roles {
			if remove {
				r.c.acl.unset(k, role)
			} else {
				r.c.acl.set(k, role, v.boolean("propagate", true))
			}
		}
	}
	r.c.accessChanged()
	return ok(nil)
}

// aclSubjectExists looks before entries are set and before they are deleted:
// what is gone has none that could be deleted.
func (c *Cluster) aclSubjectExists(kind, id string) *apiError {
	switch kind {
	case "group":
		if _, exists := c.groups[id]; !exists {
			return failure("ACL update failed: group '%s' does not exist", id)
		}
	case "user":
		if c.users[id] == nil {
			return failure("ACL update failed: user '%s' does not exist", id)
		}
	case "token":
		if _, _, err := c.findToken(id); err != nil {
			who := parseIdentity(id)
			return failure("ACL update failed: no such token '%s' for user '%s'", who.token, who.user)
		}
	}
	return nil
}
