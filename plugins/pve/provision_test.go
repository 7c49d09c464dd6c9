package pve_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/plugins/pve"
	"github.com/hostler/hostler/plugins/pve/pvesim"
	"github.com/hostler/hostler/plugins/pve/pvesim/schema"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

const mark = "4f6c1c1e-6b1c-4b6e-9d1e-0a5b8f1f2a3b"

func newVMSpec(id hypervisor.GuestID) hypervisor.VMSpec {
	return hypervisor.VMSpec{ID: id, Node: "pve1", Name: "web", Cores: 2, MemoryMB: 1024, DiskGB: 8, Storage: "local-lvm", Bridge: "vmbr0",
		OSType: "l26", Mark: mark}
}

// provisionFixture is a host whose lifecycle token has what making VMs needs.
func provisionFixture(t *testing.T) *fixture {
	t.Helper()
	w := newFixture(t, pvesim.Options{Scenario: pvesim.ScenarioOne, Guests: -1, TaskDuration: -1})
	w.SetRole("ServiceLifecycle", append(pve.Privileges(endpoint.Lifecycle), "SDN.Use", "VM.Config.HWType", "VM.Config.CDROM")...)
	return w
}

// made makes a VM and gives its configuration as the hypervisor has it.
func (w *fixture) made(t *testing.T, spec hypervisor.VMSpec) map[string]any {
	t.Helper()
	host := w.host(t, endpoint.Lifecycle)
	id, err := host.CreateVM(t.Context(), spec)
	must(t, "creating", err)
	_, result, err := follow(t, host, id, 0)
	must(t, "waiting", err)
	if !result.OK() {
		t.Fatalf("the task ended %+v", result)
	}
	return w.GuestConfig(vmid(t, hypervisor.GuestRef{ID: spec.ID}))
}

func TestWhatAVMIsMadeOf(t *testing.T) {
	t.Parallel()
	w := provisionFixture(t)
	tag := int64(7)
	spec := newVMSpec("300")
	spec.VLAN, spec.Image = &tag, "local:iso/debian-13.1.0-amd64-netinst.iso"
	for key, want := range map[string]string{
		"name": "web", "virtio0": "local-lvm:vm-300-disk-0,discard=on,iothread=1,serial=4f6c1c1e6b1c4b6e9d1e,size=8G", "cores": "2",
		"ide2": "local:iso/debian-13.1.0-amd64-netinst.iso,media=cdrom", "boot": "order=virtio0;ide2;net0", "ostype": "l26",
		"scsihw": "<nil>", "bios": "<nil>", "scsi0": "<nil>",
	} {
		if got := fmt.Sprint(w.made300(t, spec)[key]); got != want {
			t.Errorf("%s is %q, want %q", key, got, want)
		}
	}
	nic := fmt.Sprint(w.made300(t, spec)["net0"])
	if !strings.HasPrefix(nic, "virtio=") || !strings.HasSuffix(nic, "bridge=vmbr0,firewall=1,tag=7") {
		t.Errorf("the NIC is %s", nic)
	}
	spec = newVMSpec("301")
	spec.OSType = "win11"
	config := w.made(t, spec)
	if config["bios"] != "ovmf" || config["machine"] != "q35" || !strings.Contains(fmt.Sprint(config["efidisk0"]), "pre-enrolled-keys=1") ||
		!strings.Contains(fmt.Sprint(config["tpmstate0"]), "version=v2.0") {
		t.Errorf("a VM for Windows 11 is %v", config)
	}
}

// Exactly the roles of the token script do, on releases whose bridges need no privilege and, without a NIC, on all others.
func TestCreateVM_WithTheDefaultRoles(t *testing.T) {
	t.Parallel()
	for version, bridge := range map[string]string{"7.4-16": "vmbr0", "9.2.11": ""} {
		w := newFixture(t, pvesim.Options{Scenario: pvesim.ScenarioOne, Guests: -1, TaskDuration: -1, Version: version})
		spec := newVMSpec("300")
		spec.Bridge = bridge
		must(t, version+": checking", w.host(t, endpoint.Lifecycle).CheckVM(t.Context(), spec))
		config := w.made(t, spec)
		if _, nic := config["net0"]; nic != (bridge != "") {
			t.Errorf("%s: %v", version, config)
		}
		read, err := w.host(t, endpoint.Monitoring).Config(t.Context(), hypervisor.GuestRef{Kind: hypervisor.VM, Node: spec.Node, ID: spec.ID})
		if err != nil || !read.HasMark(mark) || read.HasMark("4f6c1c1e-6b1c-4b6e-9d1f-0a5b8f1f2a3b") || read.HasMark("") {
			t.Errorf("%s: the mark is %q, %v", version, read.Mark, err)
		}
	}
}

