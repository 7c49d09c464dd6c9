package scenarios

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/core/api"
	"github.com/hostler/hostler/core/api/alerts"
	"github.com/hostler/hostler/core/api/apitest"
	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/db/inventorytest"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/service/servicetest"
)

// newAlerts has the rules that come with the service, which nothing evaluates, and alerts: 1 of team 1 on host 1, open; 2 of team 2 on
// host 2, open; 3 of team 1, resolved; 4 of team 1, follows from 1; 5 of no team.
func newAlerts(t *testing.T) *servicetest.Resource {
	t.Helper()
	b := servicetest.NewResourceOfUsers(t, func(a *op.API, d api.Deps) { alerts.Register(a, d.Alerts) })
	inventorytest.Write(t, b.DB,
		inventorytest.Cluster{Name: "prod", Hosts: []inventorytest.Host{{Name: "rack1", Node: "n1"}},
			Guests: []inventorytest.Guest{{VMID: 100, Node: "n1", Name: "web"}}},
		inventorytest.Cluster{Team: 2, Hosts: []inventorytest.Host{{Name: "rack2"}}})
	b.Exec(`INSERT INTO alerts (team_id, host_id, target_kind, target_id, target_name, rule, kind, rule_id, subject, severity,
		message, raised_at,
			resolved_at, resolution, cause_id, labels, why) VALUES
		(1, 1, 'host', 1, 'rack1', 'host.offline', 'host_away', 1, 'host:1', 'critical', 'away', '2026-01-03', NULL, '', NULL,
			'{"room": "cellar"}',
			'{"threshold": null, "clear_level": null, "unit": null, "for_s": 120, "clear_for_s": 30, "value": null, "samples": [],
			"since": "2026-01-02T23:00:00Z", "ends_at": null, "job_id": null}'),
		(2, 2, 'host', 2, 'rack2', 'host.offline', 'host_away', 1, 'host:2', 'critical', 'away', '2026-01-04', NULL, '', NULL, '{}', '{}'),
		(1, 1, 'vm', 1, 'web', 'mine', 'cpu', NULL, '', 'info', 'busy', '2026-01-05', '2026-01-06', 'It is over.', NULL, '{}', '{}'),
		(1, 1, 'vm', 1, 'web', 'guest.down', 'guest_down', NULL, '', 'warning', 'down', '2026-01-02', NULL, '', 1, '{}', '{}'),
		(NULL, NULL, 'service', 0, 'Hostler', 'update.available', 'update_available', NULL, '', 'info', 'new', '2026-01-01', NULL, '',
			NULL, '{}',
			'{}')`)
	return b
}

var operatorElsewhere = &apitest.Caller{Role: identity.Operator, Team: 2}

// listAlerts holds which alerts a caller is given, by their ids in order.
func listAlerts(query string, as *apitest.Caller, total, want string) apitest.Scenario {
	return apitest.Scenario{Name: fmt.Sprint("list ", query, " as ", as), Method: "GET", URL: "/api/v1/alerts" + query, As: as, Status: 200,
		After: func(t *testing.T, answer *apitest.Response) {
			var all []struct{ ID int64 }
			answer.Decode(t, &all)
			ids := make([]string, len(all))
			for i := range all {
				ids[i] = fmt.Sprint(all[i].ID)
			}
			if got := strings.Join(ids, " "); got != want || answer.Header.Get("X-Total-Count") != total {
				t.Errorf("alerts %s of %s, want %s of %s", got, answer.Header.Get("X-Total-Count"), want, total)
			}
		}}
}

