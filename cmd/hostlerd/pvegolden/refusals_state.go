package pvegolden

import (
	"context"
	"net/http"

	"github.com/hostler/hostler/plugins/pve/pvesim"
)

// stateRefusals are acts that the state of guests, of the hypervisor or of the service stands in the way of.
func stateRefusals() []Act {
	const stale = "0123456789012345678901234567890123456789"
	start := Act{Operation: "act_on_vm", Method: "POST", Path: "/vms/{vm}/start"}
	stop := Act{Operation: "act_on_vm", Method: "POST", Path: "/vms/{vm}/stop"}
	change := func(guest string, f func(*pvesim.GuestSpec)) func(*World) {
		return func(w *World) { w.Change(guest, f) }
	}
	template := change("vm", func(s *pvesim.GuestSpec) { s.Template = true })
	return []Act{
		// The service itself.
		stop.when("the service runs in it", func(w *World) { w.Running("vm"); w.own("vm") }),
		{Operation: "delete_vm", Case: "the service runs in it", Method: "DELETE", Path: "/vms/{vm}",
			Before: func(w *World) { w.Running("vm"); w.own("vm") }}, // before it is told that it runs
		{Operation: "uninstall_app", Case: "the service runs in it", Method: "DELETE", Path: "/apps/{app}", Body: `{"confirm":"vm"}`,
			Before: func(w *World) { w.own("app") }},
		{Operation: "rollback_vm_snapshot", Case: "the service runs in it", Method: "POST", Path: "/vms/{vm}/snapshots/before/rollback",
			Before: func(w *World) { w.Snapshot("vm", "before"); w.own("vm") }},
		{Operation: "migrate_app", Case: "the service runs in it", Method: "POST", Path: "/apps/{app}/migrate",
			Body: `{"target_host_id":{host},"node":"{other_node}"}`, Before: func(w *World) { w.Running("app"); w.own("app") }},
		{Operation: "act_on_guests", Case: "the service runs in one", Method: "POST", Path: "/guests/actions",
			Body: `{"action":"stop","targets":[{"vm":{vm}}]}`, Before: func(w *World) { w.Running("vm"); w.own("vm") }},
		// What else goes on.
		stop.when("another job works on it", (*World).busy),
		{Operation: "delete_vm", Case: "another job works on it", Method: "DELETE", Path: "/vms/{vm}", Body: `{"confirm":"vm"}`,
			Before: (*World).busy},
		{Operation: "change_vm_nic", Case: "changed meanwhile", Method: "PUT", Path: "/vms/{vm}/network/net0",
			Body: `{"tag":5,"digest":"` + stale + `"}`},
		{Operation: "change_vm_options", Case: "changed meanwhile", Method: "PUT", Path: "/vms/{vm}/options",
			Body: `{"onboot":true,"digest":"` + stale + `"}`},
		// What there is.
		start.when("a template", template),
		{Operation: "create_vm_snapshot", Case: "a name that is taken", Method: "POST", Path: "/vms/{vm}/snapshots",
			Body: `{"name":"before"}`, Before: withSnapshot("vm")},
		{Operation: "delete_vm_snapshot", Case: "one that is not there", Method: "DELETE", Path: "/vms/{vm}/snapshots/never"},
		{Operation: "clone_vm", Case: "a number that is taken", Method: "POST", Path: "/vms/{vm}/clone", Body: `{"newid":{app_vmid}}`},
		{Operation: "restore_backup", Case: "a number that is taken", Method: "POST", Path: "/backups/{backup}/restore",
			Body: `{"newid":{app_vmid}}`, Before: (*World).backup},
		{Operation: "restore_backup", Case: "over, its number is another guest's by now", Method: "POST",
			Path: "/backups/{backup}/restore", Body: `{"over":true,"confirm":"newcomer"}`, Before: func(w *World) {
				w.backup()
				w.succeeded("vm", pvesim.QEMU)
			}},
		{Operation: "uninstall_app", Case: "its number is another container's by now", Method: "DELETE", Path: "/apps/{app}",
			Body: `{"confirm":"app"}`, Before: func(w *World) { w.succeeded("app", pvesim.LXC) }},
		{Operation: "uninstall_app", Case: "its container is protected", Method: "DELETE", Path: "/apps/{app}", Body: `{"confirm":"app"}`,
			Before: change("app", func(s *pvesim.GuestSpec) { s.Config = map[string]any{"protection": 1} })},
		{Operation: "restore_backup", Case: "over a protected guest", Method: "POST", Path: "/backups/{backup}/restore",
			Body: `{"over":true,"confirm":"vm"}`, Before: func(w *World) {
				w.backup()
				w.Change("vm", func(s *pvesim.GuestSpec) { s.Config = map[string]any{"protection": 1} })
			}},
		// What is missing.
		stop.when("no token for it", func(w *World) { w.Running("vm"); w.take("lifecycle") }),
		{Operation: "restore_backup", Case: "no token for it", Method: "POST", Path: "/backups/{backup}/restore",
			Before: func(w *World) { w.backup(); w.take("backup") }},
		{Operation: "run_backups", Case: "no token for it", Method: "POST", Path: "/backups/run",
			Body: `{"targets":[{"vm":{vm}}],"storage":"local"}`, Before: func(w *World) { w.take("backup") }},
		{Operation: "migrate_vm", Case: "another host without a token for backups", Method: "POST", Path: "/vms/{vm}/migrate",
			Body: `{"target_host_id":{far},"node":"pve2"}`, Before: func(w *World) { w.far(); w.take("backup") }},
		// What the hypervisor cannot do now.
		{Operation: "clone_vm", Case: "a storage that is full", Method: "POST", Path: "/vms/{vm}/clone", Body: `{"storage":"small"}`,
			Before: func(w *World) { w.AddStorage(pvesim.StorageSpec{ID: "small", Plugin: "lvm", Size: 1 << 30}) }},
		{Operation: "migrate_vm", Case: "to another host whose storage is full", Method: "POST", Path: "/vms/{vm}/migrate",
			Body: `{"target_host_id":{far},"node":"pve2","storage":"small"}`, Before: func(w *World) {
				w.far().AddStorage(pvesim.StorageSpec{ID: "small", Plugin: "lvm", Size: 1 << 30})
			}},
		{Operation: "run_backups", Case: "their storage is full", Method: "POST", Path: "/backups/run",
			Body: `{"targets":[{"vm":{vm}}],"storage":"local"}`, Before: change("vm", func(s *pvesim.GuestSpec) {
				s.BackupError = "job failed with err -28 - No space left on device"
			})},
	}
}

