package pvesim_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/plugins/pve/pvesim"
	"github.com/hostler/hostler/plugins/pve/pvesim/pvesimtest"
)

// created is what a client sends for a whole VM.
const created = "name=web&memory=1024&cores=2&scsihw=virtio-scsi-single&scsi0=local-lvm:16,discard=on" +
	"&net0=virtio,bridge=vmbr0,firewall=1&ide2=local:iso/debian-13.1.0-amd64-netinst.iso,media=cdrom" +
	"&ostype=l26&smbios1=uuid=4f6c1c1e-6b1c-4b6e-9d1e-0a5b8f1f2a3b"

func provisionHost(t testing.TB) (*pvesim.Cluster, caller) {
	t.Helper()
	c := pvesimtest.Start(t, pvesim.Options{Scenario: pvesim.ScenarioOne, Guests: -1, TaskDuration: -1})
	return c, as(t, c, c.AdminToken())
}

func TestLifeOfAVM(t *testing.T) {
	t.Parallel()
	_, root := provisionHost(t)
	var before, after []struct {
		Storage string
		Avail   int64
	}
	root.get("/nodes/pve1/storage?storage=local-lvm", &before)
	root.task("POST", "/nodes/pve1/qemu", "vmid=300&"+created, "OK")
	var config map[string]any
	root.get("/nodes/pve1/qemu/300/config", &config)
	if config["name"] != "web" || config["cores"] != 2.0 || config["lock"] != nil ||
		config["scsi0"] != "local-lvm:vm-300-disk-0,discard=on,size=16G" || config["smbios1"] != "uuid=4f6c1c1e-6b1c-4b6e-9d1e-0a5b8f1f2a3b" ||
		!strings.HasPrefix(fmt.Sprint(config["net0"]), "virtio=BC:24:11:") || !strings.HasSuffix(fmt.Sprint(config["net0"]), ",firewall=1") {
		t.Errorf("the configuration is %v", config)
	}
	root.get("/nodes/pve1/storage?storage=local-lvm", &after)
	if len(before) != 1 || len(after) != 1 || before[0].Avail-after[0].Avail < 15<<30 {
		t.Errorf("the storage had %v, and has %v", before, after)
	}
	root.task("POST", "/nodes/pve1/qemu/300/clone", "newid=301&name=copy&full=1", "OK")
	root.get("/nodes/pve1/qemu/301/config", &config)
	if config["name"] != "copy" || config["scsi0"] == "local-lvm:vm-300-disk-0,discard=on,size=16G" {
		t.Errorf("the copy is %v", config)
	}
	root.task("DELETE", "/nodes/pve1/qemu/300", "", "OK")
	root.task("DELETE", "/nodes/pve1/qemu/301", "purge=1", "OK")
	root.get("/nodes/pve1/storage?storage=local-lvm", &after)
	if lost := before[0].Avail - after[0].Avail; lost > 1<<30 {
		t.Errorf("%d bytes are still taken", lost)
	}
}

