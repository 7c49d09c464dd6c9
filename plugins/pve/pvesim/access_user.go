package pvesim

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// itoa formats a number.
func itoa(n int) string { return strconv.Itoa(n) }

// realms are the authentication realms of a fresh installation.
var realms = map[string]string{"pam": "Linux PAM standard authentication", "pve": "Proxmox VE authentication server"}

// userAttributes are the free texts of a user.
var userAttributes = []string{"comment", "email", "firstname", "lastname", "keys"}

// userEndpoints serves users.
func userEndpoints() []*endpoint {
	return []*endpoint{
		serve("GET", "/access/domains", listRealms),
		serve("GET", "/access/users", listUsers),
		serve("POST", "/access/users", createUser),
		serve("GET", "/access/users/{userid}", readUser),
		serve("PUT", "/access/users/{userid}", updateUser),
		serve("DELETE", "/access/users/{userid}", deleteUser),
	}
}

// listRealms answers without a login, because the login page needs it.
func listRealms(*request) (result, *apiError) {
	rows := []map[string]any{}
	for _, realm := range []string{"pve", "pam"} {
		rows = append(rows, map[string]any{"realm": realm, "type": realm, "comment": realms[realm]})
	}
	return ok(rows)
}

// userOfPath returns the user in the path of a request.
func (r *request) userOfPath() (*user, *apiError) {
	id := r.values.text("userid")
	u := r.c.users[id]
	if u == nil {
		return nil, failure("no such user ('%s')", id)
	}
	return u, nil
}

// row returns a user as lists show it.
func (u *user) row() map[string]any {
	row := map[string]any{"enable": oneOrZero(u.enable), "expire": u.expire}
	for k, v := range u.attrs {
		if v != "" && k != "keys" {
			row[k] = v
		}
	}
	return row
}

// listUsers shows all users to those who may audit them, and everybody himself.
// A token shows nothing of its own.
func listUsers(r *request) (result, *apiError) {
	rows := []map[string]any{}
	for _, id := range slices.Sorted(maps.Keys(r.c.users)) {
		u := r.c.users[id]
		sees := id == r.who.id() || r.c.allowed(r.who, "/access/groups", "User.Modify", "Sys.Audit")
		for g := range u.groups {
			sees = sees || r.c.allowed(r.who, "/access/groups/"+g, "User.Modify", "Sys.Audit")
		}
		if !sees || r.values.has("enabled") && u.enable != r.values.boolean("enabled", true) {
			continue
		}
		row := u.row()
		row["userid"], row["realm-type"] = id, realmOf(id)
		if r.values.boolean("full", false) {
			row["groups"], row["tokens"] = strings.Join(sortedGroups(u), ","), nil
			if len(u.tokens) > 0 {
				row["tokens"] = u.tokenRows()
			}
		}
		rows = append(rows, row)
	}
	return ok(rows)
}

// createUser creates a user in an existing realm.
func createUser(r *request) (result, *apiError) {
	id := r.values.text("userid")
	if _, known := realms[realmOf(id)]; !known {
		return fail(failure("create user failed: auth domain '%s' does not exist", realmOf(id)))
	}
	if r.c.users[id] != nil {
		return fail(failure("create user failed: user '%s' already exists", id))
	}
	u := newUser()
	u.password = r.values.text("password")
	if err := r.applyUser(u, "create user failed: "); err != nil {
		return fail(err)
	}
	r.c.users[id] = u
	r.c.accessChanged()
	return ok(nil)
}

// applyUser takes over what the request sets.
func (r *request) applyUser(u *user, prefix string) *apiError {
	groups := r.values.listOf("groups")
	for _, g := range groups {
		if _, known := r.c.groups[g]; !known {
			return failure("%sgroup '%s' does not exist", prefix, g)
		}
	}
	for _, k := range userAttributes {
		if r.values.has(k) {
			u.attrs[k] = r.values.text(k)
		}
	}
	u.enable = r.values.boolean("enable", u.enable)
	u.expire = r.values.integer("expire", u.expire)
	if r.values.has("groups") {
		if !r.values.boolean("append", false) {
			u.groups = map[string]bool{}
		}
		for _, g := range groups {
			u.groups[g] = true
		}
	}
	return nil
}

// readUser returns a user with groups and tokens.
func readUser(r *request) (result, *apiError) {
	u, err := r.userOfPath()
	if err != nil {
		return fail(err)
	}
	row := u.row()
	row["groups"], row["tokens"] = append([]string{}, sortedGroups(u)...), nil
	if len(u.tokens) > 0 {
		tokens := map[string]any{}
		for id, t := range u.tokens {
			tokens[id] = t.row()
		}
		row["tokens"] = tokens
	}
	return ok(row)
}

// updateUser changes the attributes that are sent.
func updateUser(r *request) (result, *apiError) {
	u, err := r.userOfPath()
	if err != nil {
		return fail(err)
	}
	if err := r.applyUser(u, "update user failed: "); err != nil {
		return fail(err)
	}
	r.c.accessChanged()
	return ok(nil)
}

// deleteUser takes the user's tokens along. That root@pam can be deleted is no
// mistake of this simulator.
func deleteUser(r *request) (result, *apiError) {
	if _, err := r.userOfPath(); err != nil {
		return fail(err)
	}
	r.c.deleteUser(r.values.text("userid"))
	return ok(nil)
}
