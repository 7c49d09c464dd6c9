package pvesim_test

import (
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/internal/waittest"
	"github.com/hostler/hostler/plugins/pve/pvesim"
	"github.com/hostler/hostler/plugins/pve/pvesim/pvesimtest"
)

// TestLifecycle goes through actions and states where virtual machines and containers differ.
func TestLifecycle(t *testing.T) {
	t.Parallel()
	const run, stop, paused, suspended = pvesim.StatusRunning, pvesim.StatusStopped, pvesim.StatusPaused, pvesim.StatusSuspended
	for _, tc := range []struct {
		kind, from, action, form string
		refused                  string // reason of a 500, or
		exit                     string // end of the task
		to                       string // state afterwards
	}{
		{"qemu", run, "start", "", "", "VM 100 already running", run},
		{"lxc", run, "start", "", "CT 100 already running", "", run},
		{"qemu", stop, "stop", "", "", "OK", stop},
		{"lxc", stop, "stop", "", "CT 100 not running", "", stop},
		{"qemu", stop, "shutdown", "", "", "OK", stop},
		{"lxc", stop, "shutdown", "", "CT 100 not running", "", stop},
		{"qemu", run, "shutdown", "", "", "OK", stop},
		{"lxc", run, "shutdown", "", "", "OK", stop},
		{"qemu", run, "reboot", "", "", "OK", run},
		{"qemu", stop, "reboot", "", "VM 100 not running", "", stop},
		{"lxc", run, "reboot", "", "", "OK", run},
		{"lxc", stop, "reboot", "", "VM 100 not running", "", stop}, // it says VM of a container
		{"qemu", run, "reset", "", "", "OK", run},
		{"qemu", stop, "reset", "", "VM 100 not running", "", stop},
		{"qemu", run, "suspend", "", "", "OK", paused},
		{"qemu", stop, "suspend", "", "VM 100 not running", "", stop},
		{"qemu", paused, "resume", "", "", "OK", run},
		{"qemu", run, "resume", "", "", "OK", run},
		{"qemu", stop, "resume", "", "VM 100 not running", "", stop},
		{"qemu", paused, "shutdown", "", "", "VM is paused - cannot shutdown", paused},
		{"qemu", paused, "shutdown", "forceStop=1", "", "OK", stop},
		{"qemu", paused, "stop", "", "", "OK", stop},
		{"qemu", suspended, "start", "", "", "OK", run},
		{"qemu", suspended, "resume", "", "", "OK", run},
		{"lxc", run, "suspend", "", "", "command 'lxc-checkpoint -n 100 -s -D /var/lib/vz/dump' failed: exit code 1", run},
	} {
		t.Run(tc.kind+" "+tc.from+" "+tc.action+" "+tc.form, func(t *testing.T) {
			t.Parallel()
			c := pvesimtest.Start(t, pvesim.Options{Bare: true})
			addGuest(t, c, pvesim.GuestSpec{VMID: 100, Type: tc.kind, Status: tc.from})
			root := as(t, c, c.AdminToken())
			path := "/nodes/pve1/" + tc.kind + "/100/status/" + tc.action
			if tc.refused != "" {
				root.refused("POST", path, tc.form, 500, tc.refused)
			} else if end := root.taskEnd(root.post(path, tc.form)); end != tc.exit {
				t.Errorf("task ended with %q, want %q", end, tc.exit)
			}
			if g, _ := c.Guest(100); g.Status != tc.to || g.Lock != "" {
				t.Errorf("guest is %s with lock %q, want %s", g.Status, g.Lock, tc.to)
			}
		})
	}
}

func TestSuspendToDisk(t *testing.T) {
	t.Parallel()
	c := pvesimtest.Start(t, pvesim.Options{Bare: true})
	addGuest(t, c, pvesim.GuestSpec{VMID: 100, Status: pvesim.StatusRunning})
	root := as(t, c, c.AdminToken())
	root.refused("POST", "/nodes/pve1/qemu/100/status/suspend", "statestorage=local", 400, "Parameter verification failed.")
	if end := root.taskEnd(root.post("/nodes/pve1/qemu/100/status/suspend", "todisk=1&statestorage=local")); end != "OK" {
		t.Fatal(end)
	}
	var status row
	root.get("/nodes/pve1/qemu/100/status/current", &status)
	if status["status"] != "stopped" || status["qmpstatus"] != "stopped" || status["lock"] != "suspended" {
		t.Errorf("status %v", status)
	}
}

func TestPausedMachineShowsInQMPStatus(t *testing.T) {
	t.Parallel()
	c := newHost(t)
	addGuest(t, c, pvesim.GuestSpec{VMID: 100, Status: pvesim.StatusPaused})
	var status row
	as(t, c, c.AdminToken()).get("/nodes/pve1/qemu/100/status/current", &status)
	if status["status"] != "running" || status["qmpstatus"] != "paused" {
		t.Errorf("status %v", status)
	}
	if r := rowWith(guests(as(t, c, c.AdminToken())), "vmid", 100.0); r["status"] != "paused" {
		t.Errorf("row %v", r)
	}
	var list []row
	as(t, c, c.AdminToken()).get("/nodes/pve1/qemu", &list)
	if r := rowWith(list, "vmid", 100.0); r["status"] != "running" || r["qmpstatus"] != nil {
		t.Errorf("row of the node's list %v", r)
	}
}

