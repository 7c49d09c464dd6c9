// Package vmstest has valid requests to VMs. The tests over all operations of
// the API send them; see package requesttest.
package vmstest

import (
	"fmt"

	"github.com/hostler/hostler/core/api/requesttest"
	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// Requests are those of the resource.
var Requests = requesttest.Requests{
	Values: func(*requesttest.Fixture) map[string]string { return map[string]string{"action": "start"} },
	Changes: func(f *requesttest.Fixture) []requesttest.Change {
		idle := f.ID("SELECT id FROM guests WHERE kind = 'vm' AND host_id = $1 AND id <> $2 ORDER BY id LIMIT 1", f.Host, f.VM)
		deleted, name := stopped(f)
		create := fmt.Sprintf(`{"host_id":%d,"name":"zqcanary-made","storage":"local","bridge":"br0"`, f.Host)
		return []requesttest.Change{
			{Operation: "act_on_vm", Path: map[string]string{"vm_id": idle}},
			{Operation: "create_vm", Body: create + "}",
				Nulls: create + `,"iso":"local:iso/installer.iso","node":"none","vlan_tag":5,"vmid":9000}`},
			{Operation: "delete_vm", Body: fmt.Sprintf(`{"confirm":%q}`, name), Path: map[string]string{"vm_id": deleted}},
		}
	},
}

// stopped makes a VM that does not run.
func stopped(f *requesttest.Fixture) (id, name string) {
	f.T.Helper()
	ref := f.Lab.NewGuest(hypervisor.VM, hypervisor.GuestStopped)
	f.Expect("POST", fmt.Sprintf("/api/v1/hosts/%d/sync", f.Host), "", 200)
	const row = " FROM guests WHERE host_id = $1 AND ref = $2"
	return f.ID("SELECT id"+row, f.Host, ref.ID), dbtest.Value[string](f.T, f.DB, "SELECT name"+row, f.Host, ref.ID)
}
