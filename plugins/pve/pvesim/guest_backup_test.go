package pvesim_test

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/plugins/pve/pvesim"
	"github.com/hostler/hostler/plugins/pve/pvesim/pvesimtest"
)

// While a backup runs, the guest is locked, and only what may stand beside it is let through.
func TestBackupLocksTheGuest(t *testing.T) {
	t.Parallel()
	c := newHost(t)
	root := as(t, c, c.AdminToken())
	for kind, vmid := range map[string]int{pvesim.QEMU: 300, pvesim.LXC: 301} {
		addGuest(t, c, pvesim.GuestSpec{VMID: vmid, Type: kind, Status: pvesim.StatusRunning})
		upid := root.post("/nodes/pve1/vzdump", fmt.Sprintf("vmid=%d&storage=local&mode=snapshot", vmid))
		if g, _ := c.Guest(vmid); g.Lock != "backup" || root.taskEnd(upid) != "running" {
			t.Errorf("the guest is %+v, the task %s", g, root.taskEnd(upid))
		}
		second := root.post("/nodes/pve1/vzdump", fmt.Sprintf("vmid=%d&storage=local", vmid))
		if lines := root.logLines(second); root.taskEnd(second) != "job errors" || !slices.ContainsFunc(lines, func(l string) bool {
			return strings.HasPrefix(l, "ERROR: Backup of VM ") && strings.HasSuffix(l, "is locked (backup)")
		}) {
			t.Errorf("a second one ended %q: %q", root.taskEnd(second), lines)
		}
		if kind == pvesim.QEMU {
			// How much is done comes with the time.
			c.Advance(30 * time.Minute)
			lines := strings.Join(root.logLines(upid), "\n")
			if !strings.Contains(lines, "INFO:  50% ") || strings.Contains(lines, "INFO:  75% ") {
				t.Errorf("after half of it: %s", lines)
			}
		}
		root.decode("DELETE", "/nodes/pve1/tasks/"+url.PathEscape(upid), "", nil)
		if g, _ := c.Guest(vmid); g.Lock != "" || root.taskEnd(upid) != "job errors" || len(c.Backups("local")) != 0 {
			t.Errorf("after a stop the guest is %+v, the backups %v", g, c.Backups("local"))
		}
	}
}

func TestBackupTakesRoom(t *testing.T) {
	t.Parallel()
	c, root := provisionHost(t)
	c.AddStorage(pvesim.StorageSpec{ID: "dump", Content: "backup", Size: 20 << 30, Used: 1 << 30})
	addGuest(t, c, pvesim.GuestSpec{VMID: 300, Disk: 40 << 30})
	used := func() int64 {
		var rows []struct{ Used int64 }
		root.get("/nodes/pve1/storage?storage=dump", &rows)
		return rows[0].Used
	}
	before := used()
	root.task("POST", "/nodes/pve1/vzdump", "vmid=300&storage=dump&protected=1", "OK")
	if grown := used() - before; grown < 9<<30 || grown > 11<<30 {
		t.Errorf("the storage has %d bytes more", grown)
	}
	root.task("POST", "/nodes/pve1/vzdump", "vmid=300&storage=dump", "job errors")
	ids := c.Backups("dump")
	if len(ids) != 1 {
		t.Fatalf("backups are %v", ids)
	}
	path := "/nodes/pve1/storage/dump/content/" + url.PathEscape(ids[0])
	root.task("DELETE", path, "", "cannot remove protected volume '"+strings.TrimPrefix(ids[0], "dump:")+"' on 'dump'")
	root.decode("PUT", path, "protected=0&notes=kept", nil)
	var volume struct {
		Notes     string
		Protected int
	}
	root.get(path, &volume)
	if volume.Notes != "kept" || volume.Protected != 0 {
		t.Errorf("the volume is %+v", volume)
	}
	root.decode("DELETE", path+"?delay=5", "", nil)
	if left := used() - before; left > 1<<30 || len(c.Backups("dump")) != 0 {
		t.Errorf("%d bytes are still taken", left)
	}
	root.refused("GET", path, "", 500, "volume_size_info on '"+ids[0]+"' failed")
}

