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

// remedyLimit bounds the question by which a refusal is explained: its caller waits already.
const remedyLimit = 5 * time.Second

// remedy writes the command for a node's shell that grants a token of the capability what it lacks. A privilege that the token has at
// another path is in its role, which then has to be given at the path too; any other is not in the role. A token that polls asks
// nothing more when it is refused, since each poll would: its role is taken to lack the privilege.
func remedy(credential endpoint.Credential) func(context.Context, *pveapi.Client, []string, string) string {
	return func(ctx context.Context, api *pveapi.Client, missing []string, path string) string {
		r, ok := roles[credential.Capability]
		// Of alternatives the first does.
		privilege, _, _ := strings.Cut(missing[0], "|")
		user, _, isToken := strings.Cut(credential.ID, "!")
		if !ok || !isToken || !privilegeName(privilege) {
			return ""
		}
		ctx, cancel := context.WithTimeout(ctx, remedyLimit)
		defer cancel()
		var have grants
		if credential.Capability != endpoint.Monitoring {
			if _, err := api.Get(ctx, "/access/permissions", nil, &have); err != nil {
				have = nil // the usual case is left
			}
		}
		if have.anywhere(privilege) {
			// The rights of a token are those of its user at most.
			return fmt.Sprintf("pveum acl modify %[1]s --users %[2]s --roles %[3]s && pveum acl modify %[1]s --tokens %[4]s --roles %[3]s",
				quote(path), quote(user), r.name, quote(credential.ID))
		}
		return fmt.Sprintf("pveum role modify %s --append 1 --privs %s", r.name, privilege)
	}
}

// mending writes the command that makes the role of a token's capability what it should be, and gives it to the token at a place: with
// what the role may have and the token has. What other roles give the token stays. Empty for what is no token.
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
	// A role that is there refuses to be added, and is what it should be by the next command.
	return fmt.Sprintf("pveum role add %[1]s 2>/dev/null; pveum role modify %[1]s --privs %[2]s && "+
		"pveum acl modify %[3]s --users %[4]s --roles %[1]s && pveum acl modify %[3]s --tokens %[5]s --roles %[1]s",
		r.name, strings.Join(slices.Compact(privileges), ","), quote(place), quote(user), quote(tokenID))
}

// privilegeName reports whether a text of the hypervisor is the name of a privilege, before it stands in a command.
func privilegeName(text string) bool {
	return text != "" && strings.Trim(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz.") == ""
}
