// Package clustertest says what is special of the summary of all hosts.
package clustertest

import "github.com/hostler/hostler/core/api/requesttest"

// Requests are those of the resource.
var Requests = requesttest.Requests{
	Reads: map[string]requesttest.Read{
		"get_cluster_summary": {Figures: true, Names: true},
	},
}
