package scenarios

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/core/api"
	"github.com/hostler/hostler/core/api/apitest"
	resource "github.com/hostler/hostler/core/api/audit"
	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/identity/identitytest"
	"github.com/hostler/hostler/core/service/servicetest"
)

// newAudit is the real handler on a database whose audit log has only the rows given.
func newAudit(t *testing.T, entries ...audit.Entry) (s *apitest.API, users *identity.Store) {
	t.Helper()
	r := servicetest.NewResourceOfUsers(t, func(a *op.API, d api.Deps) { resource.Register(a, d.Audit) })
	for i, e := range entries {
		if err := r.DB.Tx(t.Context(), func(tx *db.Tx) error { return audit.WriteEntry(tx, e) }); err != nil {
			t.Fatal(err)
		}
		at := time.Date(2026, 1, 1+i, 12, 0, 0, 0, time.UTC)
		r.Exec("UPDATE audit SET at = $1 WHERE id = (SELECT max(id) FROM audit)", at)
	}
	return r.API, r.Users
}

func auditSample() []audit.Entry {
	return []audit.Entry{
		{ActorType: audit.ActorUser, ActorID: new(int64(41)), ActorEmail: "anna@example.com", Action: "vm.stop", TargetKind: "vm",
			TargetID: "11", TargetName: "db01",
			TeamID: new(int64(7)), HostID: new(int64(3)), JobID: new(int64(99)), Result: audit.ResultOK, Address: "192.0.2.7", RequestID: "rid",
			Details: map[string]any{"force": true, "token_secret": "canary-secret"}},
		{ActorType: audit.ActorUser, ActorID: new(int64(42)), ActorEmail: "bert@example.com", Action: "vm.start", TargetKind: "vm",
			TargetID: "12", TargetName: "web_1",
			TeamID: new(int64(8)), Result: audit.ResultRefused, Error: "forbidden"},
		{ActorType: audit.ActorSystem, Action: "owner.create", TargetKind: "user", TargetID: "1", TargetName: "100%", Result: audit.ResultOK},
		{ActorType: audit.ActorAnonymous, Action: "auth.login", Result: audit.ResultRefused, Error: "invalid_credentials"},
	}
}

// A list has little of each row, however much the row tells.
func TestAuditListOfLongRows(t *testing.T) {
	t.Parallel()
	const rows = 30
	lines := strings.Split(strings.Repeat("+ in DROP source 192.0.2.7 proto tcp dport 23\n", 4000), "\n")
	var entries []audit.Entry
	for range rows {
		entries = append(entries, audit.Entry{ActorType: audit.ActorUser, Action: "firewall.draft_create", Result: audit.ResultOK,
			Details: map[string]any{"guest:1": lines, "window_seconds": 60}})
	}
	s, _ := newAudit(t, entries...)
	if one := s.Expect(t, "GET", "audit/1", "", apitest.Admin, 200, ""); len(one.Body) < audit.MaxDetails/2 {
		t.Errorf("the entry has %d bytes", len(one.Body))
	}
	got := s.Expect(t, "GET", "audit?per_page=500", "", apitest.Admin, 200, "")
	t.Logf("%d bytes for %d rows", len(got.Body), rows)
	for _, part := range []string{`"window_seconds":60`, `"truncated_from_bytes":`, `… and `} {
		if strings.Count(string(got.Body), part) != rows || len(got.Body) > rows*(audit.MaxListedDetails+1000) {
			t.Errorf("%d bytes for %d rows, %d times %s", len(got.Body), rows, strings.Count(string(got.Body), part), part)
		}
	}
}

