package scenarios

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/hostler/hostler/core/api"
	"github.com/hostler/hostler/core/api/apitest"
	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/api/settings"
	"github.com/hostler/hostler/core/db/inventorytest"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/service/servicetest"
)

const settingsURL = "/api/v1/settings"

// newSettings is the real handler on a database with the hosts 1 and 2.
func newSettings(t *testing.T) *servicetest.Resource {
	t.Helper()
	r := servicetest.NewResourceOfUsers(t, func(a *op.API, d api.Deps) { settings.Register(a, d.Settings) })
	inventorytest.Write(t, r.DB, inventorytest.Cluster{Hosts: []inventorytest.Host{{Name: "a"}, {Name: "b"}}})
	return r
}

func patchSettings(name, body string, status int, contains ...string) apitest.Scenario {
	s := apitest.Scenario{Name: name, Method: "PATCH", URL: settingsURL, Body: body, As: apitest.Owner, Status: status, Contains: contains,
		Lacks: []string{"canary"}}
	if status == 422 {
		s.Error = "invalid"
	}
	return s
}

// settingsTrail is the attempts to change settings, oldest first: result and details.
func settingsTrail(r *servicetest.Resource) string {
	return r.Value(`SELECT coalesce(string_agg(result || ' ' || actor_type || ' ' || target_kind || ' ' || details,
		E'\n' ORDER BY id), '') FROM audit WHERE action = 'settings.update'`)
}

func TestListOfSettings(t *testing.T) {
	t.Parallel()
	s := newSettings(t)
	s.Run(t,
		apitest.Scenario{Name: "list", Method: "GET", URL: settingsURL, As: apitest.Admin, Status: 200, Contains: []string{
			`{"key":"poll.interval_s","value":30,"default":30,"doc":"Seconds from one poll`,
			`"set":false,"kind":"number","minimum":5,"maximum":3600,"changed_at":null,"changed_by":null}`,
			`"kind":"host","minimum":null`, `{"key":"self.host_id","value":null,"default":null,`,
			`{"key":"entitlements.disabled","value":[],"default":[],`, `"set":false,`}, Lacks: []string{`"set":true`}},
		apitest.Scenario{Name: "operator", Method: "GET", URL: settingsURL, As: apitest.Operator, Status: 403, Error: "forbidden"},
		apitest.Scenario{Name: "admin of a team", Method: "GET", URL: settingsURL, As: apitest.In(7, identity.Admin), Status: 403,
			Error: "forbidden"},
	)
}

func TestPatchSettings(t *testing.T) {
	t.Parallel()
	s := newSettings(t)
	s.Run(t,
		patchSettings("several", `{"poll.interval_s": 60, "self.host_id": 2, "entitlements.disabled": ["audit.log"]}`, 200,
			`{"key":"poll.interval_s","value":60,"default":30`, `"key":"self.host_id","value":2`, `"value":["audit.log"]`,
			`"changed_by":"`, `@`),
		patchSettings("the same and another", `{"poll.interval_s": 60, "jobs.keep_days": 7}`, 200, `"key":"jobs.keep_days","value":7`),
		patchSettings("nothing new", `{"poll.interval_s": 60}`, 200),
		patchSettings("back to the default", `{"poll.interval_s": null, "self.host_id": null, "metrics.retention_raw_days": null}`, 200,
			`{"key":"poll.interval_s","value":30,"default":30`, `"key":"self.host_id","value":null`),
		patchSettings("the default, set", `{"poll.interval_s": 30}`, 200),
		patchSettings("one of two is wrong", `{"jobs.keep_days": 8, "poll.interval_s": 1}`, 422),
		patchSettings("nothing", `{}`, 422, "nothing_to_change"),
		apitest.Scenario{Name: "afterwards", Method: "GET", URL: settingsURL, As: apitest.Admin, Status: 200,
			Contains: []string{`"key":"jobs.keep_days","value":7`}},
		apitest.Scenario{Name: "operator", Method: "PATCH", URL: settingsURL, Body: `{"poll.interval_s": 1}`, As: apitest.Operator, Status: 403,
			Error: "forbidden"},
		// Who may not clear the audit log may not let it run out either.
		apitest.Scenario{Name: "an admin shortens the audit log", Method: "PATCH", URL: settingsURL, Body: `{"poll.interval_s": 90, ` +
			`"audit.retention_days": 1}`, As: apitest.Admin, Status: 403, Error: "forbidden", Contains: []string{`"role":"owner"`}},
		apitest.Scenario{Name: "and nothing else of it holds", Method: "GET", URL: settingsURL, As: apitest.Admin, Status: 200,
			Contains: []string{`"key":"poll.interval_s","value":30`, `"key":"audit.retention_days","value":0`}},
		apitest.Scenario{Name: "an owner shortens the audit log", Method: "PATCH", URL: settingsURL, Body: `{"audit.retention_days": 30}`,
			As: apitest.Owner, Status: 200, Contains: []string{`"key":"audit.retention_days","value":30`}},
	)
	want := strings.Join([]string{
		`ok user settings {"keys": ["entitlements.disabled", "poll.interval_s", "self.host_id"]}`,
		`ok user settings {"keys": ["jobs.keep_days"]}`,
		`ok user settings {"keys": []}`,
		`ok user settings {"keys": ["poll.interval_s", "self.host_id"]}`,
		`ok user settings {"keys": ["poll.interval_s"]}`,
		`refused user  {}`, `refused user  {}`, `refused user  {}`, `refused user  {}`,
		`ok user settings {"keys": ["audit.retention_days"]}`,
	}, "\n")
	if got := settingsTrail(s); got != want {
		t.Errorf("the audit log has\n%s\nwant\n%s", got, want)
	}
	var by int
	if err := s.DB.Pool.QueryRow(t.Context(), "SELECT count(*) FROM settings WHERE updated_by IS NULL").Scan(&by); err != nil || by != 0 {
		t.Errorf("%d settings of nobody, %v", by, err)
	}
}

