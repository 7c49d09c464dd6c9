package pvesim_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/plugins/pve/pvesim"
	"github.com/hostler/hostler/plugins/pve/pvetest"
)

// TestReplayRecordedTasks repeats the guest actions whose tasks were recorded and compares how they end.
func TestReplayRecordedTasks(t *testing.T) {
	t.Parallel()
	recorded := pvetest.RecordedTasks(t)
	run, stop := pvesim.StatusRunning, pvesim.StatusStopped
	ct114, vm200 := pvesim.GuestSpec{VMID: 114, Storage: "btr"}, pvesim.GuestSpec{VMID: 200, Storage: "data1"}
	tpm206 := pvesim.GuestSpec{VMID: 206, Storage: "data1",
		Config: map[string]any{"tpmstate0": "data1:206/vm-206-disk-1.raw,size=4M,version=v2.0"}}
	restored := "vmid=130&ostemplate=data1:" + recordedBackup + "&restore=1&storage=data1"
	cases := map[string]struct {
		guest  pvesim.GuestSpec
		action string // below the node, with its method unless that is POST
		form   string
		// snapshots are taken before, and the whole log is compared.
		snapshots []string
	}{
		"qemu_create_min":         {pvesim.GuestSpec{VMID: 1000}, "qemu", "vmid=202&memory=64&name=min", []string{}},
		"qemu_create_iso_missing": {pvesim.GuestSpec{VMID: 1000}, "qemu", "vmid=201&ide2=data1:iso/none.iso,media=cdrom", []string{}},
		"qemu_destroy":            {pvesim.GuestSpec{VMID: 212}, "DELETE qemu/212?purge=1", "", []string{}},
		"lxc_destroy":             {pvesim.GuestSpec{VMID: 120}, "DELETE lxc/120", "", []string{}},
		"lxc_destroy_force":       {pvesim.GuestSpec{VMID: 115, Status: run}, "DELETE lxc/115?force=1&purge=1", "", nil},
		"qemu_template":           {pvesim.GuestSpec{VMID: 200}, "qemu/200/template", "", []string{}},
		"qemu_clone_full":         {vm200, "qemu/200/clone", "newid=210&name=full-clone&full=1", nil},
		"qemu_config_async":       {vm200, "qemu/200/config", "memory=320", []string{}},
		"qemu_resize_shrink":      {vm200, "PUT qemu/200/resize", "disk=scsi0&size=1G", []string{}},

		"lxc_restore":              {pvesim.GuestSpec{VMID: 1000}, "lxc", restored, nil},
		"lxc_restore_force":        {pvesim.GuestSpec{VMID: 130, Storage: "data1"}, "lxc", restored + "&force=1", nil},
		"vzdump_ct":                {ct114, "vzdump", "vmid=114&storage=data1&mode=stop&compress=zstd&notes-template={{guestname}}", nil},
		"vzdump_unknown":           {ct114, "vzdump", "vmid=999&storage=data1", nil},
		"vzdump_storage_no_backup": {ct114, "vzdump", "vmid=114&storage=btr", []string{}},
		"vzdump_unknown_storage":   {ct114, "vzdump", "vmid=114&storage=nost", []string{}},

		"qemu_start":                {pvesim.GuestSpec{VMID: 210}, "qemu/210/status/start", "", nil},
		"qemu_start_again":          {pvesim.GuestSpec{VMID: 210}, "qemu/210/status/start", "", nil},
		"qemu_start_running":        {pvesim.GuestSpec{VMID: 210, Status: run}, "qemu/210/status/start", "", nil},
		"qemu_start_bridge_missing": {pvesim.GuestSpec{VMID: 205, BridgeMissing: "vmbr77"}, "qemu/205/status/start", "", nil},
		"qemu_start_template":       {pvesim.GuestSpec{VMID: 200, Template: true}, "qemu/200/status/start", "", nil},
		"qemu_stop":                 {pvesim.GuestSpec{VMID: 210, Status: run}, "qemu/210/status/stop", "", nil},
		"qemu_stop204":              {pvesim.GuestSpec{VMID: 204, Status: run}, "qemu/204/status/stop", "timeout=5", nil},
		"qemu_stop_stopped":         {pvesim.GuestSpec{VMID: 210, Status: stop}, "qemu/210/status/stop", "", nil},
		"qemu_shutdown_stopped":     {pvesim.GuestSpec{VMID: 210, Status: stop}, "qemu/210/status/shutdown", "", nil},
		"qemu_shutdown_timeout": {pvesim.GuestSpec{VMID: 210, Status: run, IgnoreShutdown: true}, "qemu/210/status/shutdown", "timeout=4",
			nil},
		"qemu_suspend":             {pvesim.GuestSpec{VMID: 210, Status: run}, "qemu/210/status/suspend", "", nil},
		"qemu_resume":              {pvesim.GuestSpec{VMID: 210, Status: pvesim.StatusPaused}, "qemu/210/status/resume", "", nil},
		"qemu_reset":               {pvesim.GuestSpec{VMID: 210, Status: run}, "qemu/210/status/reset", "", nil},
		"lxc_start":                {pvesim.GuestSpec{VMID: 114}, "lxc/114/status/start", "", nil},
		"lxc_start2":               {pvesim.GuestSpec{VMID: 114}, "lxc/114/status/start", "", nil},
		"lxc_start_running":        {pvesim.GuestSpec{VMID: 110, Lock: "backup"}, "lxc/110/status/start", "", nil},
		"lxc_start_bridge_missing": {pvesim.GuestSpec{VMID: 116, BridgeMissing: "vmbr77"}, "lxc/116/status/start", "", nil},
		"lxc_start_template":       {pvesim.GuestSpec{VMID: 112, Template: true}, "lxc/112/status/start", "", nil},
		"lxc_start_unknown_guest":  {pvesim.GuestSpec{VMID: 1000}, "lxc/999/status/start", "", nil},
		"lxc_shutdown":             {pvesim.GuestSpec{VMID: 114, Status: run}, "lxc/114/status/shutdown", "timeout=20&forceStop=1", nil},
		"lxc_reboot":               {pvesim.GuestSpec{VMID: 114, Status: run}, "lxc/114/status/reboot", "timeout=20", nil},
		"lxc_stop":                 {pvesim.GuestSpec{VMID: 114, Status: run}, "lxc/114/status/stop", "", nil},

		"lxc_snapshot":              {ct114, "lxc/114/snapshot", "snapname=s1&description=first", []string{}},
		"lxc_snapshot2":             {ct114, "lxc/114/snapshot", "snapname=s2", []string{"s1"}},
		"lxc_snapshot_dup":          {ct114, "lxc/114/snapshot", "snapname=s1", []string{"s1"}},
		"lxc_snapshot_unsupported":  {pvesim.GuestSpec{VMID: 101, Storage: "local"}, "lxc/101/snapshot", "snapname=s1", []string{}},
		"lxc_rollback":              {ct114, "lxc/114/snapshot/s1/rollback", "", []string{"s1"}},
		"lxc_rollback_unknown":      {ct114, "lxc/114/snapshot/none/rollback", "", []string{"s1"}},
		"lxc_delsnapshot":           {ct114, "DELETE lxc/114/snapshot/s2", "", []string{"s1", "s2"}},
		"lxc_delsnap_unknown_guest": {ct114, "DELETE lxc/999/snapshot/s1", "", []string{}},
		"qemu_snapshot":             {vm200, "qemu/200/snapshot", "snapname=s1&description=d", []string{}},
		"qemu_snapshot_dup":         {vm200, "qemu/200/snapshot", "snapname=s1", []string{"s1"}},
		"qemu_snapshot_tpm":         {tpm206, "qemu/206/snapshot", "snapname=s1", []string{}},
		"qemu_rollback":             {vm200, "qemu/200/snapshot/s1/rollback", "", []string{"s1"}},
		"qemu_rollback_unknown":     {vm200, "qemu/200/snapshot/zz/rollback", "", []string{"s1"}},
		"qemu_delsnapshot_unknown":  {vm200, "DELETE qemu/200/snapshot/s1", "", []string{}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newHost(t)
			c.AddStorage(pvesim.StorageSpec{ID: "data1"})
			c.AddStorage(pvesim.StorageSpec{ID: "btr", Plugin: "btrfs", Content: "images,rootdir"})
			_, err := c.AddBackup(pvesim.BackupSpec{Storage: "data1", VMID: 114, Type: pvesim.LXC, Name: recordedBackup})
			noError(t, err)
			method, path, given := strings.Cut(tc.action, " ")
			if !given {
				method, path = "POST", tc.action
			}
			if path[:3] == pvesim.LXC {
				tc.guest.Type = pvesim.LXC
			}
			addGuest(t, c, tc.guest)
			for _, s := range tc.snapshots {
				noError(t, c.AddSnapshot(tc.guest.VMID, pvesim.SnapshotSpec{Name: s}))
			}
			root := as(t, c, c.AddToken("root@pam!test", false))
			var upid string
			root.decode(method, "/nodes/pve1/"+path, tc.form, &upid)
			c.Advance(2 * time.Hour)
			want, ok := recorded[name]
			if !ok {
				t.Fatalf("task %s was not recorded", name)
			}
			got := root.raw("GET", "/nodes/pve1/tasks/"+upid+"/status", "")
			var have, wanted any
			noError(t, json.Unmarshal(got.body, &have))
			noError(t, json.Unmarshal(want.Response, &wanted))
			for _, fault := range compareShapes("", shapeOf(have), shapeOf(wanted)) {
				t.Error(fault)
			}
			for _, member := range []string{"exitstatus", "type", "status", "user", "tokenid", "id", "node"} {
				h, w := have.(row)["data"].(row)[member], wanted.(row)["data"].(row)[member]
				if h != w {
					t.Errorf("%s is %v, recorded %v", member, h, w)
				}
			}
			var log struct{ Data []struct{ T string } }
			noError(t, json.Unmarshal(want.Log, &log))
			lines := root.logLines(upid)
			if last := log.Data[len(log.Data)-1].T; lines[len(lines)-1] != last {
				t.Errorf("last line of the log is %q, recorded %q", lines[len(lines)-1], last)
			}
			if tc.snapshots != nil && len(lines) != len(log.Data) {
				t.Errorf("log %q, recorded %v", lines, log.Data)
			}
			for i, l := range log.Data {
				if tc.snapshots != nil && i < len(lines) && lines[i] != l.T {
					t.Errorf("line %d of the log is %q, recorded %q", i+1, lines[i], l.T)
				}
			}
		})
	}
}
