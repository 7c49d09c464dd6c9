// Package clonestest has valid requests for copies of guests. The tests over
// all operations of the API send them; see package requesttest.
package clonestest

import (
	"fmt"

	"github.com/hostler/hostler/core/api/requesttest"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// Requests are those of the resource. Each copies a guest of its own: while one is copied it is busy.
var Requests = requesttest.Requests{Changes: func(f *requesttest.Fixture) []requesttest.Change {
	vm, ct := f.Lab.NewGuest(hypervisor.VM, hypervisor.GuestStopped), f.Lab.NewGuest(hypervisor.Container, hypervisor.GuestStopped)
	f.Expect("POST", fmt.Sprintf("/api/v1/hosts/%d/sync", f.Host), "", 200)
	f.Expect("POST", "/api/v1/apps/adopt", fmt.Sprintf(`{"items":[{"host_id":%d,"guest_ref":%q}]}`, f.Host, ct.ID), 200)
	return []requesttest.Change{
		{Operation: "clone_vm", Body: `{"name":"zqcanary-copied-vm"}`, Path: map[string]string{
			"vm_id": f.ID("SELECT id FROM guests WHERE host_id = $1 AND ref = $2", f.Host, vm.ID),
		}},
		{Operation: "clone_app", Body: `{"name":"zqcanary-copied-app"}`, Path: map[string]string{
			"app_id": f.ID("SELECT id FROM apps WHERE host_id = $1 AND guest_ref = $2", f.Host, ct.ID),
		}},
	}
}}
