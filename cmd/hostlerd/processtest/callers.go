package processtest

import (
	"net/http"
	"testing"

	"github.com/hostler/hostler/core/api/apitest"
	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/identity/identitytest"
)

// callersOf returns a function that authenticates requests to a running service
// as a user with a role in a team. It creates the users and sessions directly
// in the database, which is much faster than the API.
func callersOf(t testing.TB, s *service) func(*http.Request, *apitest.Caller) {
	t.Helper()
	users := identitytest.New(dbtest.Open(t, s.DB))
	made := map[apitest.Caller]*identitytest.Account{}
	return func(r *http.Request, c *apitest.Caller) {
		team := c.Team
		if team == 0 {
			team = identity.DefaultTeam
		}
		if made[*c] == nil {
			made[*c] = identitytest.User(t, users, identitytest.In{team: c.Role})
		}
		r.AddCookie(made[*c].Cookie)
	}
}
