// Package alertstest has valid requests to alerts, their rules and maintenance
// windows. The tests over all operations of the API send them; see package
// requesttest.
package alertstest

import (
	"encoding/json"
	"fmt"

	"github.com/hostler/hostler/core/api/requesttest"
	"github.com/hostler/hostler/core/db/dbtest"
)

// Requests are those of the resource.
var Requests = requesttest.Requests{
	Values: func(f *requesttest.Fixture) map[string]string {
		return map[string]string{
			"alert_id":  OpenAlert(f),
			"rule_id":   made(f, "/api/v1/alert-rules", rule(f)),
			"window_id": made(f, "/api/v1/maintenance-windows", Nightly),
		}
	},
	Changes: func(f *requesttest.Fixture) []requesttest.Change {
		return []requesttest.Change{
			{Operation: "acknowledge_alert", Body: `{"note":"looking at it"}`},
			{Operation: "silence_alert", Body: `{"for_s":3600,"note":"known"}`},
			{Operation: "resolve_alert", Body: `{"note":"mended"}`, Path: map[string]string{"alert_id": OpenAlert(f)}},
			{Operation: "create_alert_rule", Body: rule(f), Nulls: `{"name":"n","kind":"host_away"}`},
			{Operation: "update_alert_rule", Body: `{"threshold":92,"clear_level":85,"enabled":false}`},
			{Operation: "delete_alert_rule", Spoils: true},
			{Operation: "create_maintenance_window", Body: Nightly},
			{Operation: "update_maintenance_window", Body: `{"duration_s":600}`},
			{Operation: "delete_maintenance_window", Spoils: true},
		}
	},
	Reads: map[string]requesttest.Read{"list_alert_kinds": {Teamless: "the same everywhere"}},
}

// Nightly is a window that comes again.
const Nightly = `{"name":"` + requesttest.Canary + `-nightly","cron":"0 1 * * *","duration_s":3600,"timezone":"Europe/Berlin"}`

func rule(f *requesttest.Fixture) string {
	return fmt.Sprintf(`{"name":%q,"kind":"cpu","threshold":95,"clear_level":90,"for_s":60,"severity":"info","on":{"host_id":%d,`+
		`"targets":["vm:%d"]},"labels":{"room":"cellar"}}`, requesttest.Canary+"-busy", f.Host, f.VM)
}

func made(f *requesttest.Fixture, path, body string) string {
	var made struct{ ID int64 }
	answer := f.Expect("POST", path, body, 201)
	if err := json.Unmarshal(answer.Body, &made); err != nil {
		f.T.Fatal(err)
	}
	return fmt.Sprint(made.ID)
}

// OpenAlert makes an alert about the host.
func OpenAlert(f *requesttest.Fixture) string {
	f.T.Helper()
	return fmt.Sprint(dbtest.Value[int64](f.T, f.DB, `INSERT INTO alerts (team_id, host_id, target_kind, target_id, target_name, rule, kind,
		severity, message, told) SELECT team_id, id, 'host', id, name, 'host.offline', 'host_away', 'critical', $2,
			'open' FROM hosts WHERE id = $1
		RETURNING id`, f.Host, requesttest.Canary+" does not answer"))
}
