package schedule_test

import (
	"testing"

	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/core/schedule"
	"github.com/hostler/hostler/core/scope"
)

func TestRequire(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	if _, err := d.Pool.Exec(t.Context(), `INSERT INTO teams (id, name, slug) VALUES (2, 'Two', 'two');
		INSERT INTO hosts (driver, name, address, team_id) VALUES ('fake', 'one', 'a:1', 1), ('fake', 'two', 'b:1', 2)`); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name  string
		teams map[int64]identity.Role
		host  int64
		code  problem.Code
	}{
		{"instance", map[int64]identity.Role{1: identity.Operator}, 2, ""},
		{"own team", map[int64]identity.Role{2: identity.Operator}, 2, ""},
		{"too low", map[int64]identity.Role{2: identity.Viewer}, 2, problem.CodeForbidden},
		{"foreign", map[int64]identity.Role{2: identity.Owner}, 1, problem.CodeNotFound},
		{"missing", map[int64]identity.Role{1: identity.Owner}, 3, problem.CodeNotFound},
		{"the service", nil, 1, ""},
		{"missing for the service", nil, 3, problem.CodeNotFound},
	} {
		ctx := t.Context()
		if test.teams != nil {
			ctx = identity.WithCaller(ctx, &identity.Caller{Teams: test.teams})
		}
		found, err := schedule.Require(ctx, d, scope.Host, test.host, identity.Operator)
		if test.code == "" && (err != nil || found.ID != test.host) || test.code != "" && (err == nil || problem.CodeOf(err) != test.code) {
			t.Errorf("%s: %+v, %v", test.name, found, err)
		}
	}
}