func TestListOfAlerts(t *testing.T) {
	t.Parallel()
	b := newAlerts(t)
	b.Exec("UPDATE alerts SET acknowledged_at = now(), silenced_until = now() + interval '1 hour' WHERE id = 2")
	v := apitest.Viewer
	b.Run(t,
		listAlerts("", v, "5", "2 1 4 5 3"),
		listAlerts("?per_page=2&page=2", v, "5", "4 5"),
		listAlerts("?page=9", v, "5", ""),
		listAlerts("", operatorElsewhere, "1", "2"),
		apitest.Scenario{Name: "without a role", Method: "GET", URL: "/api/v1/alerts", As: apitest.NoRole, Status: 403, Error: "forbidden"},
		listAlerts("?state=open", v, "4", "2 1 4 5"),
		listAlerts("?state=resolved", v, "1", "3"),
		listAlerts("?severity=info", v, "2", "5 3"),
		listAlerts("?kind=cpu", v, "1", "3"),
		listAlerts("?rule=1", v, "2", "2 1"),
		listAlerts("?host=1", v, "3", "1 4 3"),
		listAlerts("?host=1", operatorElsewhere, "0", ""),
		listAlerts("?target=vm:1", v, "2", "4 3"),
		listAlerts("?target=vm:1&state=open", v, "1", "4"),
		listAlerts("?cause=1", v, "1", "4"),
		listAlerts("?folded=false", v, "4", "2 1 5 3"),
		listAlerts("?folded=true", v, "1", "4"),
		listAlerts("?acknowledged=true", v, "1", "2"),
		listAlerts("?silenced=false&state=open", v, "3", "1 4 5"),
		listAlerts("?since=2026-01-03T00:00:00Z&before=2026-01-05T00:00:00Z", v, "2", "2 1"),
		apitest.Scenario{Name: "a state that is none", Method: "GET", URL: "/api/v1/alerts?state=x", As: v, Status: 422, Error: "invalid"},
		apitest.Scenario{Name: "a target that is none", Method: "GET", URL: "/api/v1/alerts?target=vm", As: v, Status: 422, Error: "invalid"},
		apitest.Scenario{Name: "nobody", Method: "GET", URL: "/api/v1/alerts", Status: 401, Error: "unauthenticated"},
	)
}

func TestAlertWithItsHistory(t *testing.T) {
	t.Parallel()
	b := newAlerts(t)
	b.Exec(`INSERT INTO alerts (team_id, host_id, target_kind, target_id, target_name, rule, rule_id, subject, severity, raised_at,
		resolved_at)
		VALUES (1, 1, 'host', 1, 'rack1', 'host.offline', 1, 'host:1', 'critical', '2026-01-07', NULL) ON CONFLICT DO NOTHING`)
	b.Exec("UPDATE alerts SET resolved_at = '2026-01-04' WHERE id = 1")
	b.Exec(`INSERT INTO alerts (team_id, host_id, target_kind, target_id, target_name, rule, rule_id, subject, severity)
		VALUES (1, 1, 'host', 1, 'rack1', 'host.offline', 1, 'host:1', 'critical')`)
	later := b.Value("SELECT max(id) FROM alerts")
	b.Run(t,
		apitest.Scenario{Name: "with what raised it", Method: "GET", URL: "/api/v1/alerts/1", As: apitest.Viewer, Status: 200,
			Contains: []string{`"rule":"host.offline"`, `"state":"resolved"`, `"labels":{"room":"cellar"}`, `"folded":1`,
				`"why":{"threshold":null,"clear_level":null,"unit":null,"for_s":120,`, `"since":"2026-01-02T23:00:00Z"`,
				`"history":[{"at":"2026-01-03T00:00:00Z","what":"raised","by":null,"text":"away","until":null},` +
					`{"at":"2026-01-04T00:00:00Z","what":"resolved"`,
				`"earlier":[]`}},
		apitest.Scenario{Name: "with those before", Method: "GET", URL: "/api/v1/alerts/" + later, As: apitest.Viewer, Status: 200,
			Contains: []string{`"earlier":[{"id":1,"raised_at":"2026-01-03T00:00:00Z","resolved_at":"2026-01-04T00:00:00Z"}]`, `"samples":[]`}},
		apitest.Scenario{Name: "of another team", Method: "GET", URL: "/api/v1/alerts/1", As: operatorElsewhere, Status: 404,
			Error: "not_found"},
		apitest.Scenario{Name: "of no team, for another team", Method: "GET", URL: "/api/v1/alerts/5", As: operatorElsewhere, Status: 404,
			Error: "not_found"},
		apitest.Scenario{Name: "none", Method: "GET", URL: "/api/v1/alerts/99", As: apitest.Viewer, Status: 404, Error: "not_found"},
		apitest.Scenario{Name: "beyond", Method: "GET", URL: "/api/v1/alerts/9223372036854775807", As: apitest.Viewer, Status: 404,
			Error: "not_found"},
	)
}

