package scenarios

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/hostler/hostler/core/api"
	"github.com/hostler/hostler/core/api/apitest"
	"github.com/hostler/hostler/core/api/cluster"
	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/db/inventorytest"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/identity/identitytest"
	"github.com/hostler/hostler/core/service/servicetest"
)

const activityURL = "/api/v1/cluster/activity"

type activityFixture struct {
	*servicetest.Resource
	t *testing.T
}

func registerCluster(a *op.API, d api.Deps) { cluster.Register(a, d.Cluster) }

// newActivity is the real handler on a database with the teams 7 and 8, and nothing in the audit log.
func newActivity(t *testing.T) *activityFixture {
	t.Helper()
	s := &activityFixture{servicetest.NewResourceOfUsers(t, registerCluster), t}
	inventorytest.Team(t, s.DB, 7)
	inventorytest.Team(t, s.DB, 8)
	s.LogIn = func(r *http.Request, c *apitest.Caller) {
		team := max(c.Team, identity.DefaultTeam)
		inventorytest.Team(t, s.DB, team)
		r.AddCookie(s.in(identitytest.In{team: c.Role}))
	}
	return s
}

// in is the cookie of a new user. Log-ins leave rows in the audit log, which would be the newest of all.
func (s *activityFixture) in(roles identitytest.In) *http.Cookie {
	s.t.Helper()
	cookie := identitytest.User(s.t, s.Users, roles).Cookie
	s.Exec("UPDATE audit SET at = '1999-01-01' WHERE action NOT LIKE 'x.%'")
	return cookie
}

