package scenarios

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/hostler/hostler/core/api"
	"github.com/hostler/hostler/core/api/apitest"
	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/api/teams"
	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/identity/identitytest"
	"github.com/hostler/hostler/core/service/servicetest"
)

// teamsFixture is the real handler on a real database.
type teamsFixture struct{ *servicetest.Resource }

func newTeams(t *testing.T) *teamsFixture {
	t.Helper()
	return &teamsFixture{servicetest.NewResourceOfUsers(t, func(a *op.API, d api.Deps) { teams.Register(a, d.Teams) })}
}

// newest is the newest row of the audit log.
func (s *teamsFixture) newest(t *testing.T) audit.Row {
	t.Helper()
	rows, _, err := audit.List(t.Context(), s.DB, audit.Filter{AllTeams: true, Limit: 1})
	if err != nil || len(rows) == 0 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	return rows[0]
}

func teamPath(id int64) string { return fmt.Sprint("/api/v1/teams/", id) }

func memberPath(team, user int64) string {
	return fmt.Sprintf("/api/v1/teams/%d/members/%d", team, user)
}

func TestCreateAndListTeams(t *testing.T) {
	t.Parallel()
	s := newTeams(t)
	const path = "/api/v1/teams"
	post := func(name, body string, as *apitest.Caller, status int, code string, more ...string) apitest.Scenario {
		return do(name, "POST", path, body, as, status, code, more...)
	}
	s.Account(apitest.Admin)
	s.Exec("INSERT INTO hosts (driver, name, address) VALUES ('fake', 'rack1', 'a:1')")
	s.Run(t,
		post("derived", `{"name":" Röd Team ","description":null,"slug":null}`, apitest.Owner, 201, "",
			`"name":"Röd Team","slug":"rod-team","description":null`, `"members":0,"hosts":0`),
		post("derived again", `{"name":"Röd Team"}`, apitest.Owner, 201, "", `"slug":"rod-team-2"`),
		post("given", `{"name":"Röd Team","slug":"r","description":"a\nb"}`, apitest.Owner, 201, "", `"slug":"r","description":"a\nb"`),
		post("taken", `{"name":"x","slug":"rod-team"}`, apitest.Owner, 409, "conflict", `"field":"slug"`),
		post("the default one's", `{"name":"x","slug":"default"}`, apitest.Owner, 409, "conflict"),
		post("no slug at all", `{"name":"x","slug":""}`, apitest.Owner, 422, "invalid", `["body","slug"]`),
		post("bad slug", `{"name":"x","slug":"../x"}`, apitest.Owner, 422, "invalid", `["body","slug"]`),
		post("only space", `{"name":"  "}`, apitest.Owner, 422, "invalid", `["body","name"]`),
		post("all faults at once", `{"name":"  ","description":7,"slug":"A B","x":1}`, apitest.Owner, 422, "invalid", `["body","name"]`,
			`["body","description"]`, `["body","slug"]`, `["body","x"]`),
		post("NUL", `{"name":"a\u0000"}`, apitest.Owner, 422, "invalid"),
		post("lone surrogate", `{"name":"a\udc00"}`, apitest.Owner, 422, "invalid", `["body","name"]`, "string_unicode"),
		post("null name", `{"name":null}`, apitest.Owner, 422, "invalid"),
		post("no name", `{}`, apitest.Owner, 422, "invalid", `["body","name"]`),
		post("an id", `{"name":"x","id":1}`, apitest.Owner, 422, "invalid", "extra_forbidden"),
		post("admin", `{"name":"x"}`, apitest.Admin, 403, "forbidden"),
		post("owner of another team", `{"name":"x"}`, apitest.In(2, identity.Owner), 403, "forbidden"),
		apitest.Scenario{Name: "list", Method: "GET", URL: path, As: apitest.Admin, Status: 200,
			Contains: []string{`[{"id":1,"name":"Default","slug":"default"`, `"members":2,"hosts":1}`},
			After: func(t *testing.T, answer *apitest.Response) {
				if answer.Header.Get("X-Total-Count") != "4" || strings.Count(string(answer.Body), `"slug"`) != 4 {
					t.Errorf("%s %s", answer.Header, answer.Body)
				}
			}},
		apitest.Scenario{Name: "a page", Method: "GET", URL: path + "?per_page=1&page=2", As: apitest.Admin, Status: 200,
			Lacks: []string{"Default"}},
		apitest.Scenario{Name: "operator", Method: "GET", URL: path, As: apitest.Operator, Status: 403, Error: "forbidden"},
	)
}

