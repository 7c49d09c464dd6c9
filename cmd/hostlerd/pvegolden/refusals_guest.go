package pvegolden

import (
	"fmt"
	"net/http"

	"github.com/hostler/hostler/plugins/pve/pvesim"
)

// guestRefusals are acts on a guest that its state at the hypervisor stands in the way of: a lock, a quorum that is lost, a node that is
// off, and what others did meanwhile.
func guestRefusals() []Act {
	locked := func(name string) func(*World) {
		return func(w *World) { w.Change(name, func(s *pvesim.GuestSpec) { s.Lock = "backup" }) }
	}
	lockedWith := func(name string, first func(*World)) func(*World) {
		return func(w *World) { first(w); locked(name)(w) }
	}
	away := func(w *World) { w.moved("vm"); w.off("pve2") }
	seen := func(w *World) { w.moved("vm"); w.off("pve2"); w.Sync() }
	noQuorum := func(w *World) { w.SetExtraVotes(9); w.Sync() }
	var (
		start    = Act{Operation: "act_on_vm", Method: "POST", Path: "/vms/{vm}/start"}
		stop     = Act{Operation: "act_on_vm", Method: "POST", Path: "/vms/{vm}/stop"}
		create   = Act{Operation: "create_vm", Method: "POST", Path: "/vms", Body: `{"host_id":{host},"name":"a"}`}
		take     = Act{Operation: "create_vm_snapshot", Method: "POST", Path: "/vms/{vm}/snapshots", Body: `{"name":"now"}`}
		goBack   = Act{Operation: "rollback_vm_snapshot", Method: "POST", Path: "/vms/{vm}/snapshots/before/rollback", Body: `{"confirm":"vm"}`}
		drop     = Act{Operation: "delete_vm_snapshot", Method: "DELETE", Path: "/vms/{vm}/snapshots/before"}
		clone    = Act{Operation: "clone_vm", Method: "POST", Path: "/vms/{vm}/clone", Body: `{"name":"copy"}`}
		cloneApp = Act{Operation: "clone_app", Method: "POST", Path: "/apps/{app}/clone", Body: `{"name":"copy"}`}
		save     = Act{Operation: "run_backups", Method: "POST", Path: "/backups/run", Body: `{"targets":[{"vm":{vm}}],"storage":"local"}`}
		over     = Act{Operation: "restore_backup", Method: "POST", Path: "/backups/{backup}/restore", Body: `{"over":true,"confirm":"vm"}`}
		restore  = Act{Operation: "restore_backup", Method: "POST", Path: "/backups/{backup}/restore"}
		move     = Act{Operation: "migrate_vm", Method: "POST", Path: "/vms/{vm}/migrate", Body: `{"target_host_id":{host},"node":"pve2"}`}
		cross    = Act{Operation: "migrate_vm", Method: "POST", Path: "/vms/{vm}/migrate",
			Body: `{"target_host_id":{far},"node":"pve2","confirm":"vm"}`}
		nic     = Act{Operation: "change_vm_nic", Method: "PUT", Path: "/vms/{vm}/network/net0", Body: `{"tag":5}`}
		options = Act{Operation: "change_vm_options", Method: "PUT", Path: "/vms/{vm}/options", Body: `{"onboot":true}`}
		resize  = Act{Operation: "reconfigure_app", Method: "PATCH", Path: "/apps/{app}", Body: `{"disks":{"rootfs":{"size_gb":16}}}`}
		end     = Act{Operation: "delete_vm", Method: "DELETE", Path: "/vms/{vm}", Body: `{"confirm":"vm"}`}
		config  = Act{Operation: "get_vm_config", Method: "GET", Path: "/vms/{vm}/config"}
	)
	cores := Act{Operation: "reconfigure_vm", Method: "PATCH", Path: "/vms/{vm}", Body: `{"cores":2}`}
	uninstall := Act{Operation: "uninstall_app", Method: "DELETE", Path: "/apps/{app}", Body: `{"confirm":"app"}`}
	withBody := func(a Act, body string) Act { a.Body = body; return a }
	overApp := withBody(over, `{"over":true,"confirm":"app"}`)
	// volumes gives the guest a disk that it does not use, one of another guest, and one that backups leave out.
	volumes := func(name string) func(*World) {
		return func(w *World) {
			w.Change(name, func(s *pvesim.GuestSpec) {
				s.Config = map[string]any{"unused0": fmt.Sprintf("local-lvm:vm-%d-disk-7", w.VMID(name))}
				if name == "vm" {
					s.Config["scsi1"] = fmt.Sprintf("local-lvm:vm-%d-disk-1,backup=0,size=4G", w.VMID(name))
					s.Config["scsi3"] = "nas:999/vm-999-disk-0.qcow2,size=4G"
				} else {
					s.Config["mp0"] = fmt.Sprintf("local-lvm:vm-%d-disk-1,mp=/srv/data,size=200G", w.VMID(name))
					s.Config["mp1"] = "nas:999/vm-999-disk-0.raw,mp=/srv/foreign,backup=1,size=4G"
				}
			})
		}
	}
	with := func(name string, before func(*World)) func(*World) {
		return func(w *World) { volumes(name)(w); before(w) }
	}
	bound := func(w *World) {
		w.Change("app", func(s *pvesim.GuestSpec) { s.Config = map[string]any{"mp0": "/mnt/media,mp=/media"} })
		w.backupOf("app")
	}
	snapshot, small := withSnapshot("vm"), withBody(restore, `{"storage":"small"}`)
	return []Act{
		start.when("without a quorum", noQuorum), create.when("without a quorum", noQuorum), clone.when("without a quorum", noQuorum),
		cloneApp.when("without a quorum", noQuorum), move.when("without a quorum", noQuorum),
		restore.when("without a quorum", func(w *World) { w.backup(); noQuorum(w) }),
		move.when("a quorum that was lost since the last poll", func(w *World) { w.SetExtraVotes(9) }),

		take.when("locked", locked("vm")), goBack.when("locked", lockedWith("vm", snapshot)), drop.when("locked", lockedWith("vm", snapshot)),
		clone.when("locked", locked("vm")), save.when("locked", locked("vm")), move.when("locked", locked("vm")),
		over.when("over a locked guest", lockedWith("vm", (*World).backup)), nic.when("locked", locked("vm")),
		options.when("locked", locked("vm")), resize.when("a disk, locked", locked("app")), uninstall.when("locked", locked("app")),

		take.when("its node is off", seen), end.when("its node is off", seen), save.when("its node is off", seen),
		clone.when("its node is off", seen), config.when("its node is off", seen), move.when("its node is off", seen),
		stop.when("its node is off", func(w *World) { w.Running("vm"); seen(w) }),
		take.when("moved meanwhile to a node that is off", away), config.when("moved meanwhile to a node that is off", away),

		stop.when("another guest of its number", func(w *World) { w.Running("vm"); w.replaced() }),
		take.when("another guest of its number", (*World).replaced), clone.when("another guest of its number", (*World).replaced),
		save.when("another guest of its number", (*World).replaced), move.when("another guest of its number", (*World).replaced),
		goBack.when("incomplete", func(w *World) {
			if err := w.AddSnapshot(w.VMID("vm"), pvesim.SnapshotSpec{Name: "before", Incomplete: true}); err != nil {
				w.t.Fatal(err)
			}
		}),
		goBack.when("another guest of its number", func(w *World) { w.replaced(); w.Snapshot("vm", "before") }),
		over.when("over, another guest of its number since the last poll", func(w *World) { w.backup(); w.replaced() }),
		nic.when("another guest of its number", (*World).replaced), options.when("another guest of its number", (*World).replaced),
		cores.when("another guest of its number", (*World).replaced),

		withBody(end, "").when("with disks that are unused, and of another guest", volumes("vm")),
		withBody(uninstall, "").when("with volumes that are unused, and of another guest", volumes("app")),
		withBody(over, `{"over":true}`).when("over a VM with a disk that is not in the backup", with("vm", (*World).backup)),
		overApp.when("over a container with a volume that is not in the backup", with("app", func(w *World) { w.backupOf("app") })),
		overApp.when("over a container with a directory of its node", bound), restore.when("of a container with a directory of its node", bound),

		small.when("a storage that is full", func(w *World) {
			w.backup()
			w.AddStorage(pvesim.StorageSpec{ID: "small", Plugin: "lvm", Size: 1 << 30})
		}),
		cross.when("to a cluster whose storage of one name is another one", func(w *World) { w.far(); w.Running("vm") }),
		cross.when("to a cluster without a quorum", func(w *World) { w.leaves("vm"); w.far().SetExtraVotes(9); w.syncFar() }),
		cross.when("to another cluster, with a disk that is not backed up", with("vm", func(w *World) { w.leaves("vm") })),
		cross.when("to a cluster that has its bridge not", func(w *World) {
			w.leaves("vm")
			w.Change("vm", func(s *pvesim.GuestSpec) { s.Config = map[string]any{"net0": "virtio=BC:24:11:00:00:01,bridge=vmbr7"} })
		}),
	}
}

// when is the act in a state of the world.
func (a Act) when(name string, before func(*World)) Act {
	a.Case, a.Before = name, before
	return a
}

// moved moves a guest to the other node behind the service's back.
func (w *World) moved(name string) {
	w.t.Helper()
	if err := w.MigrateGuest(w.VMID(name), "pve2"); err != nil {
		w.t.Fatal(err)
	}
}

// syncFar has the service poll the other cluster.
func (w *World) syncFar() {
	w.t.Helper()
	w.want(http.MethodPost, "/hosts/{far}/sync", "", http.StatusOK)
}
