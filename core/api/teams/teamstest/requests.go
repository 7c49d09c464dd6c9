// Package teamstest has valid requests to teams and their members. The tests
// over all operations of the API send them; see package requesttest.
package teamstest

import (
	"fmt"

	"github.com/hostler/hostler/core/api/requesttest"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/identity/identitytest"
)

// Requests are those of the resource.
var Requests = requesttest.Requests{
	Values: func(f *requesttest.Fixture) map[string]string {
		return map[string]string{"team_id": fmt.Sprint(identitytest.Team(f.T, f.DB, requesttest.Canary+"-team"))}
	},
	Changes: func(f *requesttest.Fixture) []requesttest.Change {
		member := map[string]string{"user_id": fmt.Sprint(identitytest.As(f.T, f.Users, identity.Viewer).ID)}
		return []requesttest.Change{
			{Operation: "create_team", Body: `{"name":"zqcanary"}`},
			{Operation: "patch_team", Body: `{"description":"x"}`},
			{Operation: "set_team_member", Body: `{"role":"operator"}`, Path: member},
			{Operation: "remove_team_member", Path: member},
			{Operation: "delete_team"},
		}
	},
}