func TestPatchAndDeleteTeam(t *testing.T) {
	t.Parallel()
	s := newTeams(t)
	blue := identitytest.Team(t, s.DB, "blue")
	do := func(name, method string, id int64, body string, as *apitest.Caller, status int, code string, more ...string) apitest.Scenario {
		return do(name, method, teamPath(id), body, as, status, code, more...)
	}
	plan := func(name string, id int64, query string, status int, code string, more ...string) apitest.Scenario {
		planned := do(name, "DELETE", id, "", apitest.Owner, status, code, more...)
		planned.URL += query
		return planned
	}
	s.Exec("INSERT INTO clusters (team_id, name) VALUES ($1, 'prod')", blue)
	s.Exec("INSERT INTO hosts (driver, name, address, team_id, cluster_id) VALUES ('fake', 'rack1', 'a:1', $1, 1)", blue)
	s.Exec("INSERT INTO jobs (kind, target_kind, target_id, target_name, team_id, status) VALUES ('vm.start', 'vm', 1, 'web', $1, "+
		"'succeeded'), ('vm.start', 'vm', 2, 'db', $1, 'queued')", blue)
	member := s.Account(apitest.In(blue, identity.Owner))
	s.Run(t,
		do("rename", "PATCH", blue, `{"name":"Navy","description":"x"}`, apitest.Owner, 200, "",
			`"name":"Navy","slug":"blue","description":"x"`, `"members":1,"hosts":1`),
		do("clear", "PATCH", blue, `{"description":null}`, apitest.Owner, 200, "", `"name":"Navy"`, `"description":null`),
		do("no name", "PATCH", blue, `{"name":null}`, apitest.Owner, 422, "invalid", `["body","name"]`),
		do("nothing", "PATCH", blue, `{}`, apitest.Owner, 422, "invalid", "nothing_to_change"),
		do("the slug", "PATCH", blue, `{"slug":"navy"}`, apitest.Owner, 422, "invalid", "extra_forbidden"),
		do("unknown and faulty", "PATCH", 999999, `{"name":""}`, apitest.Owner, 422, "invalid"),
		do("unknown", "PATCH", 999999, `{"name":"x"}`, apitest.Owner, 404, "not_found"),
		do("admin", "PATCH", blue, `{"name":"x"}`, apitest.Admin, 403, "forbidden"),
		do("its own owner", "PATCH", blue, `{"name":"x"}`, apitest.In(blue, identity.Owner), 403, "forbidden"),
		do("the default one", "PATCH", 1, `{"name":"House"}`, apitest.Owner, 200, "", `"name":"House","slug":"default"`),
		do("delete the default one", "DELETE", 1, "", apitest.Owner, 409, "invalid_state"),
		do("delete as an admin", "DELETE", blue, "", apitest.Admin, 403, "forbidden"),
		plan("plan to delete the default one", 1, "?plan=true", 200, "", `"blockers":[{"error":"invalid_state"`),
		plan("plan to delete", blue, "?plan=true", 200, "", "1 host of the team moves to the default team", `"kind":"access"`),
		plan("plan of long ago", blue, "?plan_digest=0", 409, "plan_stale"),
		do("delete", "DELETE", blue, "", apitest.Owner, 200, "", `{"deleted":true,"hosts":1}`),
		do("again", "DELETE", blue, "", apitest.Owner, 404, "not_found"),
		do("huge", "DELETE", 9223372036854775807, "", apitest.Owner, 404, "not_found"),
	)
	for sql, want := range map[string]string{
		"SELECT count(*) FROM hosts WHERE team_id = 1 AND cluster_id = 1": "1",
		"SELECT count(*) FROM clusters WHERE team_id = 1":                 "1",
		"SELECT count(*) FROM jobs WHERE team_id = 1":                     "2",
		"SELECT count(*) FROM users WHERE email = '" + member.Email + "'": "1",
	} {
		if got := s.Value(sql); got != want {
			t.Errorf("%s: %s", sql, got)
		}
	}
	if got := s.Value("SELECT count(*) FROM audit WHERE action = 'team.delete' AND result = 'ok' AND team_id = $1 AND target_name = "+
		"'Navy' AND details->>'hosts' = '1'", blue); got != "1" {
		t.Error(got)
	}
}

