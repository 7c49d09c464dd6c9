package pvesim

import (
	"maps"
	"slices"
	"strings"
)

// groupEndpoints serves groups of users.
func groupEndpoints() []*endpoint {
	return []*endpoint{
		serve("GET", "/access/groups", listGroups),
		serve("POST", "/access/groups", createGroup),
		serve("GET", "/access/groups/{groupid}", readGroup),
		serve("PUT", "/access/groups/{groupid}", updateGroup),
		serve("DELETE", "/access/groups/{groupid}", deleteGroup),
	}
}

// members returns the users of a group, sorted.
func (c *Cluster) members(group string) []string {
	list := []string{}
	for _, id := range slices.Sorted(maps.Keys(c.users)) {
		if c.users[id].groups[group] {
			list = append(list, id)
		}
	}
	return list
}

// listGroups leaves out groups that the caller may not see, instead of refusing
// the request.
func listGroups(r *request) (result, *apiError) {
	rows := []map[string]any{}
	for _, id := range slices.Sorted(maps.Keys(r.c.groups)) {
		if !r.c.allowed(r.who, "/access/groups/"+id, "User.Modify", "Sys.Audit", "Group.Allocate") {
			continue
		}
		row := map[string]any{"groupid": id, "users": strings.Join(r.c.members(id), ",")}
		if comment := r.c.groups[id]; comment != "" {
			row["comment"] = comment
		}
		rows = append(rows, row)
	}
	return ok(rows)
}

// createGroup refuses an existing name with the text of the original.
func createGroup(r *request) (result, *apiError) {
	id := r.values.text("groupid")
	if _, exists := r.c.groups[id]; exists {
		return fail(failure("create group failed: group '%s' already exists", id))
	}
	r.c.groups[id] = r.values.text("comment")
	r.c.accessChanged()
	return ok(nil)
}

// groupOfPath returns the group in the path of a request.
func (r *request) groupOfPath() (string, *apiError) {
	id := r.values.text("groupid")
	if _, exists := r.c.groups[id]; !exists {
		return "", failure("group '%s' does not exist", id)
	}
	return id, nil
}

// readGroup returns a group with its members.
func readGroup(r *request) (result, *apiError) {
	id, err := r.groupOfPath()
	if err != nil {
		return fail(err)
	}
	row := map[string]any{"members": r.c.members(id)}
	if comment := r.c.groups[id]; comment != "" {
		row["comment"] = comment
	}
	return ok(row)
}

// updateGroup changes the comment of a group.
func updateGroup(r *request) (result, *apiError) {
	id, err := r.groupOfPath()
	if err != nil {
		return fail(err)
	}
	if r.values.has("comment") {
		r.c.groups[id] = r.values.text("comment")
	}
	return ok(nil)
}

// deleteGroup works on groups with members too.
func deleteGroup(r *request) (result, *apiError) {
	id, err := r.groupOfPath()
	if err != nil {
		return fail(err)
	}
	delete(r.c.groups, id)
	for _, u := range r.c.users {
		delete(u.groups, id)
	}
	r.c.acl.drop("group", id)
	r.c.accessChanged()
	return ok(nil)
}
