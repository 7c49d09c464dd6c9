package pvesim_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hostler/hostler/plugins/pve/pvesim"
)

// volumeHost has a VM 101 and a container 102 with disks that they do not use and disks of the VM 999, which names none of them.
func volumeHost(t *testing.T) (*pvesim.Cluster, caller) {
	t.Helper()
	c, root := provisionHost(t)
	c.AddStorage(pvesim.StorageSpec{ID: "nas", Content: "images,rootdir,backup", Size: 1 << 40})
	addGuest(t, c, pvesim.GuestSpec{VMID: 101, Config: map[string]any{
		"unused0": "nas:101/vm-101-disk-7.qcow2", "scsi1": "nas:101/vm-101-disk-1.qcow2,backup=0,size=4G",
		"scsi2": "nas:101/vm-101-disk-2.qcow2,size=4G", "scsi3": "nas:999/vm-999-disk-0.qcow2,size=4G",
	}})
	addGuest(t, c, pvesim.GuestSpec{VMID: 102, Type: pvesim.LXC, Config: map[string]any{
		"unused0": "nas:102/vm-102-disk-7.raw", "mp0": "nas:102/vm-102-disk-1.raw,mp=/srv/data,size=4G",
		"mp1": "nas:102/vm-102-disk-2.raw,mp=/srv/kept,backup=1,size=4G", "mp2": "nas:999/vm-999-disk-1.raw,mp=/srv/foreign,size=4G",
	}})
	addGuest(t, c, pvesim.GuestSpec{VMID: 999})
	return c, root
}

// disksOnNAS lists the disks on the storage nas, each with the guest whose it is.
func (a caller) disksOnNAS() (all []string) {
	a.t.Helper()
	var rows []struct {
		VolID   string
		VMID    int
		Content string
	}
	a.get("/nodes/pve1/storage/nas/content", &rows)
	for _, r := range rows {
		if r.Content != "backup" {
			all = append(all, fmt.Sprintf("%d %s", r.VMID, strings.TrimPrefix(r.VolID, "nas:")))
		}
	}
	slices.Sort(all)
	return all
}

func TestDestroyKeepsDisksOfOthers(t *testing.T) {
	t.Parallel()
	_, root := volumeHost(t)
	root.task("DELETE", "/nodes/pve1/qemu/101", "", "OK")
	upid := root.task("DELETE", "/nodes/pve1/lxc/102", "", "OK")
	if lines := root.logLines(upid); !slices.Contains(lines, "ignore deletion of 'nas:999/vm-999-disk-1.raw', CT 102 isn't the owner!") {
		t.Errorf("the log is %q", lines)
	}
	if left := root.disksOnNAS(); !slices.Equal(left, []string{"999 999/vm-999-disk-0.qcow2", "999 999/vm-999-disk-1.raw"}) {
		t.Errorf("%q are left", left)
	}
}

// The disks of a request get one number after the other on each storage.
func TestNewDisksAreNumbered(t *testing.T) {
	t.Parallel()
	c, root := provisionHost(t)
	c.AddStorage(pvesim.StorageSpec{ID: "nas", Content: "images,rootdir,backup", Size: 1 << 40})
	created := func(kind, vmid, params string, want map[string]string) {
		t.Helper()
		if params != "" {
			root.task("POST", "/nodes/pve1/"+kind, "vmid="+vmid+"&"+params, "OK")
		}
		var config map[string]any
		root.get("/nodes/pve1/"+kind+"/"+vmid+"/config", &config)
		for key, volume := range want {
			if got, _, _ := strings.Cut(fmt.Sprint(config[key]), ","); got != volume {
				t.Errorf("%s of %s is on %s, want %s", key, vmid, got, volume)
			}
		}
	}
	c.AddImage("local", "vztmpl", "debian-13.tar.zst", 1<<27)
	created("lxc", "300", "hostname=files&ostemplate=local:vztmpl/debian-13.tar.zst&rootfs=local-lvm:4&mp0=local-lvm:8,mp=/a"+
		"&mp1=local-lvm:8,mp=/b&mp2=nas:8,mp=/c",
		map[string]string{"rootfs": "local-lvm:vm-300-disk-0", "mp0": "local-lvm:vm-300-disk-1", "mp1": "local-lvm:vm-300-disk-2",
			"mp2": "nas:300/vm-300-disk-0.raw"})
	created("qemu", "301", "name=web&scsi0=local-lvm:4&scsi1=nas:4&virtio0=local-lvm:4", map[string]string{"scsi0": "local-lvm:vm-301-disk-0",
		"scsi1": "nas:301/vm-301-disk-0.raw", "virtio0": "local-lvm:vm-301-disk-1"})
	root.task("POST", "/nodes/pve1/qemu/301/config", "scsi2=nas:1,format=qcow2&scsi3=nas:1", "OK")
	created("qemu", "301", "", map[string]string{"scsi2": "nas:301/vm-301-disk-1.qcow2", "scsi3": "nas:301/vm-301-disk-2.raw"})
}