// entries are "kind name-of-target" of the feed, newest first.
func (s *activityFixture) entries(query string, roles identitytest.In) string {
	s.t.Helper()
	r, err := http.NewRequest("GET", s.URL+activityURL+query, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	r.AddCookie(s.in(roles))
	answer, err := s.Do(s.t.Context(), r, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	var feed []struct {
		Kind   string
		Target *struct{ Name string }
		At     string
	}
	if err := json.Unmarshal(answer.Body, &feed); err != nil || answer.Status != 200 {
		s.t.Fatalf("%d %s %v", answer.Status, answer.Body, err)
	}
	names := []string{}
	for _, e := range feed {
		if e.At < "2000" {
			continue
		}
		names = append(names, e.Kind+" "+e.Target.Name)
	}
	return strings.Join(names, ", ")
}

// at is a second of a day; microseconds are what texts of another form would compare wrongly.
func (s *activityFixture) job(name string, team any, at string) {
	s.t.Helper()
	s.Exec(`INSERT INTO jobs (kind, status, team_id, target_kind, target_id, target_name, created_at, finished_at, error, requested_by_email)
		VALUES ('vm.start', 'failed', $2, 'vm', 11, $1, $3::timestamptz, now(), 'no such disk', 'anna@example.com')`, name, team,
		"2026-01-01T"+at)
}

func (s *activityFixture) alert(name string, team any, at string) {
	s.t.Helper()
	s.Exec(`INSERT INTO alerts (team_id, target_kind, target_id, target_name, rule, severity, message, raised_at)
		VALUES ($2, 'host', 3, $1, 'cpu above 90 %', 'critical', 'cpu was 97 %', $3::timestamptz)`, name, team, "2026-01-01T"+at)
}

func (s *activityFixture) audit(name string, team any, at, result string, job any) {
	s.t.Helper()
	s.Exec(`INSERT INTO audit (at, actor_type, actor_email, action, target_kind, target_id, target_name, team_id, job_id, result, error)
		VALUES ($3::timestamptz, 'user', 'bert@example.com', 'x.act', 'vm', '12', $1, $2, $5, $4,
		CASE $4 WHEN 'ok' THEN '' ELSE 'forbidden' END)`,
		name, team, "2026-01-01T"+at, result, job)
}

func (s *activityFixture) furnish() {
	s.t.Helper()
	s.job("j7", 7, "12:00:00.1Z")
	s.job("j8", 8, "12:00:00.25Z")
	s.job("j0", nil, "12:00:07Z")
	s.alert("a7", 7, "13:00:00.2+01:00")
	s.alert("a8", 8, "12:00:05Z")
	s.audit("t7", 7, "12:00:00.15Z", "ok", nil)
	s.audit("spawned", 7, "12:00:00.1Z", "ok", 1)
	s.audit("taken back", 7, "12:00:04Z", "refused", 999)
	s.audit("t8", 8, "12:00:03Z", "refused", nil)
	s.audit("t0", nil, "12:00:06Z", "ok", nil)
}

func TestActivityIsMergedNewestFirst(t *testing.T) {
	t.Parallel()
	s := newActivity(t)
	s.furnish()
	everything := "job j0, audit t0, alert a8, audit taken back, audit t8, job j8, alert a7, audit t7, job j7"
	for _, test := range []struct {
		name, query string
		roles       identitytest.In
		want        string
	}{
		{"admin", "", identitytest.In{1: identity.Admin}, everything},
		{"the most", "?limit=100", identitytest.In{1: identity.Owner}, everything},
		{"cut", "?limit=3", identitytest.In{1: identity.Admin}, "job j0, audit t0, alert a8"},
		{"one", "?limit=1", identitytest.In{1: identity.Admin}, "job j0"},
		{"viewer", "", identitytest.In{1: identity.Viewer}, "job j0, alert a8, job j8, alert a7, job j7"},
		{"viewer of 7", "", identitytest.In{7: identity.Viewer}, "alert a7, job j7"},
		{"admin of 7", "", identitytest.In{7: identity.Admin}, "audit taken back, alert a7, audit t7, job j7"},
		{"cut for a team", "?limit=2", identitytest.In{7: identity.Admin}, "audit taken back, alert a7"},
		{"of two teams", "", identitytest.In{7: identity.Viewer, 8: identity.Admin}, "alert a8, audit t8, job j8, alert a7, job j7"},
		{"admin of 7, viewer of all", "", identitytest.In{7: identity.Admin, 1: identity.Viewer},
			"job j0, alert a8, audit taken back, job j8, alert a7, audit t7, job j7"},
	} {
		if got := s.entries(test.query, test.roles); got != test.want {
			t.Errorf("%s:\ngot  %s\nwant %s", test.name, got, test.want)
		}
	}
}

func TestEntriesOfActivity(t *testing.T) {
	t.Parallel()
	s := newActivity(t)
	s.job("j7", 7, "12:00:00.1Z")
	s.alert("a7", 7, "12:00:01Z")
	s.audit("t7", 7, "12:00:02Z", "refused", nil)
	s.audit("", 7, "12:00:03Z", "ok", nil)
	s.Exec("UPDATE audit SET target_kind = '', target_id = '', actor_email = '' WHERE target_name = ''")
	s.Run(t,
		apitest.Scenario{Name: "all", Method: "GET", URL: activityURL, As: apitest.In(7, identity.Admin), Status: 200, Contains: []string{
			`[{"kind":"audit","at":"2026-01-01T12:00:03Z","id":`,
			`"title":"x.act","text":"","status":null,"severity":null,"result":"ok","target":null,"host_id":null,"actor":null},`,
			`"title":"x.act t7","text":"forbidden","status":null,"severity":null,"result":"refused","target":{"kind":"vm","id":"12",` +
				`"name":"t7"},"host_id":null,"actor":"bert@example.com"},`,
			`{"kind":"alert","at":"2026-01-01T12:00:01Z","id":1,"title":"cpu above 90 % a7","text":"cpu was 97 %","status":null,` +
				`"severity":"critical","result":null,"target":{"kind":"host","id":"3","name":"a7"},"host_id":null,"actor":null},`,
			`{"kind":"job","at":"2026-01-01T12:00:00.1Z","id":1,"title":"vm.start j7","text":"no such disk","status":"failed","severity":null,` +
				`"result":null,"target":{"kind":"vm","id":"11","name":"j7"},"host_id":null,"actor":"anna@example.com"}`}},
		apitest.Scenario{Name: "nothing to see", Method: "GET", URL: activityURL, As: apitest.In(8, identity.Viewer), Status: 200,
			Contains: []string{"[]"}},
	)
	for _, limit := range []string{"0", "101", "-1", "x", "1.5", "99999999999999999999", "%00"} {
		s.Run(t, apitest.Scenario{Name: "limit " + limit, Method: "GET", URL: activityURL + "?limit=" + limit, As: apitest.Viewer, Status: 422,
			Error: "invalid"})
	}
}
