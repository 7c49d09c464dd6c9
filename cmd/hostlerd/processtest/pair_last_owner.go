package processtest

import (
	"context"
	"fmt"
	"net/http"
	"testing"
)

// Two owners take the role from each other at the same moment, each on another instance: one succeeds, one stays.
func lastOwnerStays(t *testing.T, p *pair) {
	t.Helper()
	second := p.owner.user(t, "second-owner", "owner")
	rival := second.as(t, p.b)
	var me struct{ User account }
	p.owner.must(t, http.StatusOK, http.MethodGet, "/api/v1/auth/me", nil, &me)
	member := func(id int64) string { return fmt.Sprintf("/api/v1/teams/1/members/%d", id) }
	demote := func(c *client, id int64) func() (answer, error) {
		return func() (answer, error) {
			return c.try(context.WithoutCancel(t.Context()), http.MethodPut, member(id), map[string]any{"role": "admin"})
		}
	}
	wins := map[int]int{}
	for range 40 {
		got := atOnce(t, demote(p.owner, second.ID), demote(rival, me.User.ID))
		owners := number(t, p.db,
			"SELECT count(*) FROM team_members m JOIN users u ON u.id = m.user_id WHERE m.team_id = 1 AND m.role = 'owner' AND u.is_active")
		winner := -1
		for i, a := range got {
			switch a.Status {
			case http.StatusOK:
				winner = i
			case http.StatusForbidden, http.StatusConflict:
			default:
				t.Errorf("a demotion was answered by %s", statuses(got))
			}
		}
		if owners != 1 || winner < 0 || got[0].Status == got[1].Status {
			t.Fatalf("%d owners are left after %s", owners, statuses(got))
		}
		wins[winner]++
		by, loser := p.owner, second.ID
		if winner == 1 {
			by, loser = rival, me.User.ID
		}
		by.must(t, http.StatusOK, http.MethodPut, member(loser), map[string]any{"role": "owner"}, nil)
	}
	t.Logf("the instances won %d and %d rounds", wins[0], wins[1])
	p.owner.must(t, http.StatusOK, http.MethodPut, member(second.ID), map[string]any{"role": "admin"}, nil)
}
