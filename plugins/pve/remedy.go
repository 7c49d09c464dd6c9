package pve

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hostler/hostler/plugins/pve/pveapi"
	"github.com/hostler/hostler/sdk/endpoint"
)

// remedyLimit limits the request by which a refusal is explained: the caller
// has waited already.
const remedyLimit = 5 * time.Second

// remedy returns the command for a node's shell that grants a token of the
// capability what it lacks: privileges that are missing in its role are added,
// and the role is assigned at the path if the token has no right there. For a
// token that polls it makes no request, since each poll would repeat it; its
// command does both, which does no harm.
func remedy(credential endpoint.Credential) func(context.Context, *pveapi.Client, []string, string) string {
	return func(ctx context.Context, api *pveapi.Client, missing []string, path string) string {
		r, ok := roles[credential.Capability]
		user, _, isToken := strings.Cut(credential.ID, "!")
		if !ok || !isToken {
			return ""
		}
		var privileges []string
		for _, alternatives := range missing {
			privilege, _, _ := strings.Cut(alternatives, "|") // the first does
			if !privilegeName(privilege) {
				return ""
			}
			privileges = append(privileges, privilege)
		}
		given := fmt.Sprintf("pveum acl modify %[1]s --users %[2]s --roles %[3]s && pveum acl modify %[1]s --tokens %[4]s --roles %[3]s",
			quote(path), quote(user), r.name, quote(credential.ID))
		added := func(privileges []string) string {
			return fmt.Sprintf("pveum role modify %s --append 1 --privs %s", r.name, strings.Join(privileges, ","))
		}
		if credential.Capability == endpoint.Monitoring {
			return added(privileges) + " && " + given
		}
		ctx, cancel := context.WithTimeout(ctx, remedyLimit)
		defer cancel()
		var have grants
		if _, err := api.Get(ctx, "/access/permissions", nil, &have); err != nil {
			return added(privileges) + " && " + given
		}
		lacking := slices.DeleteFunc(slices.Clone(privileges), have.anywhere)
		if len(lacking) > 0 {
			lacking = notInRole(ctx, api, r.name, lacking)
		}
		switch {
		case len(lacking) == 0:
			return given
		case have.reach(path):
			return added(lacking)
		}
		return added(lacking) + " && " + given
	}
}

// notInRole returns the privileges that a role does not have; all of them if it
// cannot be read.
func notInRole(ctx context.Context, api *pveapi.Client, name string, privileges []string) []string {
	var has map[string]pveapi.Flag
	path, err := pveapi.Path("access", "roles", name)
	if err == nil {
		_, err = api.Get(ctx, path, nil, &has)
	}
	if err != nil {
		return privileges
	}
	return slices.DeleteFunc(privileges, func(p string) bool { return bool(has[p]) })
}

// reach reports whether the token has any right at the path or above it.
func (g grants) reach(path string) bool {
	for ; path != "/" && path != ""; path = path[:strings.LastIndexByte(path, '/')] {
		if len(g[path]) > 0 {
			return true
		}
	}
	return len(g["/"]) > 0
}

// mending returns the command that sets the role of a token's capability, and
// assigns it at a place. The role keeps those of its optional privileges that
// the token has. Rights from other roles stay. It returns an empty text if the
// id is no token's.
func mending(tokenID string, r role, have grants, place string, at release) string {
	user, _, isToken := strings.Cut(tokenID, "!")
	if !isToken {
		return ""
	}
	privileges := known(slices.Concat(r.privileges, r.recommended), at)
	for _, optional := range r.optional {
		if have.anywhere(optional) {
			privileges = append(privileges, optional)
		}
	}
	slices.Sort(privileges)
	// If the role exists, the first command fails without output, and the
	// second one corrects the role.
	return fmt.Sprintf("pveum role add %[1]s 2>/dev/null; pveum role modify %[1]s --privs %[2]s && "+
		"pveum acl modify %[3]s --users %[4]s --roles %[1]s && pveum acl modify %[3]s --tokens %[5]s --roles %[1]s",
		r.name, strings.Join(slices.Compact(privileges), ","), quote(place), quote(user), quote(tokenID))
}

// privilegeName reports whether a text is the name of a privilege. It is
// checked before it becomes part of a command.
func privilegeName(text string) bool {
	return text != "" && strings.Trim(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz.") == ""
}
