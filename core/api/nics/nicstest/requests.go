// Package nicstest has valid requests to network interfaces of guests. The
// tests over all operations of the API send them; see package requesttest.
package nicstest

import (
	"fmt"

	"github.com/hostler/hostler/core/api/requesttest"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// Requests are those of the resource, each on a guest of its own.
var Requests = requesttest.Requests{
	Values: func(*requesttest.Fixture) map[string]string { return map[string]string{"iface": "net0"} },
	Changes: func(f *requesttest.Fixture) []requesttest.Change {
		vm, ct := f.Lab.NewGuest(hypervisor.VM, hypervisor.GuestStopped), f.Lab.NewGuest(hypervisor.Container, hypervisor.GuestStopped)
		f.Expect("POST", fmt.Sprintf("/api/v1/hosts/%d/sync", f.Host), "", 200)
		f.Expect("POST", "/api/v1/apps/adopt", fmt.Sprintf(`{"items":[{"host_id":%d,"guest_ref":%q}]}`, f.Host, ct.ID), 200)
		const common = `"bridge":"br0","tag":20,"rate":12.5,"mtu":1400,"firewall":true,"link_down":false`
		return []requesttest.Change{
			{Operation: "change_vm_nic", Body: "{" + common + "}", Path: map[string]string{
				"vm_id": f.ID("SELECT id FROM guests WHERE host_id = $1 AND ref = $2", f.Host, vm.ID), "iface": "net0",
			}},
			{Operation: "change_app_nic", Body: "{" + common + `,"ip":"10.9.0.5/24","ip6":"auto"}`, Path: map[string]string{
				"app_id": f.ID("SELECT id FROM apps WHERE host_id = $1 AND guest_ref = $2", f.Host, ct.ID), "iface": "net0",
			}},
		}
	},
}