func TestBackupLeavesVolumesOut(t *testing.T) {
	t.Parallel()
	c, root := volumeHost(t)
	log := func(vmid int) []string {
		t.Helper()
		return root.logLines(root.task("POST", "/nodes/pve1/vzdump", fmt.Sprintf("vmid=%d&storage=nas&mode=stop", vmid), "OK"))
	}
	for vmid, want := range map[int][]string{
		101: {"INFO: include disk 'scsi0' 'local-lvm:vm-101-disk-0' 8G",
			"INFO: exclude disk 'scsi1' 'nas:101/vm-101-disk-1.qcow2' (backup=no)",
			"INFO: include disk 'scsi3' 'nas:999/vm-999-disk-0.qcow2' 4G"},
		102: {"INFO: including mount point rootfs ('/') in backup",
			"INFO: excluding volume mount point mp0 ('/srv/data') from backup (disabled)",
			"INFO: including mount point mp1 ('/srv/kept') in backup"},
	} {
		lines := log(vmid)
		for _, line := range want {
			if !slices.Contains(lines, line) {
				t.Errorf("%q is not in the log %q", line, lines)
			}
		}
	}
	if len(c.Backups("nas")) != 2 {
		t.Errorf("the backups are %v", c.Backups("nas"))
	}
}

// A VM keeps what its backup lacks as unused disks. A container loses all that it had, and gets empty volumes.
func TestRestoreOverVolumesThatTheBackupLacks(t *testing.T) {
	t.Parallel()
	c, root := volumeHost(t)
	restore := func(kind string, vmid int, archive string) map[string]any {
		t.Helper()
		root.task("POST", "/nodes/pve1/vzdump", fmt.Sprintf("vmid=%d&storage=nas&mode=stop", vmid), "OK")
		i := slices.IndexFunc(c.Backups("nas"), func(id string) bool { return strings.Contains(id, fmt.Sprint(vmid)) })
		root.task("POST", "/nodes/pve1/"+kind, fmt.Sprintf("vmid=%d&force=1&%s=%s", vmid, archive, c.Backups("nas")[i]), "OK")
		var config map[string]any
		root.get(fmt.Sprintf("/nodes/pve1/%s/%d/config", kind, vmid), &config)
		return config
	}
	vm := restore("qemu", 101, "archive")
	if vm["scsi1"] != nil || vm["unused0"] != "nas:101/vm-101-disk-1.qcow2" || vm["unused1"] != "nas:101/vm-101-disk-7.qcow2" ||
		!strings.HasPrefix(fmt.Sprint(vm["scsi3"]), "nas:101/vm-101-disk-") {
		t.Errorf("the VM has %v", vm)
	}
	ct := restore("lxc", 102, "storage=nas&restore=1&ostemplate")
	if ct["unused0"] != nil || !strings.HasPrefix(fmt.Sprint(ct["mp0"]), "nas:102/vm-102-disk-") {
		t.Errorf("the container has %v", ct)
	}
	left := root.disksOnNAS()
	for _, want := range []string{"101 101/vm-101-disk-1.qcow2", "101 101/vm-101-disk-7.qcow2", "999 999/vm-999-disk-0.qcow2",
		"999 999/vm-999-disk-1.raw"} {
		if !slices.Contains(left, want) {
			t.Errorf("%s is not among %q", want, left)
		}
	}
	for _, gone := range []string{"101 101/vm-101-disk-2.qcow2", "102 102/vm-102-disk-1.raw", "102 102/vm-102-disk-2.raw",
		"102 102/vm-102-disk-7.raw"} {
		if slices.Contains(left, gone) {
			t.Errorf("%s is among %q", gone, left)
		}
	}
}

func TestRestoreOfABindMountIsForRoot(t *testing.T) {
	t.Parallel()
	c, root := volumeHost(t)
	addGuest(t, c, pvesim.GuestSpec{VMID: 103, Type: pvesim.LXC, Config: map[string]any{"mp0": "/mnt/media,mp=/media"}})
	root.task("POST", "/nodes/pve1/vzdump", "vmid=103&storage=nas&mode=stop", "OK")
	root.task("POST", "/nodes/pve1/lxc", "vmid=103&force=1&storage=nas&restore=1&ostemplate="+c.Backups("nas")[0],
		"unable to restore CT 103 - restoring 'mp0' to bind mount is only possible for root")
}
