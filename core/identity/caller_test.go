package identity_test

import (
	"reflect"
	"testing"

	"github.com/hostler/hostler/core/identity"
)

func TestRolesHoldInTheirTeamsAndTheDefaultTeamEverywhere(t *testing.T) {
	t.Parallel()
	const blue, red = int64(2), int64(3)
	for name, test := range map[string]struct {
		teams    map[int64]identity.Role
		instance identity.Role
		onBlue   identity.Role
		highest  identity.Role
		visible  identity.VisibleTeams
		asAdmin  identity.VisibleTeams
	}{
		"nobody":                 {nil, 0, 0, 0, none(), none()},
		"viewer of the instance": {roles(1, identity.Viewer), identity.Viewer, identity.Viewer, identity.Viewer, every(), none()},
		"admin of blue":          {roles(blue, identity.Admin), 0, identity.Admin, identity.Admin, only(blue), only(blue)},
		"admin of red":           {roles(red, identity.Admin), 0, 0, identity.Admin, only(red), only(red)},
		"viewer here, owner of blue": {roles(1, identity.Viewer, blue, identity.Owner), identity.Viewer, identity.Owner, identity.Owner,
			every(), only(blue)},
		"owner here, viewer of blue": {roles(1, identity.Owner, blue, identity.Viewer), identity.Owner, identity.Owner, identity.Owner,
			every(), every()},
		"operator of blue, admin of red": {roles(blue, identity.Operator, red, identity.Admin), 0, identity.Operator, identity.Admin,
			only(blue, red), only(red)},
		"an entry without a role is none.": {roles(1, identity.NoRole, blue, identity.NoRole), 0, 0, 0, none(), none()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := &identity.Caller{Teams: test.teams}
			if c.Instance() != test.instance || c.On(blue) != test.onBlue || c.Highest() != test.highest {
				t.Errorf("instance %v, on blue %v, highest %v", c.Instance(), c.On(blue), c.Highest())
			}
			if got := c.Visible(); !reflect.DeepEqual(got, test.visible) {
				t.Errorf("sees %+v, want %+v", got, test.visible)
			}
			if got := c.VisibleAs(identity.Admin); !reflect.DeepEqual(got, test.asAdmin) {
				t.Errorf("as admin sees %+v, want %+v", got, test.asAdmin)
			}
		})
	}
}

func roles(pairs ...any) map[int64]identity.Role {
	m := map[int64]identity.Role{}
	for i := 0; i < len(pairs); i += 2 {
		team, ok := pairs[i].(int64)
		if !ok {
			team = int64(pairs[i].(int))
		}
		m[team] = pairs[i+1].(identity.Role)
	}
	return m
}

func none() identity.VisibleTeams               { return identity.VisibleTeams{Teams: []int64{}} }
func every() identity.VisibleTeams              { return identity.VisibleTeams{All: true, Teams: []int64{}} }
func only(teams ...int64) identity.VisibleTeams { return identity.VisibleTeams{Teams: teams} }