// What is known to be missing is refused before there is a request, with the command that grants it.
func TestCreationChecks(t *testing.T) {
	t.Parallel()
	w := newFixture(t, pvesim.Options{Scenario: pvesim.ScenarioOne, Guests: -1, TaskDuration: -1})
	w.AddImage("local", "backup", "vzdump-qemu-400-2026_01_01-00_00_00.vma.zst", 1<<20)
	source := w.guest(t, pvesim.GuestSpec{VMID: 400})
	image, windows, foreign := newVMSpec("300"), newVMSpec("300"), newVMSpec("300")
	image.Image, windows.OSType = "local:iso/debian-13.1.0-amd64-netinst.iso", "win11"
	image.Bridge, windows.Bridge, foreign.Bridge = "", "", "vmbr0"
	lifecycle := w.host(t, endpoint.Lifecycle)
	backup := w.host(t, endpoint.Backup)
	restored := hypervisor.RestoreSpec{ID: "300", Node: "pve1", Storage: "local-lvm", Backup: hypervisor.Backup{
		Kind: hypervisor.VM, Guest: "400",
		ID: "local:backup/vzdump-qemu-400-2026_01_01-00_00_00.vma.zst", Storage: "local", Node: "pve1"}}
	for name, c := range map[string]struct {
		err           error
		role, missing string
		path          string
	}{
		"an image":  {lifecycle.CheckVM(t.Context(), image), "ServiceLifecycle", "VM.Config.CDROM", "/vms/300"},
		"a machine": {lifecycle.CheckVM(t.Context(), windows), "ServiceLifecycle", "VM.Config.HWType", "/vms/300"},
		"a bridge":  {lifecycle.CheckVM(t.Context(), foreign), "ServiceLifecycle", "SDN.Use", "/sdn/zones/localnetwork/vmbr0"},
		"a restore": {backup.CheckRestore(t.Context(), restored), "ServiceBackup", "VM.Allocate", "/vms/300"},
		"without roles": {w.open(t, w.target(endpoint.Lifecycle, w.token("/", true, "VM.Audit"))).CheckClone(t.Context(), source,
			hypervisor.CloneSpec{ID: "300", Full: true}), "ServiceLifecycle", "VM.Clone", "/vms/400"},
	} {
		e := wantKind(t, c.err, plugin.Denied)
		if e == nil || len(e.Missing) != 1 || e.Missing[0] != c.missing || e.Path != c.path || !strings.Contains(e.Remedy, c.role) {
			t.Errorf("%s: %+v", name, e)
		}
	}
	w.SetRole("ServiceLifecycle", append(pve.Privileges(endpoint.Lifecycle), "SDN.Use", "VM.Config.HWType", "VM.Config.CDROM")...)
	for name, err := range map[string]error{
		"an image": lifecycle.CheckVM(t.Context(), image), "a machine": lifecycle.CheckVM(t.Context(), windows),
		"a bridge": lifecycle.CheckVM(t.Context(), foreign),
		"a copy":   lifecycle.CheckClone(t.Context(), source, hypervisor.CloneSpec{ID: "300", Full: true}),
	} {
		must(t, name, err)
	}
}

// made300 makes VM 300 once.
func (w *fixture) made300(t *testing.T, spec hypervisor.VMSpec) map[string]any {
	t.Helper()
	if _, there := w.Guest(300); there {
		return w.GuestConfig(300)
	}
	return w.made(t, spec)
}