func TestActsOnAlerts(t *testing.T) {
	t.Parallel()
	b := newAlerts(t)
	post := func(name, path, body string, as *apitest.Caller, status int, code string, contains ...string) apitest.Scenario {
		return do(name, "POST", "/api/v1/alerts/"+path, body, as, status, code, contains...)
	}
	o := apitest.Operator
	tomorrow := time.Now().AddDate(0, 0, 1).In(time.FixedZone("", 3600)).Format(time.RFC3339)
	b.Run(t,
		post("acknowledge", "1/ack", `{"note":" mine "}`, o, 200, "", `"ack_note":"mine"`, `"what":"acknowledged"`,
			`"acknowledged_by":{"id":`, `"state":"open"`),
		post("acknowledge without a note", "1/ack", "", o, 200, "", `"ack_note":""`),
		post("as a viewer", "1/ack", "", apitest.Viewer, 403, "forbidden"),
		post("as an operator of another team", "1/ack", "", operatorElsewhere, 404, "not_found"),
		post("as an operator of its team", "2/ack", "", operatorElsewhere, 200, ""),
		post("one that is resolved", "3/ack", "", o, 409, "invalid_state"),
		post("with a key that is none", "1/ack", `{"text":"x"}`, o, 422, "invalid"),
		post("silence for an hour", "1/silence", `{"for_s":3600,"note":"known"}`, o, 200, "", `"silenced_until":"20`, `"silence_note":"known"`,
			`"what":"silenced"`),
		post("silence until a time", "1/silence", fmt.Sprintf(`{"until":%q}`, tomorrow), o, 200, ""),
		post("end a silence", "1/silence", `{"for_s":0}`, o, 200, "", `"silenced_until":null`),
		post("silence for ever", "1/silence", `{"until":"9999-12-31T00:00:00Z"}`, o, 422, "invalid"),
		post("silence since ever", "1/silence", `{"until":"0001-12-31T00:00:00Z"}`, o, 422, "invalid"),
		post("neither", "1/silence", `{}`, o, 422, "invalid"),
		post("both", "1/silence", fmt.Sprintf(`{"for_s":3600,"until":%q}`, tomorrow), o, 422, "invalid"),
		post("longer than a year", "1/silence", `{"for_s":31536001}`, o, 422, "invalid"),
		post("resolve", "1/resolve", `{"note":"mended"}`, o, 200, "", `"state":"resolved"`, `"resolution":"mended"`, `"resolved_by":{"id":`),
		post("resolve again", "1/resolve", "", o, 409, "invalid_state"),
		post("silence what is resolved", "1/silence", `{"for_s":1}`, o, 409, "invalid_state"),
		post("resolve as a viewer", "4/resolve", "", apitest.Viewer, 403, "forbidden"),
		post("resolve one that is not there", "99/resolve", "", o, 404, "not_found"),
	)
	read := apitest.Scenario{Name: "all that was done stays in the history", Method: "GET", URL: "/api/v1/alerts/1", As: apitest.Viewer,
		Status: 200}
	read.After = func(t *testing.T, answer *apitest.Response) {
		var shown struct {
			History []struct{ What, Text, By, Until any }
		}
		if err := json.Unmarshal(answer.Body, &shown); err != nil {
			t.Fatal(err)
		}
		told := make([]string, len(shown.History))
		for i, e := range shown.History {
			told[i] = fmt.Sprint(e.What, " ", e.Text, " ", e.By != nil, " ", e.Until != nil)
		}
		want := []string{"raised away false false", "acknowledged mine true false", "acknowledged  true false", "silenced known true true",
			"silenced  true true", "silenced  true true", "resolved mended true false"}
		if !slices.Equal(told, want) {
			t.Errorf("the history is %q, want %q", told, want)
		}
	}
	b.Run(t, read)
	if got := b.Value(`SELECT string_agg(DISTINCT concat_ws(' ', action, target_kind, target_id, target_name, team_id,
		details ->> 'rule'), ', ')
		FROM audit WHERE result = 'ok' AND target_id = '1'`); got != "alert.acknowledge alert 1 rack1 1 host.offline, "+
		"alert.resolve alert 1 rack1 1 host.offline, alert.silence alert 1 rack1 1 host.offline" {
		t.Errorf("the audit log has %s", got)
	}
}