// Every fault of every key is in one answer, and no value.
func TestPatchSettingsTellsAllFaults(t *testing.T) {
	t.Parallel()
	s := newSettings(t)
	s.Run(t, patchSettings("all", `{"poll.interval_s": 4, "jobs.keep_days": "canary", "unheard.of": "canary", "self.host_id": 3, `+
		`"onboarding.complete": 1, "entitlements.disabled": ["CANARY canary"], "metrics.retention_raw_days": 30}`, 422,
		`{"loc":["body","poll.interval_s"],"msg":"must be from 5 to 3600","type":"value_error"}`,
		`{"loc":["body","jobs.keep_days"],"msg":"must be a whole number","type":"value_error"}`,
		`{"loc":["body","unheard.of"],"msg":"setting not found","type":"unknown_setting"}`,
		`{"loc":["body","self.host_id"],"msg":"must be an existing host","type":"value_error"}`,
		`["body","onboarding.complete"]`, `["body","entitlements.disabled"]`))
	var many strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&many, `"%s%d": 1, `, strings.Repeat("k", 100), i)
	}
	s.Run(t,
		apitest.Scenario{Name: "very many", Method: "PATCH", URL: settingsURL, Body: "{" + many.String() + `"poll.interval_s": 1}`,
			As: apitest.Admin, Status: 422, Error: "invalid",
			After: func(t *testing.T, answer *apitest.Response) {
				if len(answer.Body) > 30_000 {
					t.Errorf("an answer of %d bytes", len(answer.Body))
				}
			}},
		patchSettings("twice", `{"poll.interval_s": 40, "poll.interval_s": 50}`, 422, "duplicate_key"),
		patchSettings("no object", `[1]`, 422), patchSettings("null", `null`, 422), patchSettings("none", ``, 422), patchSettings("NUL",
			`{"a\u0000": 1}`, 422),
		patchSettings("too large", `{"poll.interval_s": 99999999999999999999}`, 422), patchSettings("a fraction", `{"poll.interval_s": 30.5}`,
			422),
		patchSettings("other case", `{"Poll.Interval_S": 30}`, 422, "unknown_setting"),
	)
	var rows int
	if err := s.DB.Pool.QueryRow(t.Context(), "SELECT count(*) FROM settings").Scan(&rows); err != nil || rows != 0 {
		t.Errorf("%d settings were changed, %v", rows, err)
	}
	if strings.Contains(strings.ToLower(settingsTrail(s)), "canary") {
		t.Error("the audit log has a value")
	}
}

func TestPatchSettingsAtOnce(t *testing.T) {
	if testing.Short() {
		t.Skip("lets requests race: make check runs it")
	}
	t.Parallel()
	s := newSettings(t)
	var wg sync.WaitGroup
	for i := range 12 {
		wg.Go(func() {
			body := fmt.Sprintf(`{"jobs.keep_days": %d, "poll.interval_s": %d, "self.host_id": %d}`, 10+i, 10+i, 1+i%2)
			r, err := http.NewRequest("PATCH", s.URL+settingsURL, strings.NewReader(body))
			if err != nil {
				t.Error(err)
				return
			}
			r.Header.Set("Content-Type", "application/json")
			if answer, err := s.Do(t.Context(), r, apitest.Admin); err != nil || answer.Status != 200 {
				t.Errorf("%v %v", answer, err)
			}
		})
	}
	wg.Wait()
	var same bool
	if err := s.DB.Pool.QueryRow(t.Context(),
		"SELECT count(DISTINCT value) = 1 FROM settings WHERE key <> 'self.host_id'").Scan(&same); err != nil || !same {
		t.Errorf("two patches were mixed: %v", err)
	}
}

func TestEntitlements(t *testing.T) {
	t.Parallel()
	s := newSettings(t)
	get := func(name string, contains ...string) apitest.Scenario {
		return apitest.Scenario{Name: name, Method: "GET", URL: "/api/v1/entitlements", As: apitest.In(7, identity.Viewer), Status: 200,
			Contains: contains, Lacks: []string{"unheard"}}
	}
	s.Run(t,
		get("all on", `{"name":"store.catalog","enabled":true,"description":"`, `{"name":"audit.log","enabled":true`),
		patchSettings("off", `{"entitlements.disabled": ["audit.log", "unheard.of"]}`, 200),
		get("one off", `{"name":"store.catalog","enabled":true`, `{"name":"audit.log","enabled":false`),
	)
}

// A short time for the audit log is as good as clearing it, which is the owner's.
func TestOnlyOwnersShortenTheTrail(t *testing.T) {
	t.Parallel()
	s := newSettings(t)
	for _, body := range []string{`{"audit.retention_days": 1}`, `{"audit.address_days": 1}`,
		`{"audit.retention_days": null, "jobs.keep_days": 7}`} {
		s.Run(t,
			apitest.Scenario{Name: "admin", Method: "PATCH", URL: settingsURL, Body: body, As: apitest.Admin, Status: 403, Error: "forbidden"},
			apitest.Scenario{Name: "owner", Method: "PATCH", URL: settingsURL, Body: body, As: apitest.Owner, Status: 200},
		)
	}
}