// An installation image may have any name that the hypervisor lists and a property can hold.
func TestImagesOfAnyName(t *testing.T) {
	t.Parallel()
	w := provisionFixture(t)
	reader := w.host(t, endpoint.Monitoring)
	find := func(image string) (bool, error) {
		p, err := reader.Placement(t.Context(), hypervisor.PlacementQuery{Kind: hypervisor.VM, Node: "pve1", Image: image})
		return p.ImageFound, err
	}
	for i, name := range []string{"Windows 11 [x64] (de).iso", "größe & mehr #1.iso", "it's 50%;+~.iso", "日本語.img"} {
		w.AddImage("local", "iso", name, 1<<20)
		spec := newVMSpec(hypervisor.GuestID(fmt.Sprint(310 + i)))
		spec.Image = "local:iso/" + name
		if found, err := find(spec.Image); err != nil || !found {
			t.Errorf("%s: found %v, %v", name, found, err)
		}
		if got := fmt.Sprint(w.made(t, spec)["ide2"]); got != spec.Image+",media=cdrom" {
			t.Errorf("%s: %s", name, got)
		}
	}
	for _, name := range []string{"a,b.iso", "a=b.iso"} {
		w.AddImage("local", "iso", name, 1<<20)
		_, err := find("local:iso/" + name)
		if e := wantKind(t, err, plugin.Invalid); e.Field != "image" || !strings.Contains(e.Message, "comma") {
			t.Errorf("%s: %+v", name, e)
		}
	}
	for _, none := range []string{"local:iso/../x.iso", "local:iso/a/b.iso", "local:iso/a\nb.iso", "local:iso/\xff.iso"} {
		if found, err := find(none); found || err != nil {
			t.Errorf("%q: found %v, %v", none, found, err)
		}
	}
}

// Nothing that is given may end a property and begin another.
func TestCreateTakesNoHostileText(t *testing.T) {
	t.Parallel()
	w := provisionFixture(t)
	host := w.host(t, endpoint.Lifecycle)
	for field, change := range map[string]func(*hypervisor.VMSpec){
		"id":      func(s *hypervisor.VMSpec) { s.ID = "../100" },
		"storage": func(s *hypervisor.VMSpec) { s.Storage = "local-lvm:1,import-from=/etc/shadow" },
		"bridge":  func(s *hypervisor.VMSpec) { s.Bridge = "vmbr0,firewall=0" },
		"image":   func(s *hypervisor.VMSpec) { s.Image = "local:iso/x.iso,file=/etc/passwd" },
		"mark":    func(s *hypervisor.VMSpec) { s.Mark = mark + ",base64=1" },
		"tag":     func(s *hypervisor.VMSpec) { n := int64(1 << 40); s.VLAN = &n },
		"os_type": func(s *hypervisor.VMSpec) { s.OSType = "dos" },
		"name":    func(s *hypervisor.VMSpec) { s.Name = "a\x00b" },
		"":        func(s *hypervisor.VMSpec) { s.DiskGB = -1 },
	} {
		spec := newVMSpec("300")
		change(&spec)
		_, err := host.CreateVM(t.Context(), spec)
		if e := wantKind(t, err, plugin.Invalid); e.Field != field {
			t.Errorf("%s: the error names %q: %v", field, e.Field, e)
		}
	}
	if len(w.Guests()) != 0 {
		t.Errorf("guests %v were made", w.Guests())
	}
}

// A VM whose disk is a file can be snapshotted: the file is in qcow2.
func TestVMOnFilesCanBeSnapshotted(t *testing.T) {
	t.Parallel()
	w := provisionFixture(t)
	w.AddStorage(pvesim.StorageSpec{ID: "folder", Content: "images", Size: 1 << 40})
	spec := newVMSpec("301")
	spec.Storage = "folder"
	w.made(t, spec)
	host := w.host(t, endpoint.Lifecycle)
	id, err := host.TakeSnapshot(t.Context(), hypervisor.GuestRef{Kind: hypervisor.VM, ID: "301", Node: spec.Node},
		hypervisor.SnapshotSpec{Name: "first"})
	if result := ended(t, host, id, err); !result.OK() {
		t.Errorf("the snapshot ended %+v", result)
	}
	spec.ID, spec.OSType = "300", "win11"
	config := w.made(t, spec)
	for key, want := range map[string]string{
		"virtio0":   "folder:300/vm-300-disk-2.qcow2,discard=on,iothread=1,serial=4f6c1c1e6b1c4b6e9d1e,size=8G",
		"efidisk0":  "folder:300/vm-300-disk-0.qcow2,efitype=4m",
		"tpmstate0": "folder:300/vm-300-disk-1.raw,version=v2.0,size=4M",
	} {
		if got := fmt.Sprint(config[key]); !strings.HasPrefix(got, want) {
			t.Errorf("%s is %q, want %q", key, got, want)
		}
	}
}