func TestAlertRules(t *testing.T) {
	t.Parallel()
	b := newAlerts(t)
	const busy = `{"name":" Busy ","kind":"cpu","threshold":90,"clear_level":80,"for_s":600,"clear_for_s":300,"severity":"critical",` +
		`"on":{"host_id":1,"kinds":["vm","vm"],"tags":["prod"],"targets":["vm:1","node:1/n1"]},"labels":{"room":"cellar"},"description":"d"}`
	id := int64(0)
	post := func(name, body string, status int, code string, contains ...string) apitest.Scenario {
		return do(name, "POST", "/api/v1/alert-rules", body, apitest.Admin, status, code, contains...)
	}
	first := post("all given", busy, 201, "", `"key":null,"name":"Busy","description":"d","kind":"cpu"`,
		`"on":{"team_id":null,"host_id":1,"kinds":["vm"],"tags":["prod"],"targets":["vm:1","node:1/n1"]}`, `"unit":"percent"`, `"seeded":false`,
		`"labels":{"room":"cellar"}`, `"enabled":true`)
	first.After = func(t *testing.T, answer *apitest.Response) {
		var made struct{ ID int64 }
		if err := json.Unmarshal(answer.Body, &made); err != nil {
			t.Fatal(err)
		}
		id = made.ID
	}
	b.Run(t, first,
		post("the least", `{"name":"n","kind":"host_away"}`, 201, "",
			`"threshold":null,"clear_level":null,"unit":null,"for_s":0,"clear_for_s":0`,
			`"severity":"warning"`, `"kinds":[],"tags":[],"targets":[]`),
		post("without a clear level", `{"name":"n","kind":"disk","threshold":90,"enabled":false}`, 201, "", `"clear_level":90`,
			`"enabled":false`),
		post("less is worse", `{"name":"n","kind":"certificate_ending","threshold":7,"clear_level":9}`, 201, ""),
		post("a kind that is none", `{"name":"n","kind":"moon"}`, 422, "invalid", `"loc":["body","kind"]`),
		post("without a threshold", `{"name":"n","kind":"cpu"}`, 422, "invalid", `"loc":["body","threshold"]`),
		post("with one that has none", `{"name":"n","kind":"host_away","threshold":1}`, 422, "invalid", `"loc":["body","threshold"]`),
		post("more than all", `{"name":"n","kind":"cpu","threshold":101}`, 422, "invalid", `at most 100 percent`),
		post("zero", `{"name":"n","kind":"cpu","threshold":0}`, 422, "invalid", `greater than 0`),
		post("a clear level beyond", `{"name":"n","kind":"cpu","threshold":80,"clear_level":90}`, 422, "invalid",
			`"loc":["body","clear_level"]`),
		post("a clear level before", `{"name":"n","kind":"token_ending","threshold":9,"clear_level":7}`, 422, "invalid",
			`"loc":["body","clear_level"]`),
		post("a kind of things without it", `{"name":"n","kind":"disk","threshold":9,"on":{"kinds":["vm"]}}`, 422, "invalid",
			`"loc":["body","on","kinds",0]`),
		post("targets that are none", `{"name":"n","kind":"host_away","on":{"targets":["host:1","../x","node:1"]}}`, 422, "invalid",
			`"loc":["body","on","targets",1]`, `"loc":["body","on","targets",2]`),
		post("tags with NUL", `{"name":"n","kind":"host_away","on":{"tags":["a\u0000"]}}`, 422, "invalid", `"loc":["body","on","tags",0]`),
		post("a name of nothing", `{"name":"  ","kind":"host_away"}`, 422, "invalid", `"loc":["body","name"]`),
		post("labels that are none", `{"name":"n","kind":"host_away","labels":{"a b":"c"}}`, 422, "invalid", `"loc":["body","labels"]`),
		post("a host that is not there", `{"name":"n","kind":"host_away","on":{"host_id":99}}`, 422, "invalid", `"loc":["body","on","host_id"]`),
		post("a team that is not there", `{"name":"n","kind":"host_away","on":{"team_id":99}}`, 422, "invalid", `"loc":["body","on","team_id"]`),
		post("a typo", `{"name":"n","kind":"host_away","on":{"tag":["x"]}}`, 422, "invalid"),
		apitest.Scenario{Name: "operator", Method: "POST", URL: "/api/v1/alert-rules", Body: busy, As: apitest.Operator, Status: 403,
			Error: "forbidden"},
		apitest.Scenario{Name: "admin of another team", Method: "POST", URL: "/api/v1/alert-rules", Body: busy,
			As: &apitest.Caller{Role: identity.Admin, Team: 2}, Status: 403, Error: "forbidden"},
	)
	own := fmt.Sprintf("/api/v1/alert-rules/%d", id)
	patch := func(name, url, body string, status int, code string, contains ...string) apitest.Scenario {
		return do(name, "PATCH", url, body, apitest.Admin, status, code, contains...)
	}
	b.Run(t,
		apitest.Scenario{Name: "list", Method: "GET", URL: "/api/v1/alert-rules?per_page=500", As: apitest.Viewer, Status: 200,
			Contains: []string{`"key":"host.offline"`, `"seeded":true`, `"open":2`, `"name":"Busy"`}},
		apitest.Scenario{Name: "kinds", Method: "GET", URL: "/api/v1/alert-rules/kinds", As: apitest.Viewer, Status: 200,
			Contains: []string{`"kind":"cpu","summary":"CPU usage","unit":"percent","below":false,"most":100`,
				`"kind":"host_away","summary":"The host does not respond","unit":null`}},
		apitest.Scenario{Name: "one", Method: "GET", URL: own, As: apitest.Viewer, Status: 200, Contains: []string{`"name":"Busy"`}},
		apitest.Scenario{Name: "none", Method: "GET", URL: "/api/v1/alert-rules/999", As: apitest.Viewer, Status: 404, Error: "not_found"},
		patch("levels", own, `{"threshold":99,"clear_level":null}`, 200, "", `"threshold":99,"clear_level":99`),
		patch("a threshold below the clear level", own, `{"threshold":50}`, 422, "invalid", `"loc":["body","clear_level"]`),
		patch("everything about it", own,
			`{"on":null,"labels":null,"description":null,"name":"N","severity":"info","for_s":1,"clear_for_s":2,"enabled":false}`,
			200, "", `"name":"N","description":"","kind":"cpu","on":{"team_id":null,"host_id":null,"kinds":[],"tags":[],"targets":[]}`,
			`"labels":{}`, `"for_s":1,"clear_for_s":2,"severity":"info"`),
		patch("on something else", own, `{"on":{"team_id":2}}`, 200, "", `"on":{"team_id":2,"host_id":null`),
		patch("nothing", own, `{}`, 422, "invalid"),
		patch("its kind", own, `{"kind":"disk"}`, 422, "invalid"),
		patch("one that came with the service", "/api/v1/alert-rules/1", `{"enabled":false}`, 200, "", `"key":"host.offline"`, `"seeded":false`,
			`"enabled":false`),
		patch("none", "/api/v1/alert-rules/999", `{"enabled":false}`, 404, "not_found"),
		apitest.Scenario{Name: "delete", Method: "DELETE", URL: own, As: apitest.Admin, Status: 204},
		apitest.Scenario{Name: "delete again", Method: "DELETE", URL: own, As: apitest.Admin, Status: 404, Error: "not_found"},
		apitest.Scenario{Name: "delete as an operator", Method: "DELETE", URL: "/api/v1/alert-rules/1", As: apitest.Operator, Status: 403,
			Error: "forbidden"},
	)
	b.Exec("INSERT INTO alert_rules (name, kind, severity) SELECT 'n', 'host_away', 'info' FROM generate_series(1, 500)")
	b.Run(t, post("one too many", `{"name":"n","kind":"host_away"}`, 409, "conflict"))
	if got := b.Value(`SELECT string_agg(concat_ws(' ', action, target_kind, target_name, details ->> 'kind'), ', ' ORDER BY id) FROM audit
		WHERE result = 'ok' AND target_id = $1`, fmt.Sprint(id)); !strings.HasPrefix(got, "alert_rule.create alert_rule Busy cpu, ") ||
		!strings.HasSuffix(got, "alert_rule.delete alert_rule N cpu") {
		t.Errorf("the audit log has %s", got)
	}
}

