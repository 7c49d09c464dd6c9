package pvesim

import (
	"maps"
	"slices"
	"strings"
)

// roleEndpoints serves roles.
func roleEndpoints() []*endpoint {
	return []*endpoint{
		serve("GET", "/access/roles", listRoles),
		serve("POST", "/access/roles", createRole),
		serve("GET", "/access/roles/{roleid}", readRole),
		serve("PUT", "/access/roles/{roleid}", updateRole),
		serve("DELETE", "/access/roles/{roleid}", deleteRole),
	}
}

// listRoles returns all roles to everybody who is logged in.
func listRoles(r *request) (result, *apiError) {
	rows := []map[string]any{}
	for _, id := range slices.Sorted(maps.Keys(r.c.roles)) {
		role := r.c.roles[id]
		rows = append(rows, map[string]any{"roleid": id, "privs": strings.Join(role.names(), ","), "special": oneOrZero(role.special)})
	}
	return ok(rows)
}

// createRole refuses names that begin like the built-in roles.
func createRole(r *request) (result, *apiError) {
	id := r.values.text("roleid")
	if strings.HasPrefix(strings.ToLower(id), "pve") {
		return fail(badParameter("roleid", "cannot use role ID starting with the (case-insensitive) 'PVE' namespace"))
	}
	if r.c.roles[id] != nil {
		return fail(failure("create role failed: role '%s' already exists", id))
	}
	r.c.setRole(id, r.values.listOf("privs"))
	return ok(nil)
}

// roleOfPath returns the role in the path of a request.
func (r *request) roleOfPath() (*role, *apiError) {
	id := r.values.text("roleid")
	role := r.c.roles[id]
	if role == nil {
		return nil, failure("role '%s' does not exist", id)
	}
	return role, nil
}

// readRole returns the privileges of a role.
func readRole(r *request) (result, *apiError) {
	role, err := r.roleOfPath()
	if err != nil {
		return fail(err)
	}
	out := map[string]int{}
	for p := range role.privs {
		out[p] = 1
	}
	return ok(out)
}

// updateRole replaces or, with append, extends the privileges of a role.
// Built-in roles cannot change.
func updateRole(r *request) (result, *apiError) {
	role, err := r.roleOfPath()
	if err != nil {
		return fail(err)
	}
	if role.special {
		return fail(failure("auto-generated role '%s' cannot be modified", r.values.text("roleid")))
	}
	if !r.values.boolean("append", false) {
		role.privs = map[string]bool{}
	}
	for _, p := range r.values.listOf("privs") {
		role.privs[p] = true
	}
	r.c.accessChanged()
	return ok(nil)
}

// deleteRole removes a role and its entries.
func deleteRole(r *request) (result, *apiError) {
	id := r.values.text("roleid")
	role := r.c.roles[id]
	if role == nil {
		return fail(failure("delete role failed: role '%s' does not exist", id))
	}
	if role.special {
		return fail(failure("auto-generated role '%s' cannot be deleted", id))
	}
	delete(r.c.roles, id)
	r.c.acl.dropRole(id)
	r.c.accessChanged()
	return ok(nil)
}