// A copy has what the guest has, with disks and addresses of its own, and what is asked for besides.
func TestCloneKeepsTheConfiguration(t *testing.T) {
	t.Parallel()
	c, root := provisionHost(t)
	c.AddStorage(pvesim.StorageSpec{ID: "other", Content: "images", Size: 1 << 40})
	root.task("POST", "/nodes/pve1/qemu", "vmid=300&name=web&memory=1024&description=first&agent=1&scsi0=local-lvm:4,discard%3Don"+
		"&virtio1=local-lvm:2&net0=virtio,bridge%3Dvmbr0,tag%3D20&net3=e1000,bridge%3Dvmbr0", "OK")
	root.task("POST", "/nodes/pve1/qemu/300/snapshot", "snapname=early", "OK")
	root.decode("PUT", "/nodes/pve1/qemu/300/config", "memory=2048&delete=net3", nil)
	read := func(id int) (config map[string]any) {
		t.Helper()
		root.get(fmt.Sprintf("/nodes/pve1/qemu/%d/config", id), &config)
		for _, key := range []string{"digest", "meta", "smbios1", "vmgenid", "parent"} {
			delete(config, key)
		}
		return config
	}
	was := read(300)
	for _, copied := range []struct {
		id                 int
		form, disk, second string
		says               any // the description, which a snapshot has of its own
		memory             string
		cards              int
	}{
		{301, "", "local-lvm:vm-301-disk-0,discard=on,size=4G", "local-lvm:vm-301-disk-1,size=2G", "first\n", "2048", 1},
		{302, "&storage=other&description=mine", "other:302/vm-302-disk-0.qcow2,discard=on,size=4G",
			"other:302/vm-302-disk-1.qcow2,size=2G", "mine\n", "2048", 1},
		{303, "&snapname=early", "local-lvm:vm-303-disk-0,discard=on,size=4G", "local-lvm:vm-303-disk-1,size=2G", nil, "1024", 2},
	} {
		root.task("POST", "/nodes/pve1/qemu/300/clone", fmt.Sprintf("newid=%d&name=copy&full=1%s", copied.id, copied.form), "OK")
		is, cards := read(copied.id), 0
		for key, tail := range map[string]string{"net0": ",bridge=vmbr0,tag=20", "net3": ",bridge=vmbr0"} {
			card, there := is[key].(string)
			if !there {
				continue
			}
			if cards++; card == was[key] || !strings.HasSuffix(card, tail) {
				t.Errorf("%d: %s is %q", copied.id, key, card)
			}
		}
		if is["scsi0"] != copied.disk || is["virtio1"] != copied.second || is["description"] != copied.says || is["name"] != "copy" ||
			is["memory"] != copied.memory || is["agent"] != "1" || is["lock"] != nil || cards != copied.cards {
			t.Errorf("%d of %v is %v", copied.id, was, is)
		}
		root.task("DELETE", fmt.Sprintf("/nodes/pve1/qemu/%d", copied.id), "", "OK")
	}
	if is := read(300); fmt.Sprint(is) != fmt.Sprint(was) {
		t.Errorf("the guest was %v and is %v", was, is)
	}
	root.task("POST", "/nodes/pve1/qemu/300/status/start", "", "OK") // its disks are still there
}

// Without a quorum nothing is made, started, copied or moved, and nothing is told of where it could go.
func TestWithoutAQuorum(t *testing.T) {
	t.Parallel()
	c := pvesimtest.Start(t, pvesim.Options{Scenario: pvesim.ScenarioCluster, Nodes: 2, Guests: -1, TaskDuration: -1})
	root := as(t, c, c.AdminToken())
	addGuest(t, c, pvesim.GuestSpec{VMID: 100})
	addGuest(t, c, pvesim.GuestSpec{VMID: 101, Type: pvesim.LXC})
	addGuest(t, c, pvesim.GuestSpec{VMID: 102, Status: pvesim.StatusRunning})
	noError(t, c.SetNodeOnline("pve2", false))
	for _, refused := range []struct{ method, path, form string }{
		{"POST", "/nodes/pve1/qemu", "vmid=300"},
		{"POST", "/nodes/pve1/lxc", "vmid=300&ostemplate=local:vztmpl/a.tar.zst"},
		{"POST", "/nodes/pve1/qemu/100/status/start", ""},
		{"POST", "/nodes/pve1/lxc/101/status/start", ""},
		{"POST", "/nodes/pve1/qemu/100/clone", "newid=300"},
		{"POST", "/nodes/pve1/lxc/101/clone", "newid=300"},
		{"GET", "/nodes/pve1/qemu/100/migrate", ""},
		{"GET", "/nodes/pve1/lxc/101/migrate", ""},
	} {
		root.refused(refused.method, refused.path, refused.form, 500, "cluster not ready - no quorum?")
	}
	root.task("POST", "/nodes/pve1/qemu/102/status/stop", "", "OK")
	noError(t, c.SetNodeOnline("pve2", true))
	root.task("POST", "/nodes/pve1/qemu/100/status/start", "", "OK")
}

