// Package userstest has valid requests to users. The tests over all operations
// of the API send them; see package requesttest.
package userstest

import (
	"fmt"

	"github.com/hostler/hostler/core/api/requesttest"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/identity/identitytest"
)

// Requests are those of the resource.
var Requests = requesttest.Requests{
	Values: func(f *requesttest.Fixture) map[string]string {
		team := identitytest.Team(f.T, f.DB, requesttest.Canary+"-users") // whose name a list of users shows
		user := identitytest.User(f.T, f.Users, identitytest.In{team: identity.Viewer, identity.DefaultTeam: identity.Viewer})
		identitytest.Enrol(f.T, f.Users, user)
		return map[string]string{"user_id": fmt.Sprint(user.ID)}
	},
	Changes: func(f *requesttest.Fixture) []requesttest.Change {
		return []requesttest.Change{
			{Operation: "create_user", Body: `{"email":"zqcanary@example.com","password":"mehlwurm-zebra-19"}`},
			{Operation: "patch_user", Body: `{"display_name":"zqcanary"}`},
			{Operation: "reset_password", Body: `{"password":"mehlwurm-zebra-19"}`},
			{Operation: "reset_totp"},
			{Operation: "delete_user"},
		}
	},
}
