package pve_test

import (
	"reflect"
	"testing"

	"github.com/hostler/hostler/plugins/pve/pvesim"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

func ptr[T any](v T) *T { return &v }

func TestConfigOfAVM(t *testing.T) {
	t.Parallel()
	w := newFixture(t, pvesim.Options{Scenario: pvesim.ScenarioOne, Guests: -1})
	ref := w.guest(t, pvesim.GuestSpec{
		VMID: 100, Name: "web", Tags: "b;a", Cores: 4, Memory: 2 << 30, Disk: 32 << 30, Status: pvesim.StatusRunning,
		Config: map[string]any{
			"description": "first\nsecond: ü\n", "protection": 1, "balloon": 0, "sockets": 2, "cpu": "host", "onboot": 1, "hostpci0": "0000:01:00",
			"smbios1": "uuid=4F6C1C1E-6B1C-4B6E-9D1E-0A5B8F1F2A3B,base64=1", "cipassword": "secret", "ide2": "none,media=cdrom",
			"hookscript": "local:snippets/hook.pl", "cicustom": "user=nas:snippets/u.yaml,network=local:snippets/n.yaml",
			"scsi1": "/dev/disk/by-id/x,size=10G", "scsi8": "/dev/mapper/mpatha,shared=1,size=20G",
			"scsi3": "nas:999/vm-999-disk-0.qcow2,size=4G", "scsi4": "lun:0.0.1.scsi-3600,size=1T",
			"unused0": "local-lvm:vm-100-disk-7", "scsi6": "local-lvm:vm-100-disk-9,backup=0,size=1G",
			"scsi7": "local-lvm:vm-100-disk-10,backup=1,size=1G", "ide0": "local-lvm:vm-100-cloudinit,media=cdrom,size=4M",
			"ide1": "local:iso/100/debian.iso,media=cdrom", "virtio0": "zfs:base-99-disk-0/vm-100-disk-5,size=2G",
			"sata0":    "linstor:pm-1f_7,size=1G",
			"efidisk0": "local-lvm:vm-100-disk-1,efitype=4m,size=4M",
			"net0":     "e1000=BC:24:11:00:00:01,bridge=vmbr0,firewall=1,tag=5,rate=1.5,mtu=1400,link_down=1,queues=4",
			"net1":     "model=virtio,macaddr=BC:24:11:00:00:02,bridge=vmbr0",
		},
	})
	must(t, "changing", w.ChangeGuest(100, func(s *pvesim.GuestSpec) {
		s.Pending = map[string]any{"cores": 8, "balloon": nil, "net1": "model=virtio,macaddr=BC:24:11:00:00:02,bridge=vmbr1",
			"scsi5": "local-lvm:vm-100-disk-8,size=1G"}
	}))
	got, err := w.host(t, endpoint.Monitoring).Config(t.Context(), ref)
	must(t, "reading", err)
	if got.Digest == "" {
		t.Error("there is no digest")
	}
	got.Digest, got.NICs[0].Raw = "", ""
	want := hypervisor.Config{
		Name: "web", Description: "first\nsecond: ü", Tags: []string{"a", "b"}, Protected: true, Mark: "4f6c1c1e-6b1c-4b6e-9d1e-0a5b8f1f2a3b",
		CPUType: "host", Cores: ptr(int64(4)), Sockets: ptr(int64(2)), MemoryMB: ptr(int64(2048)), BalloonMB: ptr(int64(0)),
		Disks: []hypervisor.Disk{
			{Key: "efidisk0", Storage: "local-lvm", Volume: "local-lvm:vm-100-disk-1", SizeGB: ptr(int64(1)), Owner: "100", LeftOut: true,
				LeftOutReason: "the VM does not use OVMF, and backups include an EFI disk only then; remove the EFI disk, which other firmware does " +
					"not use, or switch to OVMF"},
			{Key: "ide0", Storage: "local-lvm", Volume: "local-lvm:vm-100-cloudinit", SizeGB: ptr(int64(1)), Removable: true, Owner: "100",
				Raw: "local-lvm:vm-100-cloudinit,media=cdrom,size=4M"},
			{Key: "ide1", Storage: "local", Volume: "local:iso/100/debian.iso", Removable: true, Raw: "local:iso/100/debian.iso,media=cdrom"},
			{Key: "ide2", Removable: true, Raw: "none,media=cdrom"},
			{Key: "sata0", Storage: "linstor", Volume: "linstor:pm-1f_7", SizeGB: ptr(int64(1))},
			{Key: "scsi0", Storage: "local-lvm", Volume: "local-lvm:vm-100-disk-0", SizeGB: ptr(int64(32)), Owner: "100"},
			{Key: "scsi1", Local: true},
			{Key: "scsi3", Storage: "nas", Volume: "nas:999/vm-999-disk-0.qcow2", SizeGB: ptr(int64(4)), Owner: "999", Kept: true},
			{Key: "scsi4", Storage: "lun", Volume: "lun:0.0.1.scsi-3600", SizeGB: ptr(int64(1024)), Kept: true},
			{Key: "scsi5", Storage: "local-lvm", Volume: "local-lvm:vm-100-disk-8", SizeGB: ptr(int64(1)), Owner: "100", Pending: true},
			{Key: "scsi6", Storage: "local-lvm", Volume: "local-lvm:vm-100-disk-9", SizeGB: ptr(int64(1)), Owner: "100", LeftOut: true},
			{Key: "scsi7", Storage: "local-lvm", Volume: "local-lvm:vm-100-disk-10", SizeGB: ptr(int64(1)), Owner: "100"},
			{Key: "scsi8", Local: true, Shared: true},
			{Key: "unused0", Storage: "local-lvm", Volume: "local-lvm:vm-100-disk-7", Owner: "100", Unused: true, LeftOut: true},
			{Key: "virtio0", Storage: "zfs", Volume: "zfs:base-99-disk-0/vm-100-disk-5", SizeGB: ptr(int64(2)), Owner: "100"},
		},
		NICs: []hypervisor.NIC{
			{Key: "net0", Model: "e1000", MAC: "BC:24:11:00:00:01", Bridge: "vmbr0", Firewall: true, VLAN: ptr(int64(5)), Rate: ptr(1.5),
				MTU: ptr(int64(1400)), LinkDown: true},
			{Key: "net1", Model: "virtio", MAC: "BC:24:11:00:00:02", Bridge: "vmbr0", Pending: true,
				Raw: "model=virtio,macaddr=BC:24:11:00:00:02,bridge=vmbr1"},
		},
		Files: []hypervisor.File{
			{Key: "cicustom.network", Storage: "local", Volume: "local:snippets/n.yaml"},
			{Key: "cicustom.user", Storage: "nas", Volume: "nas:snippets/u.yaml"},
			{Key: "hookscript", Storage: "local", Volume: "local:snippets/hook.pl"},
		},
		Options: map[string]string{"protection": "1", "onboot": "1", "boot": "order=scsi0;net0"},
		Pending: map[string]*string{"cores": ptr("8"), "balloon": nil, "net1": ptr("model=virtio,macaddr=BC:24:11:00:00:02,bridge=vmbr1"),
			"scsi5": ptr("local-lvm:vm-100-disk-8,size=1G")},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestConfigOfAContainer(t *testing.T) {
	t.Parallel()
	w := newFixture(t, pvesim.Options{Scenario: pvesim.ScenarioOne, Guests: -1})
	ref := w.guest(t, pvesim.GuestSpec{VMID: 101, Type: pvesim.LXC, Name: "wiki", Swap: 512 << 20, Config: map[string]any{
		"mp0": "local-lvm:vm-101-disk-1,mp=/data,size=1536M", "unused0": "zfs:subvol-101-disk-2",
		"mp2":  "local-lvm:vm-101-disk-3,mp=/kept,backup=1,size=2G",
		"mp1":  "/srv/share,mp=/share",
		"mp3":  "/mnt/pve/media,mp=/media,shared=1",
		"net0": "name=eth0,bridge=vmbr0,hwaddr=BC:24:11:00:00:03,ip=10.0.0.5/24,gw=10.0.0.1,ip6=auto,type=veth", "features": nil,
	}})
	got, err := w.host(t, endpoint.Monitoring).Config(t.Context(), ref)
	must(t, "reading", err)
	disks := []hypervisor.Disk{
		{Key: "mp0", Storage: "local-lvm", Volume: "local-lvm:vm-101-disk-1", SizeGB: ptr(int64(2)), Path: "/data", Owner: "101", LeftOut: true},
		{Key: "mp1", Local: true, Path: "/share", LeftOut: true},
		{Key: "mp2", Storage: "local-lvm", Volume: "local-lvm:vm-101-disk-3", SizeGB: ptr(int64(2)), Path: "/kept", Owner: "101"},
		{Key: "mp3", Local: true, Shared: true, Path: "/media", LeftOut: true},
		{Key: "rootfs", Storage: "local-lvm", Volume: "local-lvm:vm-101-disk-0", SizeGB: ptr(int64(8)), Path: "/", Owner: "101"},
		{Key: "unused0", Storage: "zfs", Volume: "zfs:subvol-101-disk-2", Owner: "101", Unused: true, LeftOut: true},
	}
	nics := []hypervisor.NIC{{Key: "net0", Name: "eth0", MAC: "BC:24:11:00:00:03", Bridge: "vmbr0", IP: "10.0.0.5/24", Gateway: "10.0.0.1",
		IP6: "auto", Raw: "name=eth0,bridge=vmbr0,hwaddr=BC:24:11:00:00:03,ip=10.0.0.5/24,gw=10.0.0.1,ip6=auto,type=veth"}}
	if !reflect.DeepEqual(got.Disks, disks) || !reflect.DeepEqual(got.NICs, nics) || got.Name != "wiki" || *got.SwapMB != 512 ||
		got.OSType != "debian" || len(got.Pending) != 0 || len(got.Options) != 0 {
		t.Errorf("got %+v", got)
	}
}

func TestConfigOfNobody(t *testing.T) {
	t.Parallel()
	w := newFixture(t, pvesim.Options{Scenario: pvesim.ScenarioOne, Guests: 2})
	for id, kind := range map[hypervisor.GuestID]plugin.ErrorKind{"999": plugin.NotFound, "../100": plugin.NotFound} {
		_, err := w.host(t, endpoint.Monitoring).Config(t.Context(), hypervisor.GuestRef{Kind: hypervisor.VM, Node: "pve1", ID: id})
		wantKind(t, err, kind)
	}
	_, err := w.open(t, w.target(endpoint.Monitoring, w.token("/", true, "Sys.Audit"))).Config(t.Context(),
		hypervisor.GuestRef{Kind: hypervisor.VM, Node: "pve1", ID: "100"})
	if e := wantKind(t, err, plugin.Denied); len(e.Missing) != 1 || e.Missing[0] != "VM.Audit" {
		t.Errorf("%+v", e)
	}
}