// A storage can be filled, switched off and taken away while the simulator runs.
func TestStoragesThatFail(t *testing.T) {
	t.Parallel()
	c, root := provisionHost(t)
	h := c.ControlHandler()
	c.AddStorage(pvesim.StorageSpec{ID: "dump", Content: "backup", Size: 100 << 30, Used: 1 << 30})
	addGuest(t, c, pvesim.GuestSpec{VMID: 300})
	const backup, list = "vmid=300&storage=dump", "/nodes/pve1/storage/dump/content"
	for _, step := range []struct{ change, end, refusal string }{
		{`"used":107374182400`, "job errors", ""},
		{`"used":1073741824`, "OK", ""},
		{`"away":true`, "could not activate storage 'dump': storage 'dump' is not online", "storage 'dump' is not online"},
		{`"away":false,"disabled":true`, "could not activate storage 'dump': storage 'dump' is disabled", "storage 'dump' is disabled"},
		{`"disabled":false`, "OK", ""},
	} {
		control(t, h, "POST", "/storage", `{"id":"dump",`+step.change+`}`, 200)
		root.task("POST", "/nodes/pve1/vzdump", backup, step.end)
		if step.refusal != "" {
			root.refused("GET", list, "", 500, step.refusal)
		}
	}
	var rows []row
	if root.get(list, &rows); len(rows) != 2 {
		t.Errorf("the backups are %v", rows)
	}
	for _, body := range []string{`{"id":"none"}`, `{"id":"dump","used":-1}`, `{"id":"dump","used":1e18}`, `{"id":"dump","full":true}`} {
		control(t, h, "POST", "/storage", body, 400)
	}
}

func TestBackupRefusals(t *testing.T) {
	t.Parallel()
	c := pvesimtest.Start(t, pvesim.Options{Nodes: 2, Guests: -1, TaskDuration: -1})
	root := as(t, c, c.AdminToken())
	addGuest(t, c, pvesim.GuestSpec{VMID: 300, Node: "pve2"})
	for form, want := range map[string]string{
		"vmid=300&storage=nas&notes-template=" + url.QueryEscape("{{nobody}}"): "400 Parameter verification failed.",
		"vmid=300&storage=nas&notes-template=" + url.QueryEscape(`a\tb`):       "400 Parameter verification failed.",
		"vmid=300&storage=nas&notes-template=" + url.QueryEscape("a\nb"):       "400 Parameter verification failed.",
		"vmid=300&storage=nas&script=/bin/true":                                "400 Parameter verification failed.",
		"vmid=300&notes-template=a":                                            "400 Parameter verification failed.",
		"storage=nas":                                                          "400 Parameter verification failed.",
		"vmid=300,301&storage=nas":                                             "500 a backup of several guests is not simulated",
	} {
		a := root.raw("POST", "/nodes/pve2/vzdump", form)
		if got := fmt.Sprintf("%d %s", a.status, a.reason); got != want {
			t.Errorf("%s: %s, want %s", form, got, want)
		}
	}
	// What is on another node is passed over.
	if got := root.post("/nodes/pve1/vzdump", "vmid=300&storage=nas"); got != "OK" || len(c.Backups("nas")) != 0 {
		t.Errorf("%q, backups %v", got, c.Backups("nas"))
	}
	template := url.QueryEscape(`{{guestname}} {{vmid}}\n{{node}}\\`)
	// What is on a storage of a node, other nodes do not see.
	root.task("POST", "/nodes/pve2/vzdump", "vmid=300&storage=local", "OK")
	for node, count := range map[string]int{"pve1": 0, "pve2": 1} {
		var rows []row
		if root.get("/nodes/"+node+"/storage/local/content?content=backup", &rows); len(rows) != count {
			t.Errorf("%s sees %v", node, rows)
		}
	}
	root.task("POST", "/nodes/pve2/vzdump", "vmid=300&storage=nas&notes-template="+template, "OK")
	var volume struct{ Notes string }
	root.get("/nodes/pve1/storage/nas/content/"+url.PathEscape(c.Backups("nas")[0]), &volume)
	if volume.Notes != "vm300 300\npve2\\" {
		t.Errorf("the notes are %q", volume.Notes)
	}
}

// Who lacks VM.Backup on a guest neither sees nor reads, protects or deletes its backups, but everybody restores those of the own guest.
func TestPrivilegesOnBackups(t *testing.T) {
	t.Parallel()
	c := newHost(t)
	addGuest(t, c, pvesim.GuestSpec{VMID: 300})
	addGuest(t, c, pvesim.GuestSpec{VMID: 301})
	ids := map[int]string{}
	for _, vmid := range []int{300, 301} {
		id, err := c.AddBackup(pvesim.BackupSpec{VMID: vmid})
		noError(t, err)
		ids[vmid] = id
	}
	c.AddUser("ops@pve", "")
	c.SetRole("Storage", "Datastore.Audit", "Datastore.AllocateSpace")
	c.SetRole("Backup", "VM.Backup")
	c.Grant("/storage", "ops@pve", "Storage", true)
	c.Grant("/vms/300", "ops@pve", "Backup", true)
	ops := as(t, c, c.AddToken("ops@pve!own", false))
	var rows []row
	ops.get("/nodes/pve1/storage/local/content?content=backup", &rows)
	if len(rows) != 1 || rows[0]["volid"] != ids[300] {
		t.Errorf("the list is %v", rows)
	}
	path := func(vmid int) string { return "/nodes/pve1/storage/local/content/" + url.PathEscape(ids[vmid]) }
	const denied = "Permission check failed (/vms/301, VM.Backup)"
	ops.refused("GET", path(301), "", 403, denied)
	ops.refused("PUT", path(301), "protected=1", 403, denied)
	ops.refused("DELETE", path(301), "", 403, denied)
	ops.refused("POST", "/nodes/pve1/qemu", "vmid=300&force=1&archive="+url.QueryEscape(ids[301]), 403, denied)
	ops.refused("POST", "/nodes/pve1/qemu", "vmid=302&archive="+url.QueryEscape(ids[300]), 403, "Permission check failed")
	ops.decode("PUT", path(300), "protected=1", nil)
	root := as(t, c, c.AdminToken())
	root.refused("GET", "/nodes/pve1/storage/local/content/local:nothing", "", 500, "unable to parse directory volume name 'nothing'")
	root.refused("GET", "/nodes/pve1/storage/local/content/:a", "", 400, "Parameter verification failed.")
}