func TestAuditRowAsItIsAnswered(t *testing.T) {
	t.Parallel()
	s, _ := newAudit(t, auditSample()[0], auditSample()[3])
	s.Run(t,
		do("list", "GET", "/api/v1/audit", "", apitest.In(7, identity.Admin), 200, "",
			`[{"id":1,"at":"2026-01-01T12:00:00Z","actor_type":"user","actor_id":41,"actor_email":"anna@example.com","action":"vm.stop",`+
				`"target":{"kind":"vm","id":"11","name":"db01"},"result":"ok","error":null,"address":"192.0.2.7","request_id":"rid",`+
				`"job_id":99,"host_id":3,"details":{"force":true,"token_secret":"[redacted]"}}]`),
		do("of a stranger", "GET", "/api/v1/audit?actor_type=anonymous", "", apitest.Admin, 200, "",
			`"actor_type":"anonymous","actor_id":null,"actor_email":null,"action":"auth.login","target":null,"result":"refused",`+
				`"error":"invalid_credentials"`),
		do("one", "GET", "/api/v1/audit/1", "", apitest.In(7, identity.Admin), 200, "", `{"id":1,"at":"2026-01-01T12:00:00Z"`),
		do("one of another team", "GET", "/api/v1/audit/1", "", apitest.In(8, identity.Owner), 404, "not_found"),
		do("one of the instance", "GET", "/api/v1/audit/2", "", apitest.In(7, identity.Admin), 404, "not_found"),
		do("one as an operator", "GET", "/api/v1/audit/1", "", apitest.In(7, identity.Operator), 403, "forbidden"),
		do("one that is not there", "GET", "/api/v1/audit/99", "", apitest.Admin, 404, "not_found"),
		do("a bad id", "GET", "/api/v1/audit/0", "", apitest.Admin, 422, "invalid"))
}

func TestAuditFilters(t *testing.T) {
	t.Parallel()
	s, _ := newAudit(t, auditSample()...)
	for query, want := range map[string]string{
		"action=vm.*":      "web_1 db01",
		"action=vm.stop":   "db01",
		"action=vm":        "",
		"action=%25":       "",
		"search=DB0":       "db01",
		"search=%25":       "100%",
		"search=_":         "web_1",
		"search=%5C":       "",
		"search=example":   "web_1 db01",
		"search=12":        "web_1",
		"search='%3B--":    "",
		"actor=41":         "db01",
		"actor_type=user":  "web_1 db01",
		"actor_type=":      "422",
		"result=refused":   "- web_1",
		"result=failed":    "",
		"result=good":      "422",
		"actor=43":         "",
		"nothing=1&from=x": "- 100% web_1 db01",
		"from=2026-01-04T00:00:00Z&actor_type=user":              "web_1 db01", // the key is from_
		"from_=2026-01-03T00:00:00Z":                             "- 100%",
		"from_=2026-01-02T12:00:00Z&to=2026-01-03T12:00:00Z":     "web_1",
		"from_=2026-01-02T13:00:00%2B01:00&to=2026-01-03T00:00Z": "422",
		"from_=2026-01-02T13:00:00%2B01:00&actor_type=user":      "web_1",
		"page=2&per_page=3":                                      "db01",
		"page=9":                                                 "",
		"per_page=501":                                           "422",
		"per_page=0":                                             "422",
		"page=-1":                                                "422",
		"page=x":                                                 "422",
		"actor=x":                                                "422",
		"actor=0":                                                "422",
		"actor=99999999999999999999":                             "422",
		"actor_type=owner":                                       "422",
		"target=vm:11":                                           "db01",
		"target=vm:12&result=ok":                                 "",
		"target=vm:1":                                            "",
		"target=vm":                                              "422",
		"target=vm:x":                                            "422",
		"target=vm:11%00":                                        "422",
		"from_=yesterday":                                        "422",
		"to=2026-13-01":                                          "422",
		"search=a%00b":                                           "422",
		"search=%ff":                                             "422",
		"action=" + strings.Repeat("a", 101):                     "422",
		"search=" + strings.Repeat("a", 201):                     "422",
	} {
		path := "audit?" + query
		if !strings.Contains(query, "to=") { // making users leaves rows of its own; these are from before
			path += "&" + auditUpTo
		}
		if want == "422" {
			s.Expect(t, "GET", path, "", apitest.Admin, 422, "invalid")
			continue
		}
		answer := s.Expect(t, "GET", path, "", apitest.Admin, 200, "")
		if got := auditTargets(t, answer); got != want {
			t.Errorf("%s: got %q, want %q", query, got, want)
		}
		if total := answer.Header.Get("X-Total-Count"); !strings.Contains(query, "page") && total != fmt.Sprint(len(strings.Fields(want))) ||
			strings.Contains(query, "page") && total != "4" {
			t.Errorf("%s: %s in total", query, total)
		}
	}
}

