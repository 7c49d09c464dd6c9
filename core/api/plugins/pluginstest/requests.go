// Package pluginstest says what is special of plugins.
package pluginstest

import "github.com/hostler/hostler/core/api/requesttest"

// Requests are those of the resource.
var Requests = requesttest.Requests{
	Reads: map[string]requesttest.Read{"list_plugins": {Teamless: "the machine's own, for admins of the instance"}},
}
