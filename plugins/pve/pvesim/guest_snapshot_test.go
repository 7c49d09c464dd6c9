package pvesim_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/hostler/hostler/plugins/pve/pvesim"
	"github.com/hostler/hostler/plugins/pve/pvesim/pvesimtest"
)

// snapshotHost is a standalone host with VM 100 and CT 101 whose tasks are over at once.
func snapshotHost(t testing.TB) (*pvesim.Cluster, caller) {
	t.Helper()
	c := pvesimtest.Start(t, pvesim.Options{Bare: true})
	addGuest(t, c, pvesim.GuestSpec{VMID: 100, Status: pvesim.StatusRunning})
	addGuest(t, c, pvesim.GuestSpec{VMID: 101, Type: pvesim.LXC, Status: pvesim.StatusRunning})
	return c, as(t, c, c.AdminToken())
}

const (
	vmSnapshots = "/nodes/pve1/qemu/100/snapshot"
	ctSnapshots = "/nodes/pve1/lxc/101/snapshot"
)

// task sends a request that makes a task and wants the task to end so.
func (a caller) task(method, path, form, end string) string {
	a.t.Helper()
	if method == "DELETE" && form != "" { // it has no body
		path, form = path+"?"+form, ""
	}
	var upid string
	a.decode(method, path, form, &upid)
	if got := a.taskEnd(upid); got != end {
		a.t.Errorf("%s %s %s ended with %q, want %q", method, path, form, got, end)
	}
	return upid
}

// parents maps the rows of a list to their parents.
func (a caller) parents(path string) map[string]string {
	a.t.Helper()
	var rows []struct{ Name, Parent string }
	a.get(path, &rows)
	out := map[string]string{}
	for _, r := range rows {
		out[r.Name] = r.Parent
	}
	if rows[len(rows)-1].Name != "current" {
		a.t.Errorf("the last row is %q", rows[len(rows)-1].Name)
	}
	return out
}

func TestSnapshotsMakeATree(t *testing.T) {
	t.Parallel()
	for path, prefix := range map[string]string{vmSnapshots: "qm", ctSnapshots: "vz"} {
		_, root := snapshotHost(t)
		want := func(tree map[string]string) {
			t.Helper()
			if got := root.parents(path); !maps.Equal(got, tree) {
				t.Errorf("%s: %v, want %v", path, got, tree)
			}
		}
		want(map[string]string{"current": ""})
		upid := root.task("POST", path, "snapname=first", "OK")
		if kind := strings.Split(upid, ":")[5]; kind != prefix+"snapshot" {
			t.Errorf("task of type %s", kind)
		}
		root.task("POST", path, "snapname=second", "OK")
		want(map[string]string{"first": "", "second": "first", "current": "second"})
		root.task("POST", path+"/first/rollback", "", "OK")
		root.task("POST", path, "snapname=third", "OK")
		want(map[string]string{"first": "", "second": "first", "third": "first", "current": "third"})
		root.task("DELETE", path+"/first", "", "OK")
		want(map[string]string{"second": "", "third": "", "current": "third"})
		root.task("DELETE", path+"/third", "", "OK")
		want(map[string]string{"second": "", "current": ""})
		root.task("POST", path, "snapname=second", "snapshot name 'second' already used")
		root.task("DELETE", path+"/third", "", "snapshot 'third' does not exist")
		root.refused("GET", path+"/third/config", "", 500, "snapshot 'third' does not exist")
		root.refused("PUT", path+"/third/config", "description=x", 500, "snapshot 'third' does not exist")
	}
}

func TestSnapshotNames(t *testing.T) {
	t.Parallel()
	_, root := snapshotHost(t)
	for _, path := range []string{vmSnapshots, ctSnapshots} {
		for _, name := range []string{"current", "pending"} {
			root.refused("POST", path, "snapname="+name, 500, "unable to use snapshot name '"+name+"' (reserved name)")
		}
		for _, name := range []string{"", "a", "1bad", "-x", "a.b", "a%20b", strings.Repeat("n", 41)} {
			root.refused("POST", path, "snapname="+name, 400, "Parameter verification failed.")
		}
		root.task("POST", path, "snapname="+strings.Repeat("n", 40), "OK")
		if n := len(root.parents(path)); n != 2 {
			t.Errorf("%d rows", n)
		}
	}
}

