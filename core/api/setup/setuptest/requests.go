// Package setuptest has valid requests to the setup. The tests over all
// operations of the API send them; see package requesttest.
package setuptest

import (
	"net/http"

	"github.com/hostler/hostler/core/api/requesttest"
)

// Requests are those of the resource.
var Requests = requesttest.Requests{
	Changes: func(*requesttest.Fixture) []requesttest.Change {
		return []requesttest.Change{{
			Operation: "complete_setup", Body: `{"setup_token":"x","email":"first@example.com","password":"mehlwurm-zebra-19"}`,
			Status: http.StatusConflict, Code: "already_set_up", Why: "there are users; the setup's own tests begin without",
		}}
	},
	Reads: map[string]requesttest.Read{
		"get_setup": {Status: http.StatusConflict, Teamless: "says whether there is a user"},
	},
}
