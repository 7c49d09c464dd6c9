package pve_test

import (
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/plugins/pve/pvesim"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

func migrateFixture(t *testing.T, opts pvesim.Options) *fixture {
	t.Helper()
	opts.Scenario, opts.Nodes, opts.Guests, opts.TaskDuration = pvesim.ScenarioCluster, 3, -1, -1
	return newFixture(t, opts)
}

// codes are those of findings, in their order.
func codes(list []hypervisor.MigrationFinding) string {
	var all []string
	for _, f := range list {
		all = append(all, f.Code)
	}
	return strings.Join(all, " ")
}

// check asks what a move to pve2 would meet.
func (w *fixture) check(t *testing.T, ref hypervisor.GuestRef, query hypervisor.MigrationQuery) hypervisor.MigrationCheck {
	t.Helper()
	check, err := w.host(t, endpoint.Lifecycle).CheckMigration(t.Context(), ref, query)
	must(t, "checking", err)
	return check
}

// moved asks for a move and gives its end.
func (w *fixture) moved(t *testing.T, ref hypervisor.GuestRef, spec hypervisor.MigrationSpec) (
	lines string, result hypervisor.TaskResult) {
	t.Helper()
	host := w.host(t, endpoint.Lifecycle)
	id, err := host.Migrate(t.Context(), ref, spec)
	must(t, "migrating", err)
	all, result, err := follow(t, host, id, 0)
	must(t, "waiting", err)
	return strings.Join(all, "\n"), result
}

func TestWhatAMigrationMeets(t *testing.T) {
	t.Parallel()
	w := migrateFixture(t, pvesim.Options{})
	w.AddStorage(pvesim.StorageSpec{ID: "fast", Nodes: []string{"pve1", "pve3"}})
	to := hypervisor.MigrationQuery{Node: "pve2"}
	plain := w.guest(t, pvesim.GuestSpec{Status: pvesim.StatusRunning})
	check := w.check(t, plain, to)
	if len(check.Blockers) > 0 || !check.Live || strings.Join(check.Nodes, " ") != "pve2 pve3" || len(check.Disks) != 1 ||
		check.Disks[0].Key != "scsi0" || check.Disks[0].Storage != "local-lvm" || *check.Disks[0].SizeBytes != 8<<30 {
		t.Errorf("a VM on a local disk: %+v", check)
	}
	shared := w.check(t, w.guest(t, pvesim.GuestSpec{Storage: "nas"}), to)
	if len(shared.Disks)+len(shared.Blockers) > 0 {
		t.Errorf("a VM on a shared disk: %+v", shared)
	}
	fast := w.guest(t, pvesim.GuestSpec{Storage: "fast"})
	if got := codes(w.check(t, fast, to).Blockers); got != "storage_missing" {
		t.Errorf("a VM whose storage the node lacks: %s", got)
	}
	if got := codes(w.check(t, fast, hypervisor.MigrationQuery{Node: "pve2", Storage: "nas"}).Blockers); got != "" {
		t.Errorf("the same, to another storage: %s", got)
	}
	bound := w.guest(t, pvesim.GuestSpec{Config: map[string]any{
		"ide2": "local:iso/debian-13.1.0-amd64-netinst.iso,media=cdrom", "ide0": "local-lvm:vm-1-cloudinit,media=cdrom",
		"hostpci0": "0000:01:00", "usb0": "host=1-1", "usb1": "spice", "serial0": "socket",
	}})
	check = w.check(t, bound, to)
	if codes(check.Blockers) != "local_image passthrough" || strings.Join(check.Resources, " ") != "hostpci0 usb0" {
		t.Errorf("a VM that is bound to its node: %+v", check)
	}
	marked := w.guest(t, pvesim.GuestSpec{Storage: "nas", Config: map[string]any{"scsi1": "/dev/mapper/mpatha,shared=1,size=20G",
		"scsi2": "local-lvm:vm-7-disk-9,shared=1,size=4G"}})
	if check := w.check(t, marked, to); len(check.Disks)+len(check.Blockers) > 0 {
		t.Errorf("a VM with disks that are marked as shared: %+v", check)
	}
	if lines, result := w.moved(t, marked, hypervisor.MigrationSpec{Node: "pve2"}); !result.OK() {
		t.Errorf("its move: %+v\n%s", result, lines)
	}
	ct := w.check(t, w.guest(t, pvesim.GuestSpec{Type: pvesim.LXC}), to)
	if ct.Live || len(ct.Blockers) > 0 || strings.Join(ct.Nodes, " ") != "pve2 pve3" {
		t.Errorf("a container: %+v", ct)
	}
	must(t, "switching off", w.SetNodeOnline("pve2", false))
	if got := codes(w.check(t, plain, to).Blockers); got != "node_offline" {
		t.Errorf("a node that is off: %s", got)
	}
}

// A mapped device keeps a VM neither on its node while it is off, nor on one that has a mapping of the name.
func TestMigrationOfMappedDevices(t *testing.T) {
	t.Parallel()
	w := migrateFixture(t, pvesim.Options{})
	w.MapDevice("dongle", "pve1", "pve2")
	w.MapDevice("gpu", "pve1", "pve2")
	w.MapDevice("media", "pve1")
	for name, c := range map[string]struct {
		config map[string]any
		status string
		says   string
	}{
		"USB":               {map[string]any{"usb0": "mapping=dongle"}, pvesim.StatusStopped, ""},
		"PCI":               {map[string]any{"hostpci0": "mapping=gpu,pcie=1"}, pvesim.StatusStopped, ""},
		"USB while it runs": {map[string]any{"usb0": "mapping=dongle"}, pvesim.StatusRunning, "usb0 (dongle)"},
		"PCI while it runs": {map[string]any{"hostpci0": "mapping=gpu"}, pvesim.StatusRunning, "hostpci0 (gpu)"},
		"a directory that the other node does not map": {map[string]any{"virtiofs0": "dirid=media"}, pvesim.StatusStopped,
			"pve2 has no mapping for devices of the guest: virtiofs0"},
		"one mapped and one not": {map[string]any{"usb0": "mapping=dongle", "usb1": "host=1-1"}, pvesim.StatusStopped, "of its node: usb1."},
	} {
		ref := w.guest(t, pvesim.GuestSpec{Storage: "nas", Status: c.status, Config: c.config})
		check := w.check(t, ref, hypervisor.MigrationQuery{Node: "pve2"})
		if c.says == "" && len(check.Blockers) > 0 ||
			c.says != "" && (codes(check.Blockers) != "passthrough" || !strings.Contains(check.Blockers[0].Message, c.says)) {
			t.Errorf("%s: %+v", name, check)
		}
		lines, result := w.moved(t, ref, hypervisor.MigrationSpec{Node: "pve2", Online: c.status == pvesim.StatusRunning})
		if result.OK() != (c.says == "") {
			t.Errorf("the move of %s: %+v\n%s", name, result, lines)
		}
	}
}

// An older release tells nothing of containers, and of VMs that run not where they could go.
func TestMigrationOfOlderReleases(t *testing.T) {
	t.Parallel()
	w := migrateFixture(t, pvesim.Options{Version: "8.4.5"})
	for _, kind := range []string{pvesim.QEMU, pvesim.LXC} {
		ref := w.guest(t, pvesim.GuestSpec{Type: kind, Status: pvesim.StatusRunning})
		check := w.check(t, ref, hypervisor.MigrationQuery{Node: "pve2"})
		if check.Nodes != nil || len(check.Blockers) > 0 {
			t.Errorf("%s: %+v", kind, check)
		}
		spec := hypervisor.MigrationSpec{Node: "pve2", Online: kind == pvesim.QEMU, Restart: kind == pvesim.LXC}
		if lines, result := w.moved(t, ref, spec); !result.OK() {
			t.Errorf("%s: %+v\n%s", kind, result, lines)
		}
	}
}

func TestMigrationsThatFail(t *testing.T) {
	t.Parallel()
	w := migrateFixture(t, pvesim.Options{})
	for name, c := range map[string]struct {
		spec pvesim.GuestSpec
		how  hypervisor.MigrationSpec
		says string
	}{
		"a bind mount": {pvesim.GuestSpec{Type: pvesim.LXC, Config: map[string]any{"mp0": "/srv,mp=/srv"}},
			hypervisor.MigrationSpec{}, "cannot migrate local bind mount point 'mp0'"},
		"a device": {pvesim.GuestSpec{Config: map[string]any{"hostpci0": "0000:01:00"}},
			hypervisor.MigrationSpec{}, "local devices: hostpci0"},
		"an image": {pvesim.GuestSpec{Config: map[string]any{"ide2": "local:iso/debian-13.1.0-amd64-netinst.iso,media=cdrom"}},
			hypervisor.MigrationSpec{}, "local cdrom image"},
		"a container live": {pvesim.GuestSpec{Type: pvesim.LXC, Status: pvesim.StatusRunning}, hypervisor.MigrationSpec{Online: true},
			"not implemented"},
	} {
		ref := w.guest(t, c.spec)
		c.how.Node = "pve2"
		lines, result := w.moved(t, ref, c.how)
		if result.OK() || !strings.Contains(lines, c.says) {
			t.Errorf("%s: %+v\n%s", name, result, lines)
		}
		if g, _ := w.Guest(vmid(t, ref)); g.Node != "pve1" || g.Lock != "" || g.Status != c.spec.Status && c.spec.Status != "" {
			t.Errorf("%s: the guest is %+v", name, g)
		}
	}
	snapshotted := w.guest(t, pvesim.GuestSpec{Status: pvesim.StatusRunning})
	must(t, "taking a snapshot", w.AddSnapshot(vmid(t, snapshotted), pvesim.SnapshotSpec{Name: "s1"}))
	if lines, result := w.moved(t, snapshotted, hypervisor.MigrationSpec{Node: "pve2", Online: true}); result.OK() ||
		!strings.Contains(lines, "non-replicated snapshot exists") {
		t.Errorf("a snapshot: %+v\n%s", result, lines)
	}
}

// Without a quorum the hypervisor tells nothing of where a guest could go but that.
func TestMigrationWithoutAQuorum(t *testing.T) {
	t.Parallel()
	w := migrateFixture(t, pvesim.Options{})
	host := w.host(t, endpoint.Lifecycle)
	w.SetExtraVotes(9)
	for _, kind := range []string{pvesim.QEMU, pvesim.LXC} {
		ref := w.guest(t, pvesim.GuestSpec{Type: kind})
		check, err := host.CheckMigration(t.Context(), ref, hypervisor.MigrationQuery{Node: "pve2"})
		must(t, "checking", err)
		if len(check.Blockers) != 1 || check.Blockers[0].Code != hypervisor.MigrationQuorum {
			t.Errorf("%s: %+v", kind, check)
		}
		_, err = host.Migrate(t.Context(), ref, hypervisor.MigrationSpec{Node: "pve2"})
		if e := wantKind(t, err, plugin.Refused); !strings.Contains(e.Message, "no quorum") {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

func TestMigrationsThatAreRefused(t *testing.T) {
	t.Parallel()
	w := migrateFixture(t, pvesim.Options{})
	host := w.host(t, endpoint.Lifecycle)
	ref := w.guest(t, pvesim.GuestSpec{Status: pvesim.StatusRunning})
	for name, c := range map[string]struct {
		spec  hypervisor.MigrationSpec
		kind  plugin.ErrorKind
		field string
	}{
		"a path":                {hypervisor.MigrationSpec{Node: "../pve2", Online: true}, plugin.Invalid, "node"},
		"no node":               {hypervisor.MigrationSpec{Online: true}, plugin.Invalid, "node"},
		"more than a storage":   {hypervisor.MigrationSpec{Node: "pve2", Online: true, Storage: "nas,a:b"}, plugin.Invalid, "storage"},
		"no storage":            {hypervisor.MigrationSpec{Node: "pve2", Online: true, Storage: "nowhere"}, plugin.Invalid, "storage"},
		"a VM restarted":        {hypervisor.MigrationSpec{Node: "pve2"}, plugin.Conflict, ""},
		"where the guest is":    {hypervisor.MigrationSpec{Node: "pve1", Online: true}, plugin.Invalid, "node"},
		"a node that is no one": {hypervisor.MigrationSpec{Node: "pve9", Online: true}, plugin.Invalid, "node"},
	} {
		_, err := host.Migrate(t.Context(), ref, c.spec)
		if e := wantKind(t, err, c.kind); e.Field != c.field {
			t.Errorf("%s: the field is %q", name, e.Field)
		}
	}
	if n := len(w.Tasks()); n != 1 { // of its creation
		t.Errorf("%d tasks", n)
	}
}

// The task of a guest under high availability ends before the guest has moved; the move is a task of the manager.
func TestMigrationUnderHighAvailability(t *testing.T) {
	t.Parallel()
	w := migrateFixture(t, pvesim.Options{})
	ref := w.guest(t, pvesim.GuestSpec{Status: pvesim.StatusRunning, HAManaged: true})
	if now, err := w.host(t, endpoint.Monitoring).Guest(t.Context(), ref); err != nil || !now.HA {
		t.Errorf("the guest's own state does not tell of high availability: %+v, %v", now, err)
	}
	lines, result := w.moved(t, ref, hypervisor.MigrationSpec{Node: "pve2", Online: true})
	if !result.OK() || !strings.Contains(lines, "Requesting HA migration") {
		t.Errorf("the task: %+v\n%s", result, lines)
	}
	w.Advance(time.Minute)
	if g, _ := w.Guest(vmid(t, ref)); g.Node != "pve2" || g.Status != pvesim.StatusRunning {
		t.Errorf("the guest is %+v", g)
	}
}

// A storage that is given takes the disks.
func TestMigrationToAnotherStorage(t *testing.T) {
	t.Parallel()
	w := migrateFixture(t, pvesim.Options{})
	for _, kind := range []string{pvesim.QEMU, pvesim.LXC} {
		ref := w.guest(t, pvesim.GuestSpec{Type: kind})
		if lines, result := w.moved(t, ref, hypervisor.MigrationSpec{Node: "pve3", Storage: "nas"}); !result.OK() {
			t.Errorf("%s: %+v\n%s", kind, result, lines)
		}
		if g, _ := w.Guest(vmid(t, ref)); g.Node != "pve3" || g.Storage != "nas" {
			t.Errorf("%s: the guest is %+v", kind, g)
		}
	}
}