func TestSnapshotDescriptions(t *testing.T) {
	t.Parallel()
	c, root := snapshotHost(t)
	describe := func(path string) any {
		var rows []row
		root.get(path, &rows)
		return rowWith(rows, "name", "s1")["description"]
	}
	for path, end := range map[string]string{vmSnapshots: "", ctSnapshots: "\n"} {
		root.task("POST", path, "snapname=s1&description=two%0Alines", "OK")
		if d := describe(path); d != "two\nlines"+end {
			t.Errorf("%s: %q", path, d)
		}
		var before, after row
		root.get(path[:len(path)-len("/snapshot")]+"/config", &before)
		root.decode("PUT", path+"/s1/config", "description=new", nil)
		root.get(path[:len(path)-len("/snapshot")]+"/config", &after)
		if d := describe(path); d != "new"+end || before["digest"] == after["digest"] {
			t.Errorf("%s: %q, digest %v", path, d, after["digest"])
		}
		root.decode("PUT", path+"/s1/config", "description=", nil)
		if d := describe(path); d != "" {
			t.Errorf("%s: %q", path, d)
		}
	}
	if list := c.Snapshots(100); len(list) != 1 || list[0].Name != "s1" || c.Snapshots(999) != nil {
		t.Errorf("%+v", list)
	}
}

func TestSnapshotKeepsTheConfigurationOfItsTime(t *testing.T) {
	t.Parallel()
	c, root := snapshotHost(t)
	for vmid, path := range map[int]string{100: vmSnapshots, 101: ctSnapshots} {
		guestPath := path[:len(path)-len("/snapshot")]
		root.task("POST", path, "snapname=s1", "OK")
		noError(t, c.ChangeGuest(vmid, func(s *pvesim.GuestSpec) { s.Name, s.Cores, s.Tags, s.Warnings = "renamed", 4, "late", 1 }))
		var then, now row
		root.get(path+"/s1/config", &then)
		root.get(guestPath+"/config?snapshot=s1", &now)
		if then["cores"] != nil || then["digest"] != nil || then["parent"] != nil || then["snaptime"] == nil || now["cores"] != nil ||
			now["digest"] == nil {
			t.Errorf("%d then %v, %v", vmid, then, now)
		}
		root.get(guestPath+"/config", &now)
		if now["cores"] != 4.0 || now["parent"] != "s1" {
			t.Errorf("%d now %v", vmid, now)
		}
		root.task("POST", path+"/s1/rollback", "", "WARNINGS: 1")
		if g, _ := c.Guest(vmid); g.Cores != 1 || g.Tags != "" || g.Name == "renamed" || g.Warnings != 1 || g.VMID != vmid || g.Node != "pve1" {
			t.Errorf("after the rollback %+v", g)
		}
	}
}

func TestWhatCanBeSnapshotted(t *testing.T) {
	t.Parallel()
	c, root := snapshotHost(t)
	for _, plugin := range []string{"dir", "lvm", "lvmthin", "zfspool", "nfs", "btrfs", "rbd"} {
		c.AddStorage(pvesim.StorageSpec{ID: "st-" + plugin, Plugin: plugin})
	}
	c.AddStorage(pvesim.StorageSpec{ID: "never", Plugin: "zfspool", NoSnapshots: true})
	const unavailable = "snapshot feature is not available"
	vmid := 200
	for storage, want := range map[string][2]string{ // of a virtual machine and a container
		"st-dir": {"OK", unavailable}, "st-nfs": {"OK", unavailable}, "st-lvm": {unavailable, unavailable}, "st-lvmthin": {"OK", "OK"},
		"st-zfspool": {"OK", "OK"}, "st-btrfs": {"OK", "OK"}, "st-rbd": {"OK", "OK"}, "never": {unavailable, unavailable},
	} {
		for i, kind := range []string{pvesim.QEMU, pvesim.LXC} {
			vmid++
			addGuest(t, c, pvesim.GuestSpec{VMID: vmid, Type: kind, Storage: storage})
			root.task("POST", "/nodes/pve1/"+kind+"/"+jsonNumber(int64(vmid))+"/snapshot", "snapname=s1", want[i])
			if err := c.AddSnapshot(vmid, pvesim.SnapshotSpec{Name: "s2"}); (err == nil) != (want[i] == "OK") {
				t.Errorf("adding a snapshot to a %s on %s: %v", kind, storage, err)
			}
		}
	}
	change := func(key, value string) {
		noError(t, c.ChangeGuest(100, func(s *pvesim.GuestSpec) { s.Config = map[string]any{key: value} }))
	}
	change("scsi1", "gone:vm-100-disk-1,size=1G")
	root.task("POST", vmSnapshots, "snapname=s1", "storage 'gone' does not exist")
	change("ide2", "never:iso/x.iso,media=cdrom")
	root.task("POST", vmSnapshots, "snapname=s1", "OK")
	noError(t, c.ChangeGuest(101, func(s *pvesim.GuestSpec) { s.Template = true; s.Status = pvesim.StatusStopped }))
	root.task("POST", ctSnapshots, "snapname=s1", "you can't take a snapshot if it's a template")
	root.task("POST", "/nodes/pve1/qemu/999/snapshot", "snapname=s1", "Configuration file 'nodes/pve1/qemu-server/999.conf' does not exist")
}

