// Package jobstest has good requests to jobs.
package jobstest

import (
	"net/http"

	"github.com/hostler/hostler/core/api/requesttest"
)

// Requests are those of the resource.
var Requests = requesttest.Requests{
	Changes: func(*requesttest.Fixture) []requesttest.Change {
		return []requesttest.Change{{Operation: "cancel_job", Status: http.StatusConflict, Code: "job_finished",
			Why: "its job has ended; the resource's own tests cancel one that runs"}}
	},
}
