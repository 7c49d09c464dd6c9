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
	c.AddStorage(pvesim.StorageSpec{ID: "small", Content: "images", Size: 1 << 30})
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
		"unable to create VM 301 - unable to create image: No space left on device")
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
