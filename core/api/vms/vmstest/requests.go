// Package vmstest has good requests to VMs.
package vmstest

import "github.com/hostler/hostler/core/api/requesttest"

// Requests are those of the resource.
var Requests = requesttest.Requests{
	Values: func(*requesttest.Fixture) map[string]string { return map[string]string{"action": "start"} },
	Changes: func(f *requesttest.Fixture) []requesttest.Change {
		idle := f.ID("SELECT id FROM guests WHERE kind = 'vm' AND host_id = $1 AND id <> $2 ORDER BY id LIMIT 1", f.Host, f.VM)
		return []requesttest.Change{{Operation: "act_on_vm", Path: map[string]string{"vm_id": idle}}}
	},
}
