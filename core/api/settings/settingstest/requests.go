// Package settingstest has valid requests to settings. The tests over all
// operations of the API send them; see package requesttest.
package settingstest

import "github.com/hostler/hostler/core/api/requesttest"

// Requests are those of the resource.
var Requests = requesttest.Requests{
	Changes: func(*requesttest.Fixture) []requesttest.Change {
		return []requesttest.Change{{Operation: "patch_settings", Body: `{"poll.interval_s":60}`}}
	},
	Reads: map[string]requesttest.Read{
		"list_entitlements": {Teamless: "the instance's features"},
		"list_settings":     {Teamless: "the instance's settings"},
	},
}
