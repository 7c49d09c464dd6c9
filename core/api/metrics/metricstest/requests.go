// Package metricstest says what is special of the reads of what was measured.
package metricstest

import "github.com/hostler/hostler/core/api/requesttest"

// Requests are those of the resource.
var Requests = requesttest.Requests{
	Reads: map[string]requesttest.Read{
		"query_metrics": {Status: 422, Teamless: "the targets are named in the query: what a caller may not see is 404"},
	},
}
