package pvesim_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/plugins/pve/pvesim"
	"github.com/hostler/hostler/plugins/pve/pvesim/pvesimtest"
)

func TestRollbackStopsAndStarts(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		vmid       int
		path, form string // of the snapshot
		rollback   string
		status     string
		memory     float64
		starts     string // type of the task that follows
	}{
		{100, vmSnapshots, "", "", pvesim.StatusStopped, 0, ""},
		{100, vmSnapshots, "", "start=1", pvesim.StatusRunning, 0, "qmstart"},
		{100, vmSnapshots, "&vmstate=1", "", pvesim.StatusRunning, 1, ""},
		{100, vmSnapshots, "&vmstate=1", "start=1", pvesim.StatusRunning, 1, ""},
		{101, ctSnapshots, "", "", pvesim.StatusStopped, 0, ""},
		{101, ctSnapshots, "", "start=1", pvesim.StatusRunning, 0, "vzstart"},
	} {
		c, root := snapshotHost(t)
		root.task("POST", tc.path, "snapname=s1"+tc.form, "OK")
		var rows []row
		root.get(tc.path, &rows)
		if s := rowWith(rows, "name", "s1"); tc.vmid == 100 && s["vmstate"] != tc.memory || tc.vmid == 101 && s["vmstate"] != nil {
			t.Errorf("%+v: row %v", tc, s)
		}
		if rows[1]["running"] != 1.0 {
			t.Errorf("%+v: current %v", tc, rows[1])
		}
		root.task("POST", tc.path+"/s1/rollback", tc.rollback, "OK")
		if g, _ := c.Guest(tc.vmid); g.Status != tc.status || g.Lock != "" {
			t.Errorf("%+v: %s, lock %q", tc, g.Status, g.Lock)
		}
		last := c.Tasks()[0] // the newest
		if started := strings.HasSuffix(last.Type, "start"); started != (tc.starts != "") || started && (last.Type != tc.starts ||
			last.Exit != "OK") {
			t.Errorf("%+v: last task %+v", tc, last)
		}
	}
}

func TestMemoryIsOfRunningMachinesOnly(t *testing.T) {
	t.Parallel()
	c, root := snapshotHost(t)
	noError(t, c.SetGuestStatus(100, pvesim.StatusStopped))
	root.task("POST", vmSnapshots, "snapname=off&vmstate=1", "OK")
	noError(t, c.SetGuestStatus(100, pvesim.StatusRunning))
	upid := root.task("POST", vmSnapshots, "snapname=on&vmstate=1", "OK")
	var off, on row
	root.get(vmSnapshots+"/off/config", &off)
	root.get(vmSnapshots+"/on/config", &on)
	if off["vmstate"] != nil || on["vmstate"] != "local-lvm:vm-100-state-on" || on["runningmachine"] == nil {
		t.Errorf("off %v, on %v", off, on)
	}
	log := root.logLines(upid)
	if log[0] != "saving VM state and RAM using storage 'local-lvm'" || !strings.HasPrefix(log[1], "completed saving the VM state in ") ||
		log[2] != "snapshotting 'drive-scsi0' (local-lvm:vm-100-disk-0)" || log[len(log)-1] != "TASK OK" {
		t.Errorf("log %q", log)
	}
	root.refused("POST", ctSnapshots, "snapname=s1&vmstate=1", 400, "Parameter verification failed.")
	addGuest(t, c, pvesim.GuestSpec{VMID: 102, Disk: -1, Status: pvesim.StatusRunning})
	root.task("POST", "/nodes/pve1/qemu/102/snapshot", "snapname=s1&vmstate=1", "OK")
}

func TestSnapshotTasksLockTheGuest(t *testing.T) {
	t.Parallel()
	c := newHost(t) // tasks run for an hour
	root := as(t, c, c.AdminToken())
	addGuest(t, c, pvesim.GuestSpec{VMID: 100})
	addGuest(t, c, pvesim.GuestSpec{VMID: 101, Type: pvesim.LXC})
	c.Advance(2 * time.Hour)
	for _, tc := range []struct {
		method, path, lock, locked, state string
	}{
		{"POST", vmSnapshots, "snapshot", "VM is locked (snapshot)", "prepare"},
		{"POST", vmSnapshots + "/s1/rollback", "rollback", "VM is locked (rollback)", ""},
		{"DELETE", vmSnapshots + "/s1", "snapshot-delete", "VM is locked (snapshot-delete)", "delete"},
		{"POST", ctSnapshots, "snapshot", "CT is locked (snapshot)", "prepare"},
		{"POST", ctSnapshots + "/s1/rollback", "rollback", "CT is locked (rollback)", ""},
		{"DELETE", ctSnapshots + "/s1", "snapshot-delete", "CT is locked (snapshot-delete)", "delete"},
	} {
		guestPath, list, _ := strings.Cut(tc.path, "/snapshot")
		form := ""
		if list == "" {
			form = "snapname=s1"
		}
		list = guestPath + "/snapshot"
		var upid string
		root.decode(tc.method, tc.path, form, &upid)
		var cfg row
		var resources, rows []row
		root.get(guestPath+"/config", &cfg)
		root.get("/cluster/resources?type=vm", &resources)
		root.get(list, &rows)
		vmid := map[bool]float64{true: 100, false: 101}[strings.Contains(guestPath, "qemu")]
		if cfg["lock"] != tc.lock || rowWith(resources, "vmid", vmid)["lock"] != tc.lock {
			t.Errorf("%s: config %v, resources %v", tc.path, cfg["lock"], rowWith(resources, "vmid", vmid))
		}
		if state, _ := rowWith(rows, "name", "s1")["snapstate"].(string); state != tc.state {
			t.Errorf("%s: state %q", tc.path, state)
		}
		root.task("POST", list, "snapname=other", tc.locked) // at once: it waits for nothing
		root.task("POST", guestPath+"/status/start", "", tc.locked)
		root.refused("PUT", list+"/s1/config", "description=x", 500, tc.locked)
		c.Advance(2 * time.Hour)
		if end := root.taskEnd(upid); end != "OK" {
			t.Errorf("%s ended with %q", tc.path, end)
		}
		if g, _ := c.Guest(int(vmid)); g.Lock != "" {
			t.Errorf("%s left the lock %q", tc.path, g.Lock)
		}
	}
}