func TestMembersOfTeams(t *testing.T) {
	t.Parallel()
	s := newTeams(t)
	blue := identitytest.Team(t, s.DB, "blue")
	user := identitytest.As(t, s.Users, identity.Viewer)
	owner := s.Account(apitest.Owner)
	put := func(name string, team, id int64, body string, as *apitest.Caller, status int, code string, more ...string) apitest.Scenario {
		return do(name, "PUT", memberPath(team, id), body, as, status, code, more...)
	}
	remove := func(name string, team, id int64, as *apitest.Caller, status int, code string) apitest.Scenario {
		return apitest.Scenario{Name: name, Method: "DELETE", URL: memberPath(team, id), As: as, Status: status, Error: code}
	}
	trail := func(s2 apitest.Scenario, old, now string) apitest.Scenario {
		s2.After = func(t *testing.T, _ *apitest.Response) {
			row := s.newest(t)
			var d struct {
				Email string  `json:"user_email"`
				Old   *string `json:"old_role"`
				New   *string `json:"new_role"`
			}
			if err := json.Unmarshal(row.Details, &d); err != nil {
				t.Fatal(err)
			}
			text := func(p *string) string {
				if p == nil {
					return ""
				}
				return *p
			}
			if row.TeamID == nil || *row.TeamID != blue || row.TargetKind != "team" || row.TargetName != "blue" || d.Email != user.Email ||
				text(d.Old) != old || text(d.New) != now {
				t.Errorf("%+v %s", row, row.Details)
			}
		}
		return s2
	}
	s.Run(t,
		trail(put("add", blue, user.ID, `{"role":"operator"}`, apitest.Owner, 200, "", fmt.Sprintf(`{"user_id":%d,"email":%q,`+
			`"display_name":null,"is_active":true,"role":"operator","added_at":"`, user.ID, user.Email)), "", "operator"),
		trail(put("change", blue, user.ID, `{"role":"owner"}`, apitest.Owner, 200, "", `"role":"owner"`), "operator", "owner"),
		trail(put("viewer by default", blue, user.ID, `{}`, apitest.Owner, 200, "", `"role":"viewer"`), "owner", "viewer"),
		put("keys of the other body", blue, user.ID, `{"role":"admin","cidr":"10.0.0.0/8","comment":null,"nomatch":1}`, apitest.Owner, 200, "",
			`"role":"admin"`),
		put("in whatever type", blue, user.ID, `{"cidr":{"a":[1]},"comment":7,"nomatch":"x"}`, apitest.Owner, 200, "", `"role":"viewer"`),
		put("another key", blue, user.ID, `{"role":"admin","name":"x"}`, apitest.Owner, 422, "invalid", "extra_forbidden"),
		put("null role", blue, user.ID, `{"role":null}`, apitest.Owner, 422, "invalid", `["body","role"]`),
		put("no such role", blue, user.ID, `{"role":"none"}`, apitest.Owner, 422, "invalid", `["body","role"]`),
		put("no body", blue, user.ID, ``, apitest.Owner, 422, "invalid"),
		put("a list", blue, user.ID, `[]`, apitest.Owner, 422, "invalid"),
		put("an admin", blue, user.ID, `{"role":"viewer"}`, apitest.Admin, 403, "forbidden"),
		put("an admin makes an owner of the instance", 1, s.Account(apitest.Admin).ID, `{"role":"owner"}`, apitest.Admin, 403, "forbidden"),
		put("a team's own owner", blue, user.ID, `{"role":"viewer"}`, apitest.In(blue, identity.Owner), 403, "forbidden"),
		put("no such user", blue, 999999, `{"role":"viewer"}`, apitest.Owner, 404, "not_found"),
		put("no such team", 999999, user.ID, `{"role":"viewer"}`, apitest.Owner, 404, "not_found"),
		put("unknown and faulty", 999999, user.ID, `{"role":"x"}`, apitest.Owner, 422, "invalid"),
		put("huge", 9223372036854775807, 9223372036854775807, `{}`, apitest.Owner, 404, "not_found"),
		put("the last owner", 1, owner.ID, `{"role":"admin"}`, apitest.Owner, 409, "last_owner"),
		put("the last owner by nothing", 1, owner.ID, `{}`, apitest.Owner, 409, "last_owner"),
		remove("the last owner leaves", 1, owner.ID, apitest.Owner, 409, "last_owner"),
		apitest.Scenario{Name: "list", Method: "GET", URL: teamPath(blue) + "/members", As: apitest.Admin, Status: 200,
			Contains: []string{user.Email, `"role":"viewer"`},
			Lacks:    []string{owner.Email}, After: func(t *testing.T, answer *apitest.Response) {
				if answer.Header.Get("X-Total-Count") != "2" {
					t.Errorf("%s %s", answer.Header, answer.Body)
				}
			}},
		apitest.Scenario{Name: "list of no team", Method: "GET", URL: teamPath(999999) + "/members", As: apitest.Admin, Status: 404,
			Error: "not_found"},
		apitest.Scenario{Name: "list as a team's owner", Method: "GET", URL: teamPath(blue) + "/members", As: apitest.In(blue, identity.Owner),
			Status: 403, Error: "forbidden"},
		remove("as an admin", blue, user.ID, apitest.Admin, 403, "forbidden"),
		trail(remove("remove", blue, user.ID, apitest.Owner, 200, ""), "viewer", ""),
		remove("again", blue, user.ID, apitest.Owner, 404, "not_found"),
		remove("no such user", blue, 999999, apitest.Owner, 404, "not_found"),
		remove("no such team", 999999, user.ID, apitest.Owner, 404, "not_found"),
	)
	if got := s.Value("SELECT role FROM team_members WHERE team_id = 1 AND user_id = $1", owner.ID); got != "owner" {
		t.Error(got)
	}
}

// A role holds, and ends, with the very next request.
func TestRoleInATeamHoldsAtOnce(t *testing.T) {
	t.Parallel()
	s := newTeams(t)
	user := identitytest.As(t, s.Users, identity.Viewer)
	status := func() int {
		r, _ := http.NewRequest("GET", s.URL+"/api/v1/teams", nil)
		r.AddCookie(user.Cookie)
		answer, err := s.Do(t.Context(), r, nil)
		if err != nil {
			t.Fatal(err)
		}
		return answer.Status
	}
	for _, step := range []struct {
		method, body string
		want         int
	}{{"PUT", `{"role":"admin"}`, 200}, {"PUT", `{"role":"operator"}`, 403}, {"PUT", `{"role":"owner"}`, 200}, {"DELETE", "", 403}} {
		s.Run(t, apitest.Scenario{Name: step.method + step.body, Method: step.method, URL: memberPath(1, user.ID), Body: step.body,
			As: apitest.Owner, Status: 200})
		if got := status(); got != step.want {
			t.Errorf("after %s %s: %d, want %d", step.method, step.body, got, step.want)
		}
	}
}