func TestMaintenanceWindows(t *testing.T) {
	t.Parallel()
	b := newAlerts(t)
	post := func(name, body string, status int, code string, contains ...string) apitest.Scenario {
		return do(name, "POST", "/api/v1/maintenance-windows", body, apitest.Admin, status, code, contains...)
	}
	yesterday := time.Now().UTC().Truncate(time.Second).AddDate(0, 0, -1)
	now := fmt.Sprintf(`{"name":"o","starts_at":%q,"ends_at":%q}`, yesterday.In(time.FixedZone("", 3600)).Format(time.RFC3339),
		yesterday.AddDate(0, 0, 300).Format(time.RFC3339))
	const nightly = `{"name":"n","cron":" 0  1 * * * ","duration_s":3600,"timezone":"Europe/Berlin","on":{"host_id":1,"tags":["a","a"]}}`
	b.Run(t,
		post("again and again", nightly, 201, "", `"id":1,"name":"n","enabled":true,"starts_at":null,"ends_at":null,"cron":"0 1 * * *"`,
			`"timezone":"Europe/Berlin","duration_s":3600,"on":{"team_id":null,"host_id":1,"tags":["a"]}`),
		post("once, and it is open", now, 201, "", fmt.Sprintf(`"starts_at":%q`, yesterday.Format(time.RFC3339)),
			`"cron":null,"timezone":"UTC","duration_s":null`, `"open":true`),
		post("neither", `{"name":"n"}`, 422, "invalid", `"loc":["body","starts_at"]`),
		post("both", `{"name":"n","cron":"0 1 * * *","starts_at":"2026-01-01T00:00:00Z"}`, 422, "invalid", `"loc":["body","cron"]`),
		post("without an end", `{"name":"n","starts_at":"2026-01-01T00:00:00Z"}`, 422, "invalid", `"loc":["body","ends_at"]`),
		post("ends before", `{"name":"n","starts_at":"2026-01-01T00:00:00Z","ends_at":"2025-01-01T00:00:00Z"}`, 422, "invalid",
			`"loc":["body","ends_at"]`),
		post("for years", `{"name":"n","starts_at":"2026-01-01T00:00:00Z","ends_at":"2036-01-01T00:00:00Z"}`, 422, "invalid"),
		post("long ago", `{"name":"n","starts_at":"0001-01-01T00:00:00Z","ends_at":"0001-02-01T00:00:00Z"}`, 422, "invalid"),
		post("a time that never comes", `{"name":"n","cron":"0 0 30 2 *","duration_s":60}`, 422, "invalid", `"loc":["body","cron"]`),
		post("without how long", `{"name":"n","cron":"0 0 * * *"}`, 422, "invalid", `"loc":["body","duration_s"]`),
		post("a zone that is none", `{"name":"n","cron":"0 0 * * *","duration_s":60,"timezone":"Moon/Sea"}`, 422, "invalid",
			`"loc":["body","timezone"]`),
		post("a host that is not there", `{"name":"n","cron":"0 0 * * *","duration_s":60,"on":{"host_id":99}}`, 422, "invalid",
			`"loc":["body","on","host_id"]`),
		apitest.Scenario{Name: "operator", Method: "POST", URL: "/api/v1/maintenance-windows", Body: nightly, As: apitest.Operator, Status: 403,
			Error: "forbidden"},
		apitest.Scenario{Name: "list", Method: "GET", URL: "/api/v1/maintenance-windows", As: apitest.Viewer, Status: 200,
			Contains: []string{`"id":1`, `"id":2`}},
		apitest.Scenario{Name: "one", Method: "GET", URL: "/api/v1/maintenance-windows/2", As: apitest.Viewer, Status: 200,
			Contains: []string{`"name":"o"`}},
		apitest.Scenario{Name: "none", Method: "GET", URL: "/api/v1/maintenance-windows/9", As: apitest.Viewer, Status: 404, Error: "not_found"},
		apitest.Scenario{Name: "from again and again to once", Method: "PATCH", URL: "/api/v1/maintenance-windows/1", As: apitest.Admin,
			Status:   200,
			Body:     `{"timezone":null,"starts_at":"2026-01-01T00:00:00Z","ends_at":"2026-01-02T00:00:00Z","on":null}`,
			Contains: []string{`"cron":null,"timezone":"UTC","duration_s":null,"on":{"team_id":null,"host_id":null,"tags":[]},"open":false`}},
		apitest.Scenario{Name: "half of it", Method: "PATCH", URL: "/api/v1/maintenance-windows/1", As: apitest.Admin, Status: 422,
			Body: `{"cron":"0 1 * * *"}`, Error: "invalid"},
		apitest.Scenario{Name: "off", Method: "PATCH", URL: "/api/v1/maintenance-windows/2", As: apitest.Admin, Status: 200,
			Body:     `{"enabled":false}`,
			Contains: []string{`"enabled":false`, `"open":false`}},
		apitest.Scenario{Name: "delete", Method: "DELETE", URL: "/api/v1/maintenance-windows/2", As: apitest.Admin, Status: 204},
		apitest.Scenario{Name: "delete again", Method: "DELETE", URL: "/api/v1/maintenance-windows/2", As: apitest.Admin, Status: 404,
			Error: "not_found"},
	)
}
