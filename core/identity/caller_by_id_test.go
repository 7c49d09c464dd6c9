package identity_test

import (
	"maps"
	"testing"

	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/identity/identitytest"
	"github.com/hostler/hostler/core/problem"
)

func TestCallerOf(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	users := identitytest.New(d)
	blue := identitytest.Team(t, d, "blue")
	roles := identitytest.In{identity.DefaultTeam: identity.Viewer, blue: identity.Admin}
	ann, none := identitytest.User(t, users, roles), identitytest.User(t, users, nil)
	caller, err := users.CallerOf(t.Context(), ann.ID)
	if err != nil || caller.UserID != ann.ID || caller.Email != ann.Email || !maps.Equal(caller.Teams, map[int64]identity.Role(roles)) ||
		caller.Scopes != nil || caller.SessionID != 0 {
		t.Errorf("%+v, %v", caller, err)
	}
	if caller, err := users.CallerOf(t.Context(), none.ID); err != nil || len(caller.Teams) != 0 {
		t.Errorf("%+v, %v", caller, err)
	}
	if _, err := d.Pool.Exec(t.Context(), "UPDATE users SET is_active = false WHERE id = $1", ann.ID); err != nil {
		t.Fatal(err)
	}
	if caller, err := users.CallerOf(t.Context(), ann.ID); problem.CodeOf(err) != problem.CodeForbidden || caller != nil {
		t.Errorf("%+v, %v", caller, err)
	}
	if _, err := d.Pool.Exec(t.Context(), "DELETE FROM users WHERE id = $1", ann.ID); err != nil {
		t.Fatal(err)
	}
	if caller, err := users.CallerOf(t.Context(), ann.ID); problem.CodeOf(err) != problem.CodeNotFound || caller != nil {
		t.Errorf("%+v, %v", caller, err)
	}
}