func TestShutdownOfADeafGuest(t *testing.T) {
	t.Parallel()
	for kind, want := range map[string]string{
		pvesim.QEMU: "VM quit/powerdown failed - got timeout",
		pvesim.LXC:  "command 'lxc-stop -n 100 --nokill --timeout 30' failed: exit code 1",
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			c := pvesimtest.Start(t, pvesim.Options{Bare: true})
			c.StopClock()
			addGuest(t, c, pvesim.GuestSpec{VMID: 100, Type: kind, Status: pvesim.StatusRunning, IgnoreShutdown: true})
			root := as(t, c, c.AdminToken())
			upid := root.post("/nodes/pve1/"+kind+"/100/status/shutdown", "timeout=30")
			c.Advance(15 * time.Second)
			if end := root.taskEnd(upid); end != "running" {
				t.Errorf("after 15 seconds: %s", end)
			}
			c.Advance(16 * time.Second)
			if end := root.taskEnd(upid); end != want {
				t.Errorf("after 31 seconds: %s", end)
			}
			upid = root.post("/nodes/pve1/"+kind+"/100/status/shutdown", "timeout=30&forceStop=1")
			c.Advance(31 * time.Second)
			if g, _ := c.Guest(100); root.taskEnd(upid) != "OK" || g.Status != pvesim.StatusStopped {
				t.Errorf("forced: %s, guest %s", root.taskEnd(upid), g.Status)
			}
		})
	}
}

// TestTasksOnOneGuestWaitForEachOther: a shutdown holds the configuration's lock; others give up after ten seconds.
func TestTasksOnOneGuestWaitForEachOther(t *testing.T) {
	t.Parallel()
	c := pvesimtest.Start(t, pvesim.Options{Bare: true, TaskDuration: time.Second})
	c.StopClock()
	addGuest(t, c, pvesim.GuestSpec{VMID: 100, Status: pvesim.StatusRunning, IgnoreShutdown: true})
	root := as(t, c, c.AdminToken())
	down := root.post("/nodes/pve1/qemu/100/status/shutdown", "timeout=60")
	stop := root.post("/nodes/pve1/qemu/100/status/stop", "")
	c.Advance(11 * time.Second)
	if end := root.taskEnd(stop); !strings.Contains(end, "can't lock file") || !strings.HasSuffix(end, "got timeout") {
		t.Errorf("the waiting stop ended with %q", end)
	}
	root.refused("POST", "/nodes/pve1/qemu/100/status/stop", "overrule-shutdown=maybe", 400, "Parameter verification failed.")
	stop = root.post("/nodes/pve1/qemu/100/status/stop", "overrule-shutdown=1")
	c.Advance(2 * time.Second)
	if down, stop := root.taskEnd(down), root.taskEnd(stop); down != "received interrupt" || stop != "OK" {
		t.Errorf("overruled: shutdown %q, stop %q", down, stop)
	}
	first := root.post("/nodes/pve1/qemu/100/status/start", "")
	second := root.post("/nodes/pve1/qemu/100/status/stop", "")
	c.Advance(3 * time.Second)
	if a, b := root.taskEnd(first), root.taskEnd(second); a != "OK" || b != "OK" {
		t.Errorf("one after the other: %q, %q", a, b)
	}
	if g, _ := c.Guest(100); g.Status != pvesim.StatusStopped {
		t.Errorf("guest is %s", g.Status)
	}
}

func TestOnlyRootItselfMaySkipLocks(t *testing.T) {
	t.Parallel()
	c := newHost(t)
	addGuest(t, c, pvesim.GuestSpec{VMID: 100, Lock: "backup"})
	root := as(t, c, c.AdminToken())
	ans := root.refused("POST", "/nodes/pve1/qemu/100/status/start", "skiplock=1", 400, "Parameter verification failed.")
	if !strings.Contains(string(ans.body), "Only root may use this option.") {
		t.Errorf("body %s", ans.body)
	}
	root.post("/nodes/pve1/qemu/100/status/start", "skiplock=0")
}

func TestGuestOfAnotherTypeOrNode(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	root := as(t, c, c.AdminToken())
	root.refused("GET", "/nodes/pve1/lxc/100/status/current", "", 500, "Configuration file 'nodes/pve1/lxc/100.conf' does not exist")
	root.refused("GET", "/nodes/pve2/qemu/100/status/current", "", 500, "Configuration file 'nodes/pve2/qemu-server/100.conf' does not exist")
	if end := root.taskEnd(root.post("/nodes/pve2/qemu/100/status/start",
		"")); end != "Configuration file 'nodes/pve2/qemu-server/100.conf' does not exist" {
		t.Errorf("start on the wrong node ended with %q", end)
	}
	root.refused("GET", "/nodes/pve1/qemu/99/status/current", "", 400, "Parameter verification failed.")
}

func TestNodePower(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	power := as(t, c, c.Tokens()["node_power"])
	power.refused("POST", "/nodes/pve2/status", "command=dance", 400, "Parameter verification failed.")
	as(t, c, c.Tokens()["lifecycle"]).refused("POST", "/nodes/pve2/status", "command=reboot", 403,
		"Permission check failed (/nodes/pve2, Sys.PowerMgmt)")
	power.decode("POST", "/nodes/pve2/status", "command=reboot", nil)
	online := func() bool {
		var rows []row
		as(t, c, c.AdminToken()).get("/nodes", &rows)
		return rowWith(rows, "node", "pve2")["status"] == "online"
	}
	waittest.Until(t, "the node to go down", func() bool { return !online() })
	waittest.Until(t, "the node to come back", func() bool { c.Advance(30 * time.Second); return online() })
}