func TestZFSRollsBackToTheLatestOnly(t *testing.T) {
	t.Parallel()
	c, root := snapshotHost(t)
	c.AddStorage(pvesim.StorageSpec{ID: "tank", Plugin: "zfspool"})
	addGuest(t, c, pvesim.GuestSpec{VMID: 102, Type: pvesim.LXC, Storage: "tank"})
	noError(t, c.AddSnapshot(102, pvesim.SnapshotSpec{Name: "s1", Taken: time.Now().Add(-time.Hour)}))
	noError(t, c.AddSnapshot(102, pvesim.SnapshotSpec{Name: "s2"}))
	const path = "/nodes/pve1/lxc/102/snapshot"
	root.task("POST", path+"/s1/rollback", "", "can't rollback, 's1' is not most recent snapshot on 'tank:subvol-102-disk-0'")
	root.task("POST", path+"/s2/rollback", "", "OK")
	root.task("DELETE", path+"/s2", "", "OK")
	root.task("POST", path+"/s1/rollback", "", "OK")
}

func TestFailingSnapshots(t *testing.T) {
	t.Parallel()
	c, root := snapshotHost(t)
	root.task("POST", vmSnapshots, "snapname=s1", "OK")
	fail := func(lock string) {
		noError(t, c.ChangeGuest(100, func(s *pvesim.GuestSpec) { s.SnapshotError, s.Lock = "lvremove failed: exit code 5", lock }))
	}
	fail("")
	upid := root.task("POST", vmSnapshots, "snapname=s2", "lvremove failed: exit code 5")
	if log := root.logLines(upid); !slices.Contains(log, "snapshot create failed: starting cleanup") {
		t.Errorf("log %q", log)
	}
	if tree := root.parents(vmSnapshots); !maps.Equal(tree, map[string]string{"s1": "", "current": "s1"}) {
		t.Errorf("after the cleanup %v", tree)
	}
	root.task("DELETE", vmSnapshots+"/s1", "", "lvremove failed: exit code 5")
	root.task("DELETE", vmSnapshots+"/s1", "force=1", "VM is locked (snapshot-delete)")
	fail("")
	root.task("POST", vmSnapshots+"/s1/rollback", "", "unable to rollback to incomplete snapshot (snapstate = delete)")
	root.task("DELETE", vmSnapshots+"/s1", "force=1", "OK")
	if tree := root.parents(vmSnapshots); len(tree) != 1 {
		t.Errorf("after force %v", tree)
	}
	noError(t, c.AddSnapshot(100, pvesim.SnapshotSpec{Name: "s3"}))
	root.task("POST", vmSnapshots+"/s3/rollback", "", "lvremove failed: exit code 5")
	if g, _ := c.Guest(100); g.Lock != "rollback" || g.Status != pvesim.StatusStopped {
		t.Errorf("after a failed rollback %s, lock %q", g.Status, g.Lock)
	}
}

func TestControlMakesSnapshotsFail(t *testing.T) {
	t.Parallel()
	c, root := snapshotHost(t)
	h := c.ControlHandler()
	control(t, h, "POST", "/guest", `{"op":"set","vmid":100,"snapshot_error":"no space left"}`, 200)
	root.task("POST", vmSnapshots, "snapname=s1", "no space left")
	control(t, h, "POST", "/guest", `{"op":"set","vmid":101,"storage":"local"}`, 200)
	root.task("POST", ctSnapshots, "snapname=s1", "snapshot feature is not available")
	control(t, h, "POST", "/guest", `{"op":"set","vmid":101,"storage":"nowhere"}`, 400)
}

func TestInterruptedSnapshots(t *testing.T) {
	t.Parallel()
	c := pvesimtest.Start(t, pvesim.Options{Scenario: pvesim.ScenarioCluster, Nodes: 2, Guests: -1, TaskDuration: time.Hour})
	root := as(t, c, c.AdminToken())
	addGuest(t, c, pvesim.GuestSpec{VMID: 100, Node: "pve2"})
	c.Advance(2 * time.Hour)
	const path = "/nodes/pve2/qemu/100/snapshot"
	upid := root.post(path, "snapname=s1")
	root.decode("DELETE", "/nodes/pve2/tasks/"+upid, "", nil)
	if end := root.taskEnd(upid); end != "received interrupt" {
		t.Errorf("ended with %q", end)
	}
	if g, _ := c.Guest(100); g.Lock != "" || len(c.Snapshots(100)) != 0 {
		t.Errorf("lock %q, %d snapshots", g.Lock, len(c.Snapshots(100)))
	}
	root.post(path, "snapname=s2")
	noError(t, c.SetNodeOnline("pve2", false)) // nobody is there to clean up
	noError(t, c.SetNodeOnline("pve2", true))
	var rows []row
	root.get(path, &rows)
	if g, _ := c.Guest(100); g.Lock != "snapshot" || rowWith(rows, "name", "s2")["snapstate"] != "prepare" || rowWith(rows, "name",
		"current")["parent"] != nil {
		t.Errorf("lock %q, rows %v", g.Lock, rows)
	}
}
