// Package optionstest has valid requests to the options of VMs. The tests over
// all operations of the API send them; see package requesttest.
package optionstest

import (
	"fmt"

	"github.com/hostler/hostler/core/api/requesttest"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// Requests are those of the resource, on a VM of its own.
var Requests = requesttest.Requests{Changes: func(f *requesttest.Fixture) []requesttest.Change {
	vm := f.Lab.NewGuest(hypervisor.VM, hypervisor.GuestStopped)
	f.Expect("POST", fmt.Sprintf("/api/v1/hosts/%d/sync", f.Host), "", 200)
	return []requesttest.Change{{
		Operation: "change_vm_options", Body: `{"onboot":true,"startup":"order=2","enable":1,"policy_in":"DROP"}`,
		Path: map[string]string{"vm_id": f.ID("SELECT id FROM guests WHERE host_id = $1 AND ref = $2", f.Host, vm.ID)},
	}}
}}
