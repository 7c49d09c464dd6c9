// Package metricstest has valid requests about what was measured. The tests
// over all operations of the API send them; see package requesttest.
package metricstest

import "github.com/hostler/hostler/core/api/requesttest"

// Requests are those of the resource.
var Requests = requesttest.Requests{
	Changes: func(*requesttest.Fixture) []requesttest.Change {
		return []requesttest.Change{
			{Operation: "set_remote_write", Body: `{"url":"https://metrics.example.com/api/v1/write","username":"hostler","password":"x"}`,
				Nulls: `{"url":"https://metrics.example.com/api/v1/write","tls_fingerprint":null,"username":null,"password":null,` +
					`"bearer_token":null}`},
			{Operation: "delete_remote_write"},
		}
	},
	Reads: map[string]requesttest.Read{
		"get_remote_write": {Teamless: "the instance's receiver"},
		"query_metrics":    {Status: 422, Teamless: "the targets are named in the query: what a caller may not see is 404"},
	},
}
