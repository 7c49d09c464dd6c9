// Package schedulestest has valid requests to schedules. The tests over all
// operations of the API send them; see package requesttest.
package schedulestest

import (
	"encoding/json"
	"fmt"

	"github.com/hostler/hostler/core/api/requesttest"
)

// ofNoGuest is a schedule whose parameters depend on nothing.
const ofNoGuest = `{"name":"n","cron":"0 3 * * *","job_kind":"sessions.prune"}`

// Requests are those of the resource.
var Requests = requesttest.Requests{
	Values: func(f *requesttest.Fixture) map[string]string {
		var made struct{ ID int64 }
		answer := f.Expect("POST", "/api/v1/schedules", StartVM(requesttest.Canary+"-plan", f.VM), 201)
		if err := json.Unmarshal(answer.Body, &made); err != nil {
			f.T.Fatal(err)
		}
		return map[string]string{"schedule_id": fmt.Sprint(made.ID)}
	},
	Changes: func(f *requesttest.Fixture) []requesttest.Change {
		return []requesttest.Change{
			{Operation: "create_schedule", Body: StartVM(requesttest.Canary, f.VM), Nulls: ofNoGuest},
			{Operation: "update_schedule", Body: `{"enabled":false}`, Nulls: ofNoGuest,
				Calling: fmt.Sprintf(`{"params":{"vm_id":%d}}`, f.VM)},
			{Operation: "run_schedule"},
			{Operation: "delete_schedule", Spoils: true},
		}
	},
	Reads: map[string]requesttest.Read{
		"list_schedule_kinds": {Teamless: "the same everywhere"},
		"list_schedule_times": {Status: 422, Teamless: "the same everywhere"},
	},
}

// StartVM is the body of a schedule that starts a VM.
func StartVM(name string, vm int64) string {
	return fmt.Sprintf(`{"name":%q,"cron":"0 3 * * *","job_kind":"vm.start","params":{"vm_id":%d}}`, name, vm)
}
