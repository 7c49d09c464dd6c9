// Package migrationstest has valid requests to move guests. The tests over all
// operations of the API send them; see package requesttest.
package migrationstest

import (
	"fmt"

	"github.com/hostler/hostler/core/api/requesttest"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// Requests are those of the resource. Each moves a guest of its own: while one is moved it is busy.
var Requests = requesttest.Requests{Changes: func(f *requesttest.Fixture) []requesttest.Change {
	vm, ct := f.Lab.NewGuest(hypervisor.VM, hypervisor.GuestStopped), f.Lab.NewGuest(hypervisor.Container, hypervisor.GuestStopped)
	f.Expect("POST", fmt.Sprintf("/api/v1/hosts/%d/sync", f.Host), "", 200)
	f.Expect("POST", "/api/v1/apps/adopt", fmt.Sprintf(`{"items":[{"host_id":%d,"guest_ref":%q}]}`, f.Host, ct.ID), 200)
	vmPath := map[string]string{"vm_id": f.ID("SELECT id FROM guests WHERE host_id = $1 AND ref = $2", f.Host, vm.ID)}
	appPath := map[string]string{"app_id": f.ID("SELECT id FROM apps WHERE host_id = $1 AND guest_ref = $2", f.Host, ct.ID)}
	body := func(ref hypervisor.GuestRef, more string) string {
		node := f.Lab.Nodes()[0]
		if node == ref.Node {
			node = f.Lab.Nodes()[1]
		}
		return fmt.Sprintf(`{"target_host_id":%d,"node":%q%s}`, f.Host, node, more)
	}
	return []requesttest.Change{
		{Operation: "check_vm_migration", Body: body(vm, ""), Nulls: body(vm, `,"storage":"local","strategy":"cluster"`), Path: vmPath},
		{Operation: "migrate_vm", Body: body(vm, ""), Nulls: body(vm, `,"storage":"local","strategy":"cluster","confirm":"x"`), Path: vmPath},
		{Operation: "check_app_migration", Body: body(ct, ""), Nulls: body(ct, `,"storage":"local","strategy":"cluster"`), Path: appPath},
		{Operation: "migrate_app", Body: body(ct, ""), Nulls: body(ct, `,"storage":"local","strategy":"cluster","confirm":"x"`), Path: appPath},
	}
}}
