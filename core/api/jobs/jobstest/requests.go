// Package jobstest has valid requests to jobs. The tests over all operations of
// the API send them; see package requesttest.
package jobstest

import (
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/hostler/hostler/core/api/requesttest"
	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/internal/waittest"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// Requests are those of the resource.
var Requests = requesttest.Requests{
	Changes: func(f *requesttest.Fixture) []requesttest.Change {
		return []requesttest.Change{
			{Operation: "retry_job", Path: map[string]string{"job_id": ended(f)}},
			{Operation: "cancel_job", Status: http.StatusConflict, Code: "job_finished",
				Why: "its job has ended; the resource's own tests cancel one that runs"},
		}
	},
}

// ended makes a job that can be asked for again and asks the hypervisor then: the snapshot that it has taken is gone.
func ended(f *requesttest.Fixture) (id string) {
	f.T.Helper()
	ref := f.Lab.NewGuest(hypervisor.VM, hypervisor.GuestRunning)
	f.Expect("POST", fmt.Sprintf("/api/v1/hosts/%d/sync", f.Host), "", http.StatusOK)
	vm := f.ID("SELECT id FROM guests WHERE host_id = $1 AND ref = $2", f.Host, ref.ID)
	answer := f.Expect("POST", "/api/v1/vms/"+vm+"/snapshots", `{"name":"zqcanary-again"}`, http.StatusAccepted)
	var made struct{ Job struct{ ID int64 } }
	if err := json.Unmarshal(answer.Body, &made); err != nil {
		f.T.Fatal(err)
	}
	waittest.Until(f.T, "the job has ended", func() bool {
		return dbtest.Value[bool](f.T, f.DB, "SELECT finished_at IS NOT NULL FROM jobs WHERE id = $1", made.Job.ID)
	})
	f.Lab.ChangeSnapshots(ref.ID, func([]hypervisor.Snapshot) []hypervisor.Snapshot { return nil })
	return fmt.Sprint(made.Job.ID)
}
