// Package appstest has valid requests to apps. The tests over all operations of
// the API send them; see package requesttest.
package appstest

import (
	"fmt"

	"github.com/hostler/hostler/core/api/requesttest"
	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// Requests are those of the resource.
var Requests = requesttest.Requests{
	Values: func(*requesttest.Fixture) map[string]string { return map[string]string{"action": "start"} },
	Reads: map[string]requesttest.Read{
		"get_app_logs": {Status: 501},
		// The app does not run, so that nobody looks into it.
		"list_app_ports": {Status: 409, Calling: "UPDATE guests SET status = 'running' WHERE kind = 'container'"},
	},
	Changes: func(f *requesttest.Fixture) []requesttest.Change {
		other := f.ID(`SELECT vmid FROM guests WHERE kind = 'container' AND host_id = $1
			AND vmid <> (SELECT vmid FROM apps WHERE id = $2) ORDER BY vmid LIMIT 1`, f.Host, f.App)
		return []requesttest.Change{
			{Operation: "adopt_apps", Body: fmt.Sprintf(`{"items":[{"host_id":%d,"vmid":%s}]}`, f.Host, other)},
			{Operation: "act_on_app"},
			uninstall(f),
		}
	},
}

// uninstall uninstalls an app of its own.
func uninstall(f *requesttest.Fixture) requesttest.Change {
	f.T.Helper()
	ref := f.Lab.NewGuest(hypervisor.Container, hypervisor.GuestStopped)
	f.Expect("POST", fmt.Sprintf("/api/v1/hosts/%d/sync", f.Host), "", 200)
	f.Expect("POST", "/api/v1/apps/adopt", fmt.Sprintf(`{"items":[{"host_id":%d,"guest_ref":%q}]}`, f.Host, ref.ID), 200)
	const row = " FROM apps WHERE host_id = $1 AND guest_ref = $2"
	name := dbtest.Value[string](f.T, f.DB, "SELECT name"+row, f.Host, ref.ID)
	return requesttest.Change{Operation: "uninstall_app", Body: fmt.Sprintf(`{"confirm":%q}`, name),
		Path: map[string]string{"app_id": f.ID("SELECT id"+row, f.Host, ref.ID)}}
}