// A guest that is being restored is locked, and gone again when that was stopped; one that is set back stays as it was.
func TestStoppedRestores(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{pvesim.QEMU, pvesim.LXC} {
		c := newHost(t)
		root := as(t, c, c.AdminToken())
		addGuest(t, c, pvesim.GuestSpec{VMID: 300, Type: kind, Name: "before"})
		id, err := c.AddBackup(pvesim.BackupSpec{VMID: 300})
		noError(t, err)
		noError(t, c.ChangeGuest(300, func(s *pvesim.GuestSpec) { s.Name = "after" }))
		what := map[string]string{pvesim.QEMU: "archive=", pvesim.LXC: "storage=local-lvm&restore=1&ostemplate="}[kind] + url.QueryEscape(id)
		used := func() float64 {
			var rows []row
			root.get("/nodes/pve1/storage?storage=local-lvm", &rows)
			return rows[0]["used"].(float64)
		}
		before := used()
		for _, vmid := range []int{300, 400} {
			upid := root.post("/nodes/pve1/"+kind, fmt.Sprintf("vmid=%d&force=1&%s", vmid, what))
			if g, there := c.Guest(vmid); !there || g.Lock != "create" {
				t.Errorf("%s %d is %+v", kind, vmid, g)
			}
			root.decode("DELETE", "/nodes/pve1/tasks/"+url.PathEscape(upid), "", nil)
			if end := root.taskEnd(upid); end != "received interrupt" {
				t.Errorf("it ended %q", end)
			}
		}
		if g, _ := c.Guest(300); g.Name != "after" || g.Lock != "" {
			t.Errorf("the guest is %+v", g)
		}
		if _, there := c.Guest(400); there || used() > before+1<<28 {
			t.Errorf("something is left: %v", used()-before)
		}
		upid := root.post("/nodes/pve1/"+kind, "vmid=300&force=1&start=1&"+what)
		c.Advance(2 * time.Hour)
		if g, _ := c.Guest(300); g.Name != "before" || root.taskEnd(upid) != "OK" {
			t.Errorf("the guest is %+v, the task ended %q", g, root.taskEnd(upid))
		}
		c.Advance(2 * time.Hour)
		if g, _ := c.Guest(300); g.Status != pvesim.StatusRunning {
			t.Errorf("the guest is %+v", g)
		}
	}
}

func TestContainersAreMade(t *testing.T) {
	t.Parallel()
	c, root := provisionHost(t)
	c.AddImage("local", "vztmpl", "debian-13.tar.zst", 1<<27)
	form := "ostemplate=local:vztmpl/debian-13.tar.zst&hostname=web&rootfs=local-lvm:6&memory=1024&cores=2&unprivileged=1" +
		"&net0=name=eth0,bridge=vmbr0,ip=dhcp"
	root.task("POST", "/nodes/pve1/lxc", "vmid=300&"+form, "OK")
	var config row
	root.get("/nodes/pve1/lxc/300/config", &config)
	if config["hostname"] != "web" || config["rootfs"] != "local-lvm:vm-300-disk-0,size=6G" || config["unprivileged"] != 1.0 ||
		config["lock"] != nil || config["memory"] != 1024.0 || !strings.Contains(fmt.Sprint(config["net0"]), "bridge=vmbr0") {
		t.Errorf("the configuration is %v", config)
	}
	root.refused("POST", "/nodes/pve1/lxc", "vmid=300&"+form, 500, "CT 300 already exists on node 'pve1'")
	root.task("POST", "/nodes/pve1/lxc", "vmid=301&ostemplate=local:vztmpl/none.tar.gz&rootfs=local-lvm:1",
		"unable to create CT 301 - volume 'local:vztmpl/none.tar.gz' does not exist")
	if _, made := c.Guest(301); made {
		t.Error("a container was made of nothing")
	}
}