// auditTargets are the names of the rows' targets, "-" for none.
func auditTargets(t *testing.T, answer *apitest.Response) string {
	t.Helper()
	var rows []struct {
		Target *struct{ Name string }
	}
	answer.Decode(t, &rows)
	names := []string{}
	for _, row := range rows {
		if row.Target == nil {
			names = append(names, "-")
		} else {
			names = append(names, row.Target.Name)
		}
	}
	return strings.Join(names, " ")
}

func TestWhoSeesWhichAuditRows(t *testing.T) {
	t.Parallel()
	s, users := newAudit(t, auditSample()...)
	for _, team := range []int64{7, 8} { // which is made with who asks
		s.Expect(t, "GET", "audit", "", apitest.In(team, identity.Owner), 200, "")
	}
	for name, test := range map[string]struct {
		roles identitytest.In
		want  string
	}{
		"viewer":                         {identitytest.In{1: identity.Viewer}, "403"},
		"operator":                       {identitytest.In{1: identity.Operator}, "403"},
		"no role":                        {identitytest.In{}, "403"},
		"admin":                          {identitytest.In{1: identity.Admin}, "- 100% web_1 db01"},
		"owner":                          {identitytest.In{1: identity.Owner}, "- 100% web_1 db01"},
		"admin of 7":                     {identitytest.In{7: identity.Admin}, "db01"},
		"admin of both":                  {identitytest.In{7: identity.Admin, 8: identity.Owner}, "web_1 db01"},
		"operator of 7":                  {identitytest.In{7: identity.Operator}, "403"},
		"admin of 7, viewer of 8":        {identitytest.In{7: identity.Admin, 8: identity.Viewer}, "db01"},
		"admin of 7, operator of all":    {identitytest.In{7: identity.Admin, 1: identity.Operator}, "db01"},
		"viewer of 7, admin of all else": {identitytest.In{7: identity.Viewer, 1: identity.Admin}, "- 100% web_1 db01"},
	} {
		user := identitytest.User(t, users, test.roles)
		r, err := http.NewRequest("GET", s.URL+"/api/v1/audit?"+auditUpTo, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.AddCookie(user.Cookie)
		answer, err := s.Do(t.Context(), r, nil)
		if err != nil {
			t.Fatal(err)
		}
		if answer.Status == 403 {
			if test.want != "403" || answer.Problem() != "forbidden" {
				t.Errorf("%s: %s", name, answer.Body)
			}
			continue
		}
		if got := auditTargets(t, answer); got != test.want {
			t.Errorf("%s: got %q, want %q", name, got, test.want)
		}
	}
}

// Verification reads the audit log as it is, and reports only the position of a changed row.
func TestAuditVerification(t *testing.T) {
	t.Parallel()
	r := servicetest.NewResourceOfUsers(t, func(a *op.API, d api.Deps) { resource.Register(a, d.Audit) })
	verify := func(name string, as *apitest.Caller, status int, code string, contains ...string) apitest.Scenario {
		return do(name, "GET", "/api/v1/audit/verification", "", as, status, code, contains...)
	}
	if err := r.DB.Tx(t.Context(), func(tx *db.Tx) error { return audit.WriteEntry(tx, auditSample()[0]) }); err != nil {
		t.Fatal(err)
	}
	r.API.Run(t,
		verify("admin", apitest.Admin, 200, "", `"good":true`, `"cleared":0`, `"break":null`),
		verify("operator", apitest.Operator, 403, "forbidden"),
		verify("admin of a team", apitest.In(7, identity.Admin), 403, "forbidden"),
	)
	// A row that nobody has told of is not the service's.
	r.Exec("WITH row AS (INSERT INTO audit (actor_type, action, result, target_name) VALUES ('system', 'vm.stop', 'ok', 'canary') " +
		"RETURNING id) DELETE FROM audit_pending")
	r.Exec("DELETE FROM audit_pending")
	r.API.Run(t, verify("a row that was put in", apitest.Admin, 200, "", `"good":false`, `"kind":"inserted"`, `"seq":null`))
}
