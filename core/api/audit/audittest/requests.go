// Package audittest has good requests to the audit trail.
package audittest

import "github.com/hostler/hostler/core/api/requesttest"

// Requests are those of the resource.
var Requests = requesttest.Requests{
	Changes: func(*requesttest.Fixture) []requesttest.Change {
		return []requesttest.Change{{Operation: "clear_audit", Body: `{"confirm":"clear audit log"}`}}
	},
	Reads: map[string]requesttest.Read{
		"verify_audit": {Teamless: "the trail's chain, by numbers alone"},
	},
}
