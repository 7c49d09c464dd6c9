// Package metatest has valid requests to the service's own updates. The tests
// over all operations of the API send them; see package requesttest.
package metatest

import (
	"net/http"

	"github.com/hostler/hostler/core/api/requesttest"
)

// Requests are those of the resource.
var Requests = requesttest.Requests{
	Changes: func(*requesttest.Fixture) []requesttest.Change {
		return []requesttest.Change{
			{Operation: "request_update", Body: `{"version":"1.1.0"}`},
			{Operation: "request_meta_update", Status: http.StatusConflict, Code: "invalid_state",
				Why: "the update was requested at its other path"},
		}
	},
	Reads: map[string]requesttest.Read{
		"get_update":      {Teamless: "the service's own updates"},
		"get_meta_update": {Teamless: "the same"},
	},
}