// The bounds of guests are those of the schema: where it has none there is none, whatever the web page of the hypervisor offers.
func TestLimitsOfGuestsAreOfTheSchema(t *testing.T) {
	t.Parallel()
	w := provisionFixture(t)
	host := w.host(t, endpoint.Monitoring)
	for kind, path := range map[hypervisor.GuestKind]string{hypervisor.VM: "/nodes/{node}/qemu", hypervisor.Container: "/nodes/{node}/lxc"} {
		p, err := host.Placement(t.Context(), hypervisor.PlacementQuery{Kind: kind, Node: "pve1"})
		must(t, "asking for limits", err)
		made := schema.Find("POST", path)
		for name, got := range map[string]int64{"cores": p.Limits.Cores, "memory": p.Limits.MemoryMB, "vmid": p.Limits.MaxNumber} {
			want := int64(0)
			if most := made.Parameter(name).Maximum; most != nil {
				want = int64(*most)
			}
			if got != want {
				t.Errorf("%s of a %s: at most %d, want %d", name, kind, got, want)
			}
		}
		if p.Limits.DiskGB != 0 {
			t.Errorf("a disk of a %s has at most %d GiB", kind, p.Limits.DiskGB)
		}
	}
	w.AddStorage(pvesim.StorageSpec{ID: "huge", Plugin: "lvmthin", Content: "images", Size: 1 << 50})
	spec := newVMSpec("300")
	spec.Cores, spec.MemoryMB, spec.DiskGB, spec.Storage = 192, 8<<20, 200<<10, "huge"
	w.made(t, spec)
	lifecycle := w.host(t, endpoint.Lifecycle)
	ref := hypervisor.GuestRef{Kind: hypervisor.VM, Node: "pve1", ID: spec.ID}
	must(t, "growing a disk", lifecycle.GrowDisk(t.Context(), ref, hypervisor.DiskGrowth{Key: "virtio0", SizeGB: 300 << 10}))
}

