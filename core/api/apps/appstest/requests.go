// Package appstest has good requests to apps.
package appstest

import (
	"fmt"

	"github.com/hostler/hostler/core/api/requesttest"
)

// Requests are those of the resource.
var Requests = requesttest.Requests{
	Values: func(*requesttest.Fixture) map[string]string { return map[string]string{"action": "start"} },
	Changes: func(f *requesttest.Fixture) []requesttest.Change {
		other := f.ID(`SELECT vmid FROM guests WHERE kind = 'container' AND host_id = $1
			AND vmid <> (SELECT vmid FROM apps WHERE id = $2) ORDER BY vmid LIMIT 1`, f.Host, f.App)
		return []requesttest.Change{
			{Operation: "adopt_apps", Body: fmt.Sprintf(`{"items":[{"host_id":%d,"vmid":%s}]}`, f.Host, other)},
			{Operation: "act_on_app"},
		}
	},
}
