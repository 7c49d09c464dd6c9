package pvesim_test

import (
	"encoding/json"
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
	cases := map[string]struct {
		guest  pvesim.GuestSpec
		action string
		form   string
	}{
		"qemu_start":                {pvesim.GuestSpec{VMID: 210}, "qemu/210/status/start", ""},
		"qemu_start_again":          {pvesim.GuestSpec{VMID: 210}, "qemu/210/status/start", ""},
		"qemu_start_running":        {pvesim.GuestSpec{VMID: 210, Status: run}, "qemu/210/status/start", ""},
		"qemu_start_bridge_missing": {pvesim.GuestSpec{VMID: 205, BridgeMissing: "vmbr77"}, "qemu/205/status/start", ""},
		"qemu_start_template":       {pvesim.GuestSpec{VMID: 200, Template: true}, "qemu/200/status/start", ""},
		"qemu_stop":                 {pvesim.GuestSpec{VMID: 210, Status: run}, "qemu/210/status/stop", ""},
		"qemu_stop204":              {pvesim.GuestSpec{VMID: 204, Status: run}, "qemu/204/status/stop", "timeout=5"},
		"qemu_stop_stopped":         {pvesim.GuestSpec{VMID: 210, Status: stop}, "qemu/210/status/stop", ""},
		"qemu_shutdown_stopped":     {pvesim.GuestSpec{VMID: 210, Status: stop}, "qemu/210/status/shutdown", ""},
		"qemu_shutdown_timeout":     {pvesim.GuestSpec{VMID: 210, Status: run, IgnoreShutdown: true}, "qemu/210/status/shutdown", "timeout=4"},
		"qemu_suspend":              {pvesim.GuestSpec{VMID: 210, Status: run}, "qemu/210/status/suspend", ""},
		"qemu_resume":               {pvesim.GuestSpec{VMID: 210, Status: pvesim.StatusPaused}, "qemu/210/status/resume", ""},
		"qemu_reset":                {pvesim.GuestSpec{VMID: 210, Status: run}, "qemu/210/status/reset", ""},
		"lxc_start":                 {pvesim.GuestSpec{VMID: 114}, "lxc/114/status/start", ""},
		"lxc_start2":                {pvesim.GuestSpec{VMID: 114}, "lxc/114/status/start", ""},
		"lxc_start_running":         {pvesim.GuestSpec{VMID: 110, Lock: "backup"}, "lxc/110/status/start", ""},
		"lxc_start_bridge_missing":  {pvesim.GuestSpec{VMID: 116, BridgeMissing: "vmbr77"}, "lxc/116/status/start", ""},
		"lxc_start_template":        {pvesim.GuestSpec{VMID: 112, Template: true}, "lxc/112/status/start", ""},
		"lxc_start_unknown_guest":   {pvesim.GuestSpec{VMID: 1000}, "lxc/999/status/start", ""},
		"lxc_shutdown":              {pvesim.GuestSpec{VMID: 114, Status: run}, "lxc/114/status/shutdown", "timeout=20&forceStop=1"},
		"lxc_reboot":                {pvesim.GuestSpec{VMID: 114, Status: run}, "lxc/114/status/reboot", "timeout=20"},
		"lxc_stop":                  {pvesim.GuestSpec{VMID: 114, Status: run}, "lxc/114/status/stop", ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newHost(t)
			if tc.action[:3] == pvesim.LXC {
				tc.guest.Type = pvesim.LXC
			}
			addGuest(t, c, tc.guest)
			root := as(t, c, c.AddToken("root@pam!test", false))
			upid := root.post("/nodes/pve1/"+tc.action, tc.form)
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
		})
	}
}