func TestProvisionRefusals(t *testing.T) {
	t.Parallel()
	w := provisionFixture(t)
	w.AddStorage(pvesim.StorageSpec{ID: "small", Plugin: "lvm", Size: 2 << 30, Used: 1 << 30})
	host := w.host(t, endpoint.Lifecycle)
	small := newVMSpec("300")
	small.Storage = "small"
	id, err := host.CreateVM(t.Context(), small)
	must(t, "creating", err)
	if _, result, err := follow(t, host, id, 0); err != nil || result.OK() || !strings.Contains(result.Message, "insufficient free space") {
		t.Errorf("a full storage: %+v, %v", result, err)
	}
	w.AddStorage(pvesim.StorageSpec{ID: "thin", Plugin: "lvmthin", Size: 2 << 30, Used: 1 << 30})
	thin := newVMSpec("301")
	thin.Storage = "thin"
	w.made(t, thin)
	placed, err := w.host(t, endpoint.Monitoring).Placement(t.Context(), hypervisor.PlacementQuery{Kind: hypervisor.VM, Node: "pve1",
		Storages: true})
	must(t, "asking for storages", err)
	for _, s := range placed.Storages {
		if s.Thin == (s.Name == "small") {
			t.Errorf("%s: thin is %v", s.Name, s.Thin)
		}
	}
	missing := newVMSpec("300")
	missing.Storage = "none"
	_, err = host.CreateVM(t.Context(), missing)
	if e := wantKind(t, err, plugin.Invalid); e.Field != "storage" {
		t.Errorf("an unknown storage: %+v", e)
	}
	plain := w.guest(t, pvesim.GuestSpec{VMID: 400})
	running := w.guest(t, pvesim.GuestSpec{VMID: 401, Status: pvesim.StatusRunning})
	protected := w.guest(t, pvesim.GuestSpec{VMID: 402, Config: map[string]any{"protection": 1}})
	ha := w.guest(t, pvesim.GuestSpec{VMID: 403, HAManaged: true})
	for name, err := range map[string]error{
		"an id that is taken": second(host.CreateVM(t.Context(), newVMSpec("400"))),
		"a linked copy":       second(host.Clone(t.Context(), plain, hypervisor.CloneSpec{ID: "500"})),
		"a copy's id":         second(host.Clone(t.Context(), plain, hypervisor.CloneSpec{ID: "401", Full: true})),
		"what runs":           second(host.Destroy(t.Context(), running, hypervisor.DestroySpec{})),
		"what is protected":   second(host.Destroy(t.Context(), protected, hypervisor.DestroySpec{Purge: true})),
		"what HA keeps":       second(host.Destroy(t.Context(), ha, hypervisor.DestroySpec{})),
	} {
		if plugin.KindOf(err) != plugin.Conflict {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err = host.Clone(t.Context(), plain, hypervisor.CloneSpec{ID: "500", Full: true, Node: "nowhere"})
	if e := wantKind(t, err, plugin.Invalid); e.Field != "node" {
		t.Errorf("an unknown node: %+v", e)
	}
	gone := hypervisor.GuestRef{Kind: hypervisor.VM, Node: "pve1", ID: "999"}
	wantKind(t, second(host.Destroy(t.Context(), gone, hypervisor.DestroySpec{})), plugin.NotFound)
	token := w.token("/", true, "VM.Audit")
	_, err = w.open(t, w.target(endpoint.Lifecycle, token)).CreateVM(t.Context(), newVMSpec("300"))
	e := wantKind(t, err, plugin.Denied)
	if len(e.Missing) != 1 || e.Missing[0] != "VM.Allocate" || !grantsRole(e.Remedy, "ServiceLifecycle", token) {
		t.Errorf("a refusal that names nothing: %+v", e)
	}
}

func second(_ string, err error) error { return err }

// The list of a storage says what a linked clone is built on, and what keeps its template from being deleted is in the task's error.
func TestLinkedClones_NameTheirTemplate(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{pvesim.QEMU, pvesim.LXC} {
		w := newFixture(t, pvesim.Options{Scenario: pvesim.ScenarioOne, Guests: -1, TaskDuration: -1})
		w.SetRole("ServiceLifecycle", append(pve.Privileges(endpoint.Lifecycle), "SDN.Use")...)
		w.AddStorage(pvesim.StorageSpec{ID: "fast", Plugin: "lvmthin", Content: "images,rootdir"})
		template := w.guest(t, pvesim.GuestSpec{VMID: 400, Type: kind, Template: true, Storage: "fast"})
		host := w.host(t, endpoint.Lifecycle)
		id, err := host.Clone(t.Context(), template, hypervisor.CloneSpec{ID: "401", Name: "copy"})
		if result := ended(t, host, id, err); !result.OK() {
			t.Fatalf("copying ended %+v", result)
		}
		config, err := w.host(t, endpoint.Monitoring).Config(t.Context(), template)
		must(t, "reading the template", err)
		list, err := host.Content(t.Context(), hypervisor.ContentQuery{Storage: "fast", Node: "pve1", Kind: hypervisor.VolumeDisk})
		must(t, "listing", err)
		i := slices.IndexFunc(list.Volumes, func(v hypervisor.Volume) bool { return v.Guest == "401" })
		if i < 0 || !slices.ContainsFunc(config.Disks, func(d hypervisor.Disk) bool { return d.Volume == list.Volumes[i].Parent }) {
			t.Errorf("%s: of the disks %+v the clone is in %+v", kind, config.Disks, list.Volumes)
		}
		id, err = host.Destroy(t.Context(), template, hypervisor.DestroySpec{})
		if result := ended(t, host, id, err); result.OK() || !strings.Contains(result.Message, "still in use by linked clone") {
			t.Errorf("%s: deleting the template ended %+v", kind, result)
		}
	}
}

// How much of a copy is done is told by its log.
func TestCloneTellsHowMuchIsDone(t *testing.T) {
	t.Parallel()
	w := newFixture(t, pvesim.Options{Scenario: pvesim.ScenarioOne, Guests: -1, TaskDuration: 100 * time.Millisecond})
	w.SetRole("ServiceLifecycle", append(pve.Privileges(endpoint.Lifecycle), "SDN.Use")...)
	source := w.guest(t, pvesim.GuestSpec{VMID: 400, Disk: 4 << 30})
	host := w.host(t, endpoint.Lifecycle)
	id, err := host.Clone(t.Context(), source, hypervisor.CloneSpec{ID: "401", Name: "copy", Full: true})
	must(t, "copying", err)
	var shares []float64
	_, err = host.WaitTask(t.Context(), id, 0, func(l hypervisor.LogLine) error {
		if l.Share > 0 {
			shares = append(shares, l.Share)
		}
		return nil
	})
	must(t, "waiting", err)
	if len(shares) < 3 || shares[len(shares)-1] != 1 {
		t.Errorf("shares %v", shares)
	}
}
