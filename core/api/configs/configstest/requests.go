// Package configstest has valid requests to configurations of guests. The tests
// over all operations of the API send them; see package requesttest.
package configstest

import (
	"fmt"

	"github.com/hostler/hostler/core/api/requesttest"
	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// drive is the key of the drive of VMs.
const drive = "ide2"

func values(*requesttest.Fixture) map[string]string { return map[string]string{"drive": drive} }

// Requests are those of the resource, each on a guest of its own.
var Requests = requesttest.Requests{Values: values, Changes: func(f *requesttest.Fixture) []requesttest.Change {
	vm, ct := f.Lab.NewGuest(hypervisor.VM, hypervisor.GuestStopped), f.Lab.NewGuest(hypervisor.Container, hypervisor.GuestStopped)
	fixtureVM := dbtest.Value[string](f.T, f.DB, "SELECT ref FROM guests WHERE id = $1", f.VM)
	for _, id := range []hypervisor.GuestID{vm.ID, hypervisor.GuestID(fixtureVM)} {
		f.Lab.ChangeConfig(id, func(c *hypervisor.Config) {
			c.Disks = append(c.Disks, hypervisor.Disk{Key: drive, Removable: true})
		})
	}
	f.Expect("POST", fmt.Sprintf("/api/v1/hosts/%d/sync", f.Host), "", 200)
	f.Expect("POST", "/api/v1/apps/adopt", fmt.Sprintf(`{"items":[{"host_id":%d,"guest_ref":%q}]}`, f.Host, ct.ID), 200)
	vmID := f.ID("SELECT id FROM guests WHERE host_id = $1 AND ref = $2", f.Host, vm.ID)
	return []requesttest.Change{
		{Operation: "set_vm_drive", Body: `{"image":"local:iso/installer.iso"}`, Path: map[string]string{"vm_id": vmID, "drive": drive}},
		{Operation: "reconfigure_vm", Body: `{"cores":4,"sockets":1,"memory_mb":4096,"balloon_mb":1024,"cpu_type":"host",` +
			`"name":"zqcanary-reconfigured","description":"text","tags":["web"],"disks":{"scsi0":{"size_gb":40}}}`,
			Path: map[string]string{"vm_id": vmID}},
		{Operation: "reconfigure_app", Body: `{"cores":4,"memory_mb":4096,"swap_mb":1,"name":"zqcanary-app","web_port":80,"web_path":"/",` +
			`"web_protocol":"http","disks":{"rootfs":{"size_gb":40}}}`,
			Path: map[string]string{"app_id": f.ID("SELECT id FROM apps WHERE host_id = $1 AND guest_ref = $2", f.Host, ct.ID)}},
	}
}}