func TestSnapshotPrivileges(t *testing.T) {
	t.Parallel()
	c, root := snapshotHost(t)
	noError(t, c.AddSnapshot(100, pvesim.SnapshotSpec{Name: "s1"}))
	with := func(priv string) caller {
		c.SetRole("R"+strings.ReplaceAll(priv, ".", ""), priv)
		token := c.AddToken(strings.ToLower(strings.ReplaceAll(priv, ".", ""))+"@pve!tt", false)
		c.Grant("/vms", strings.Split(token.ID, "!")[0], "R"+strings.ReplaceAll(priv, ".", ""), true)
		return as(t, c, token)
	}
	audit, take, back := with("VM.Audit"), with("VM.Snapshot"), with("VM.Snapshot.Rollback")
	const denied = "Permission check failed (/vms/100, "
	audit.get(vmSnapshots, nil)
	audit.get(vmSnapshots+"/s1/config", nil)
	audit.refused("POST", vmSnapshots, "snapname=s2", 403, denied+"VM.Snapshot)")
	audit.refused("PUT", vmSnapshots+"/s1/config", "description=x", 403, denied+"VM.Snapshot)")
	audit.refused("POST", vmSnapshots+"/s1/rollback", "", 403, denied+"VM.Snapshot|VM.Snapshot.Rollback)")
	take.refused("GET", vmSnapshots, "", 403, denied+"VM.Audit)")
	back.refused("DELETE", vmSnapshots+"/s1", "", 403, denied+"VM.Snapshot)")
	for _, upid := range []string{back.post(vmSnapshots+"/s1/rollback", ""), take.post(vmSnapshots, "snapname=s2")} {
		if end := root.taskEnd(upid); end != "OK" {
			t.Errorf("%s ended with %q", upid, end)
		}
	}
}

func TestFaultsStrikeSnapshots(t *testing.T) {
	t.Parallel()
	c, root := snapshotHost(t)
	addFault(t, c, pvesim.Fault{Kind: pvesim.FaultStatus, Status: 500, Reason: "lost", After: true, Match: pvesim.Match{
		Method: "POST", Path: "/nodes/{node}/qemu/{vmid}/snapshot",
	}})
	root.refused("POST", vmSnapshots, "snapname=s1", 500, "lost")
	if len(c.Snapshots(100)) != 1 {
		t.Error("the snapshot was not taken")
	}
	addFault(t, c, pvesim.Fault{Kind: pvesim.FaultDaemon})
	root.refused("GET", vmSnapshots, "", 595, "Connection refused")
}

func TestAddSnapshotRefuses(t *testing.T) {
	t.Parallel()
	c, _ := snapshotHost(t)
	noError(t, c.AddSnapshot(100, pvesim.SnapshotSpec{Name: "s1"}))
	for _, bad := range []struct {
		vmid int
		spec pvesim.SnapshotSpec
	}{
		{999, pvesim.SnapshotSpec{Name: "s1"}}, {100, pvesim.SnapshotSpec{Name: "s1"}}, {100, pvesim.SnapshotSpec{Name: "1x"}}, {100,
			pvesim.SnapshotSpec{}},
		{100, pvesim.SnapshotSpec{Name: "current"}}, {100, pvesim.SnapshotSpec{Name: "s2", Parent: "none"}}, {101,
			pvesim.SnapshotSpec{Name: "s2", Memory: true}},
	} {
		if err := c.AddSnapshot(bad.vmid, bad.spec); err == nil {
			t.Errorf("%+v was taken", bad)
		}
	}
}
