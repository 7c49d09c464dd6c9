package pvesim_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/plugins/pve/pvesim"
)

// waiting are the keys that wait for a restart, "-key" for one that will be removed.
func waiting(a caller, guest string) string {
	a.t.Helper()
	var rows []row
	a.get(guest+"/pending", &rows)
	keys := map[string]bool{}
	for _, r := range rows {
		if r["pending"] != nil {
			keys[r["key"].(string)] = true
		} else if r["delete"] != nil {
			keys["-"+r["key"].(string)] = true
		}
	}
	return strings.Join(slices.Sorted(maps.Keys(keys)), " ")
}

// What a running guest cannot take waits for its next start; what is taken back does not.
func TestChangesWaitForARestart(t *testing.T) {
	t.Parallel()
	c, root := provisionHost(t)
	vm, ct := "/nodes/pve1/qemu/100", "/nodes/pve1/lxc/101"
	addGuest(t, c, pvesim.GuestSpec{VMID: 100, Name: "a", Status: pvesim.StatusRunning, Config: map[string]any{"acpi": 1}})
	addGuest(t, c, pvesim.GuestSpec{VMID: 101, Name: "a", Type: pvesim.LXC, Status: pvesim.StatusRunning})
	for _, step := range []struct{ guest, form, waiting string }{
		{vm, "name=b&description=x&onboot=1&balloon=64", ""},
		{vm, "net0=virtio=BC:24:11:00:00:01,bridge=vmbr0", ""},
		{vm, "memory=1024&cores=2&sockets=2&delete=acpi", "-acpi cores memory sockets"},
		{vm, "memory=512", "-acpi cores sockets"}, // as it is
		{vm, "revert=sockets,acpi", "cores"},
		{vm, "hotplug=disk", "cores hotplug"},
		{ct, "hostname=b&memory=1024&cores=2&net0=name=eth0,bridge=vmbr0", ""},
		{ct, "nameserver=10.0.0.1&features=nesting=0&delete=ostype", "-ostype features nameserver"},
	} {
		root.decode("PUT", step.guest+"/config", step.form, nil)
		if got := waiting(root, step.guest); got != step.waiting {
			t.Errorf("after %s %q waits, want %q", step.form, got, step.waiting)
		}
	}
	for _, vmid := range []int{100, 101} {
		noError(t, c.SetGuestStatus(vmid, pvesim.StatusStopped))
		noError(t, c.SetGuestStatus(vmid, pvesim.StatusRunning))
	}
	root.decode("PUT", vm+"/config", "net0=e1000=BC:24:11:00:00:01,bridge=vmbr0", nil)
	if got := waiting(root, vm); got != "net0" {
		t.Errorf("another card of a VM without hot-plug of networks: %q waits", got)
	}
	if got := waiting(root, ct); got != "" {
		t.Errorf("after a restart %q waits", got)
	}
	guest, _ := c.Guest(100)
	config := c.GuestConfig(101)
	if guest.Cores != 2 || guest.Name != "b" || config["nameserver"] != "10.0.0.1" || config["ostype"] != nil {
		t.Errorf("after a restart %+v and %v", guest, config)
	}
}

// A configuration that is taken into a snapshot is not changed with the guest.
func TestSnapshotsKeepTheirConfiguration(t *testing.T) {
	t.Parallel()
	c, root := provisionHost(t)
	addGuest(t, c, pvesim.GuestSpec{VMID: 100, Config: map[string]any{"balloon": 1}, Pending: map[string]any{"acpi": 1}})
	noError(t, c.AddSnapshot(100, pvesim.SnapshotSpec{Name: "before"}))
	root.decode("PUT", "/nodes/pve1/qemu/100/config", "balloon=2&tablet=0", nil)
	var config row
	root.get("/nodes/pve1/qemu/100/snapshot/before/config", &config)
	if config["balloon"] != 1.0 || config["tablet"] != nil {
		t.Errorf("the snapshot has %v", config)
	}
	if now := c.GuestConfig(100); now["acpi"] == nil || now["tablet"] == nil {
		t.Errorf("the guest has %v", now)
	}
}

func TestDisksOfAConfiguration(t *testing.T) {
	t.Parallel()
	c, root := provisionHost(t)
	addGuest(t, c, pvesim.GuestSpec{VMID: 100})
	const vm = "/nodes/pve1/qemu/100"
	root.decode("PUT", vm+"/config", "scsi1=local-lvm:3,discard=on", nil)
	root.task("PUT", vm+"/resize", "disk=scsi1&size=%2B512M", "OK")
	root.task("PUT", vm+"/resize", "disk=scsi0&size=9G", "OK")
	root.task("PUT", vm+"/resize", "disk=scsi0&size=9G", "OK") // as it is
	root.task("PUT", vm+"/resize", "disk=scsi0&size=8G", "shrinking disks is not supported")
	root.task("PUT", vm+"/resize", "disk=scsi7&size=8G", "disk 'scsi7' does not exist")
	if config := c.GuestConfig(100); config["scsi1"] != "local-lvm:vm-100-disk-1,discard=on,size=3584M" ||
		config["scsi0"] != "local-lvm:vm-100-disk-0,size=9G" {
		t.Errorf("the configuration is %v", config)
	}
	root.decode("PUT", vm+"/config", "delete=scsi1", nil)
	if config := c.GuestConfig(100); config["scsi1"] != nil || config["unused0"] != "local-lvm:vm-100-disk-1" {
		t.Errorf("the configuration is %v", config)
	}
	root.refused("PUT", vm+"/config", "scsi1=none:3", 500, "storage 'none' does not exist")
	root.refused("PUT", vm+"/config", "balloon=4096", 500, "balloon value too large (must be smaller than assigned memory)")
	upid := root.post(vm+"/config", "memory=2048")
	if !strings.Contains(upid, ":qmconfig:100:") {
		t.Errorf("the task is %s", upid)
	}
	c.Advance(time.Minute)
	if config := c.GuestConfig(100); config["memory"] != "2048" {
		t.Errorf("the configuration is %v", config)
	}
}
