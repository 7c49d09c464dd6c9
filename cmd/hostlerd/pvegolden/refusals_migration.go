package pvegolden

import (
	"fmt"

	"github.com/hostler/hostler/plugins/pve/pvesim"
)

// migrationRefusals are migrations that what both checks find stands in the way of, and checks that warn of it.
func migrationRefusals() []Act {
	const within, across = `{"target_host_id":{host},"node":"pve2"}`, `{"target_host_id":{far},"node":"pve2","confirm":"vm"}`
	move := func(body string) Act {
		return Act{Operation: "migrate_vm", Method: "POST", Path: "/vms/{vm}/migrate", Body: body}
	}
	check := Act{Operation: "check_vm_migration", Method: "POST", Path: "/vms/{vm}/migrate/preflight",
		Body: `{"target_host_id":{far},"node":"pve2"}`}
	return []Act{
		{Operation: "migrate_app", Case: "without confirmation", Method: "POST", Path: "/apps/{app}/migrate", Body: within,
			Before: func(w *World) { w.Running("app") }},
		move(`{"target_host_id":{far},"node":"pve2"}`).when("to another cluster, without confirmation", func(w *World) { w.leaves("vm") }),
		move(within).when("running, with snapshots", func(w *World) { w.Running("vm"); w.Snapshot("vm", "before") }),
		move(`{"target_host_id":{host}}`).when("no other node is on", func(w *World) { w.off("pve2"); w.Sync() }),
		move(`{"target_host_id":{host},"node":"pve2","storage":"none"}`).when("to a storage that is not there", nil),
		move(across).when("to another cluster, a template", func(w *World) {
			w.leaves("vm")
			w.Change("vm", func(s *pvesim.GuestSpec) { s.Status, s.Template = pvesim.StatusStopped, true })
		}),
		move(across).when("to a hypervisor of another kind", func(w *World) {
			w.leaves("vm")
			w.Exec("UPDATE hosts SET driver = 'lxd' WHERE name = 'far'")
		}),
		move(across).when("to another host without a token for lifecycle", func(w *World) {
			w.leaves("vm")
			w.Exec("DELETE FROM host_credentials WHERE capability = 'lifecycle' AND host_id = (SELECT id FROM hosts WHERE name = 'far')")
		}),
		check.when("its id is taken there", func(w *World) {
			w.leaves("vm")
			if _, err := w.far().AddGuest(pvesim.GuestSpec{VMID: w.VMID("vm"), Type: pvesim.QEMU, Name: "other"}); err != nil {
				w.t.Fatal(err)
			}
		}),
		Act{Operation: "check_vm_migration", Method: "POST", Path: "/vms/{vm}/migrate/preflight",
			Body: `{"target_host_id":{bare},"node":"pve2"}`}.when("no storage of backups is known to both", func(w *World) {
			w.Running("vm")
			w.bare()
		}),
		check.when("its disk is on a storage that both may see", func(w *World) {
			w.leaves("vm")
			for _, c := range []*pvesim.Cluster{w.Cluster, w.far()} {
				c.AddStorage(pvesim.StorageSpec{ID: "san", Plugin: "nfs", Content: "images", Shared: true})
			}
			w.Change("vm", func(s *pvesim.GuestSpec) {
				s.Config = map[string]any{"scsi0": fmt.Sprintf("san:%d/vm-%[1]d-disk-0.raw,size=8G", w.VMID("vm"))}
			})
		}),
		check.when("with snapshots, which stay", func(w *World) { w.leaves("vm"); w.Snapshot("vm", "before") }),
	}
}
