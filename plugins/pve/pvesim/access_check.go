package pvesim

import (
	"strings"

	"github.com/hostler/hostler/plugins/pve/pvesim/schema"
)

// permitted checks the privileges that the schema asks for, before the
// parameters are verified. What the schema has in prose only, the endpoint's
// function checks, as the real server does. root@pam may do everything; a token
// of root@pam is somebody else.
func (r *request) permitted(e *endpoint) *apiError {
	if r.who.id() == rootUser {
		return nil
	}
	access := e.facts().Access
	if before9 := e.facts().Before9; before9 != nil && r.c.release.major < 9 {
		access = *before9
	}
	switch {
	case access.Check != nil:
		if err := r.evaluate(access.Check); err != nil {
			return err
		}
	case access.User == "":
		return forbidden("user != root@pam")
	}
	return nil
}

// evaluate answers nil or why the check fails.
func (r *request) evaluate(check *schema.Check) *apiError {
	switch check.Kind {
	case schema.And:
		for _, sub := range check.Of {
			if err := r.evaluate(sub); err != nil {
				return err
			}
		}
		return nil
	case schema.Or:
		for _, sub := range check.Of {
			// What is asked of another request only does not allow this one.
			if !r.spared(sub) && r.evaluate(sub) == nil {
				return nil
			}
		}
		return forbidden("")
	case schema.Perm:
		return r.evaluatePerm(check)
	case schema.PermModify:
		return r.mayModifyACL()
	case schema.UserParam:
		return r.evaluateUserParam(check.Subject)
	}
	return r.evaluateUserGroup(check)
}

// spared reports whether a check is for requests with a parameter that this one lacks.
func (r *request) spared(check *schema.Check) bool {
	return check.Kind == schema.Perm && check.OnlyWith != "" && !r.values.has(check.OnlyWith)
}

// evaluatePerm checks the privileges that the schema states for an endpoint.
func (r *request) evaluatePerm(check *schema.Check) *apiError {
	if r.spared(check) {
		return nil
	}
	path := r.fill(check.Path)
	if check.Any {
		return r.c.check(r.who, path, check.Privileges...)
	}
	for _, priv := range check.Privileges {
		if err := r.c.check(r.who, path, priv); err != nil {
			return err
		}
	}
	return nil
}

// evaluateUserParam is about the parameter userid: whether that is the caller,
// or what the caller may in its realm.
func (r *request) evaluateUserParam(subject string) *apiError {
	id := r.values.text("userid")
	if subject == "self" {
		switch {
		case r.c.users[id] == nil:
			return failure("no such user ('%s')", id)
		case r.who.id() != id:
			return forbidden("")
		}
		return nil
	}
	if !userIDPattern.MatchString(id) {
		return failure("value '%s' does not look like a valid user name", id)
	}
	return r.c.check(r.who, "/access/realm/"+realmOf(id), subject)
}

// evaluateUserGroup asks for a privilege on all groups, or on one that the user
// in the parameter userid is in. Where the request puts the user into groups,
// the privilege is needed on each of them.
func (r *request) evaluateUserGroup(check *schema.Check) *apiError {
	u := r.c.users[r.values.text("userid")]
	if u == nil && check.Groups != "create" {
		return failure("no such user ('%s')", r.values.text("userid"))
	}
	all := r.c.check(r.who, "/access/groups", check.Privileges...)
	if all == nil {
		return nil
	}
	if check.Groups != "" {
		for _, g := range r.values.listOf("groups") {
			if err := r.c.check(r.who, "/access/groups/"+g, check.Privileges...); err != nil {
				return err
			}
		}
	}
	if check.Groups == "create" {
		if len(r.values.listOf("groups")) > 0 {
			return nil
		}
		return all
	}
	for g := range u.groups {
		if r.c.allowed(r.who, "/access/groups/"+g, check.Privileges...) {
			return nil
		}
	}
	return all
}

// aclModifyPrivileges are what lets one change the entries of a tree besides Permissions.Modify.
func aclModifyPrivileges(path string) []string {
	switch {
	case strings.HasPrefix(path, "/storage/"):
		return []string{"Permissions.Modify", "Datastore.Allocate"}
	case strings.HasPrefix(path, "/vms/"):
		return []string{"Permissions.Modify", "VM.Allocate"}
	case strings.HasPrefix(path, "/pool/"):
		return []string{"Permissions.Modify", "Pool.Allocate"}
	}
	return []string{"Permissions.Modify"}
}

// mayModifyACL looks at the path in the parameter of that name, which has not been verified yet.
func (r *request) mayModifyACL() *apiError {
	path := normaliseACLPath(r.values.text("path"))
	if !r.values.has("path") {
		return badParameter("path", textMissing)
	}
	if !validACLPath(path) {
		return badParameter("path", "invalid ACL path '"+path+"'")
	}
	return r.c.check(r.who, path, aclModifyPrivileges(path)...)
}