// own makes the service run in the guest of a name.
func (w *World) own(name string) {
	w.t.Helper()
	w.want(http.MethodPut, "/hosts/self", `{"host_id":{host}}`, http.StatusOK)
	w.self.Hostname = name
}

// busy has a job work on the VM for as long as an answer takes.
func (w *World) busy() {
	w.t.Helper()
	_, err := w.AddFault(pvesim.Fault{Kind: pvesim.FaultDelay, DelayMS: 2000, Times: 1,
		Match: pvesim.Match{Path: "/nodes/{node}/qemu/{vmid}/status/start"}})
	if err != nil {
		w.t.Fatal(err)
	}
	w.begin(http.MethodPost, "/vms/{vm}/start", "")
}

// succeeded gives the number of a guest to another one, and lets the service see both.
func (w *World) succeeded(name, kind string) {
	w.t.Helper()
	id := w.VMID(name)
	if err := w.RemoveGuest(id); err != nil {
		w.t.Fatal(err)
	}
	w.Sync()
	if _, err := w.AddGuest(pvesim.GuestSpec{VMID: id, Type: kind, Name: "newcomer"}); err != nil {
		w.t.Fatal(err)
	}
	w.Sync()
	if err := w.Service.Backups.Turn(context.WithoutCancel(w.t.Context())); err != nil {
		w.t.Fatal(err)
	}
}

// take takes the host's token for a capability away until the world is renewed.
func (w *World) take(capability string) {
	w.t.Helper()
	w.Exec("DELETE FROM host_credentials WHERE host_id = $1 AND capability = $2", w.vars["host"], capability)
}