// Of several requests for one id one wins, and the others make nothing.
func TestOneOfManyGetsAnID(t *testing.T) {
	t.Parallel()
	c := pvesimtest.Start(t, pvesim.Options{Scenario: pvesim.ScenarioOne, Guests: -1, TaskDuration: time.Hour})
	root := as(t, c, c.AdminToken())
	first := root.post("/nodes/pve1/qemu", "vmid=300&memory=64")
	if a := root.raw("POST", "/nodes/pve1/qemu", "vmid=300&memory=64"); a.status != 500 ||
		a.reason != "unable to create VM 300 - VM 300 already exists on node 'pve1'" {
		t.Errorf("the second: %d %s", a.status, a.reason)
	}
	c.Advance(2 * time.Hour)
	if end := root.taskEnd(first); end != "OK" {
		t.Errorf("the first ended %q", end)
	}
}

func TestCreateRefusals(t *testing.T) {
	t.Parallel()
	c, root := provisionHost(t)
	c.AddStorage(pvesim.StorageSpec{ID: "small", Plugin: "lvm", Size: 1 << 30})
	addGuest(t, c, pvesim.GuestSpec{VMID: 400, Template: true})
	for form, want := range map[string]string{
		"vmid=300&scsi0=none:4": "500 storage 'none' does not exist",
		"vmid=400":              "500 unable to create VM 400 - VM 400 already exists on node 'pve1'",
		"vmid=99":               "400 Parameter verification failed.",
		"vmid=300&name=a_b":     "400 Parameter verification failed.",
		"vmid=300&ostype=dos":   "400 Parameter verification failed.",
		"vmid=300&net0=virtio,bridge=vmbr0,tag=5000": "400 Parameter verification failed.",
		"vmid=300&scsi0=local-lvm:4&nonsense=1":      "400 Parameter verification failed.",
		"vmid=300&memory=abc":                        "400 Parameter verification failed.",
	} {
		if a := root.raw("POST", "/nodes/pve1/qemu", form); fmt.Sprintf("%d %s", a.status, a.reason) != want {
			t.Errorf("%s: %d %s, want %s", form, a.status, a.reason, want)
		}
	}
	root.task("POST", "/nodes/pve1/qemu", "vmid=301&scsi0=small:4",
		`unable to create VM 301 - lvcreate 'small/small:vm-301-disk-0' error:   Volume group "pve" has insufficient free space`)
	if a := root.raw("GET", "/nodes/pve1/qemu/301/config", ""); a.status == 200 {
		t.Error("what had no room is there")
	}
	root.task("POST", "/nodes/pve1/qemu/400/clone", "newid=401", "OK")
	root.task("DELETE", "/nodes/pve1/qemu/400", "", "base volume 'local-lvm:vm-400-disk-0' is still in use by linked cloned")
	a := root.raw("POST", "/nodes/pve1/qemu/401/clone", "newid=402&full=0")
	if a.status != 500 || !strings.HasPrefix(a.reason, "Linked clone") {
		t.Errorf("a linked copy of what is no template: %d %s", a.status, a.reason)
	}
	if a := root.raw("POST", "/nodes/pve1/qemu/400/clone", "newid=402&full=0&storage=local-lvm"); a.status != 400 {
		t.Errorf("a linked copy elsewhere: %d %s", a.status, a.reason)
	}
}

// Each key of a new VM needs its own privilege, and the service's token lacks some of them.
func TestCreateNeedsPrivileges(t *testing.T) {
	t.Parallel()
	c, _ := provisionHost(t)
	service := as(t, c, c.Tokens()["lifecycle"])
	has := []string{"VM.Allocate", "Datastore.AllocateSpace", "VM.Config.Disk", "VM.Config.CPU", "VM.Config.Memory", "VM.Config.Network",
		"VM.Config.Options"}
	for _, lacking := range []string{"VM.Config.CDROM", "VM.Config.HWType", "SDN.Use", ""} {
		c.SetRole("ServiceLifecycle", has...)
		a := service.raw("POST", "/nodes/pve1/qemu", "vmid=300&"+created)
		if lacking == "" {
			if a.status != 200 {
				t.Errorf("with all: %d %s", a.status, a.reason)
			}
			break
		}
		if a.status != 403 || !strings.HasSuffix(a.reason, ", "+lacking+")") {
			t.Errorf("without %s: %d %s", lacking, a.status, a.reason)
		}
		has = append(has, lacking)
	}
}
