package memdriver_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hostler/hostler/internal/waittest"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/hypervisor/drivertest"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
	"github.com/hostler/hostler/sdk/plugin"
)

// TestAStoppedShutdownOfAContainerIsOfUnknownEnd, and that of a VM has failed.
func TestAStoppedShutdownOfAContainerIsOfUnknownEnd(t *testing.T) {
	t.Parallel()
	driver := memdriver.New()
	cluster := driver.Add("stopped.mem:8006", memdriver.Spec{Nodes: 1})
	opened, err := driver.Open(t.Context(), cluster.Target(endpoint.Lifecycle))
	if err != nil {
		t.Fatal(err)
	}
	host := opened.(*memdriver.Host)
	for kind, want := range map[hypervisor.GuestKind]string{hypervisor.Container: hypervisor.TaskUnknown,
		hypervisor.VM: hypervisor.TaskFailed} {
		ref := cluster.NewGuest(kind, hypervisor.GuestRunning)
		cluster.Change(ref.ID, func(g *hypervisor.Guest) { g.Name = "stuck" })
		id, err := host.Act(t.Context(), ref, hypervisor.Shutdown)
		if err != nil {
			t.Fatal(err)
		}
		if err := host.StopTask(t.Context(), id); err != nil {
			t.Error("stopping:", err)
		}
		result, err := host.WaitTask(t.Context(), id, 0, func(hypervisor.LogLine) error { return nil })
		if err != nil || result.Status != want {
			t.Errorf("%s: %+v, %v, want %s", kind, result, err, want)
		}
	}
}

// TestTheShutdownOfAPausedGuestIsTakenAndFails, and the guest stays as it is.
func TestTheShutdownOfAPausedGuestIsTakenAndFails(t *testing.T) {
	t.Parallel()
	driver := memdriver.New()
	cluster := driver.Add("paused.mem:8006", memdriver.Spec{Nodes: 1})
	opened, err := driver.Open(t.Context(), cluster.Target(endpoint.Lifecycle))
	if err != nil {
		t.Fatal(err)
	}
	host := opened.(*memdriver.Host)
	ref := cluster.NewGuest(hypervisor.VM, hypervisor.GuestPaused)
	id, err := host.Act(t.Context(), ref, hypervisor.Shutdown)
	if err != nil {
		t.Fatal(err)
	}
	result, err := host.WaitTask(t.Context(), id, 0, func(hypervisor.LogLine) error { return nil })
	if err != nil || result.Status != hypervisor.TaskFailed {
		t.Errorf("%+v, %v, want failed", result, err)
	}
	if g, err := host.Guest(t.Context(), ref); err != nil || g.Status != hypervisor.GuestPaused {
		t.Errorf("the guest is %s, %v", g.Status, err)
	}
}

func TestConformance(t *testing.T) {
	t.Parallel()
	for _, shape := range memdriver.Shapes() {
		t.Run(shape.Name, func(t *testing.T) {
			t.Parallel()
			conform(t, shape)
		})
	}
}

// screen is nil where VMs have none.
func screen(shape memdriver.Shape, cluster *memdriver.Cluster) func(testing.TB) hypervisor.GuestRef {
	if shape.Name != memdriver.Tokens.Name {
		return nil
	}
	return func(testing.TB) hypervisor.GuestRef { return cluster.NewGuest(hypervisor.VM, hypervisor.GuestRunning) }
}

func conform(t *testing.T, shape memdriver.Shape) {
	driver, clusters := shape.New()
	cluster := clusters.Add("pool.mem:8006", memdriver.Spec{Nodes: 3, VMs: 450, Containers: 50, TaskMemory: time.Minute})
	cluster.AddStorage(memdriver.StorageSpec{Name: "archive", Archive: &memdriver.Archive{}})
	cluster.AddStorage(memdriver.StorageSpec{Name: "dumps", Archive: &memdriver.Archive{Folder: memdriver.DumpFolder}})
	cluster.AddStorage(memdriver.StorageSpec{Name: "local", VMs: true, Containers: true, FreeGB: 1 << 20})
	var names atomic.Int64
	needs := map[endpoint.Capability]string{
		endpoint.Monitoring: memdriver.GuestAudit, endpoint.Lifecycle: memdriver.GuestPower, endpoint.Console: memdriver.GuestConsole,
		endpoint.Backup: memdriver.GuestBackup, endpoint.NodePower: memdriver.NodePower,
	}
	all := map[endpoint.Capability][]string{
		endpoint.Monitoring: {memdriver.GuestAudit, memdriver.NodeAudit}, endpoint.Lifecycle: {memdriver.GuestAudit, memdriver.GuestPower},
		endpoint.Console: {memdriver.GuestConsole}, endpoint.Backup: {memdriver.GuestBackup}, endpoint.NodePower: {memdriver.NodePower},
	}
	ended := func(status string) func(testing.TB) string {
		return func(testing.TB) string {
			id := cluster.NewTask("copy", 7)
			cluster.EndTask(id, status, "ended as "+status)
			return id
		}
	}
	newGuest := func(_ testing.TB, kind hypervisor.GuestKind, status string) hypervisor.GuestRef {
		return cluster.NewGuest(kind, status)
	}
	var rename func(testing.TB, hypervisor.GuestRef) hypervisor.GuestRef
	if shape.UIDs {
		rename = func(t testing.TB, ref hypervisor.GuestRef) hypervisor.GuestRef {
			before := ref.ID
			if ref.ID = "renamed-" + before; !cluster.Rename(before, string(ref.ID)) {
				t.Fatal("the guest could not be renamed")
			}
			return ref
		}
	}
	drivertest.Run(t, drivertest.Config{
		Driver: driver, Rename: rename, HostType: (*memdriver.Host)(nil), NewGuest: newGuest, SnapshotGuest: newGuest,
		Target: func(_ testing.TB, c endpoint.Capability) endpoint.Target { return cluster.Target(c) },
		Guests: func(testing.TB) []hypervisor.GuestRef { return cluster.Guests() },
		Lacking: func(_ testing.TB, c endpoint.Capability) (endpoint.Target, []string) {
			return cluster.NewToken(c, fmt.Sprint("lacking", names.Add(1))), []string{needs[c]}
		},
		Exceeding: func(_ testing.TB, c endpoint.Capability) (endpoint.Target, []string) {
			return cluster.NewToken(c, fmt.Sprint("exceeding", names.Add(1)), append([]string{"Sys.Everything"}, all[c]...)...),
				[]string{"Sys.Everything"}
		},
		NewCode: func(_ testing.TB, c endpoint.Capability, valid time.Duration) plugin.Secret {
			return cluster.NewCode(c, valid)
		},
		RoleOutput: func(_ testing.TB, made, kept []endpoint.Capability) plugin.Secret {
			return cluster.RoleOutput(made, kept)
		},
		VM: func(testing.TB) hypervisor.VMSpec {
			return hypervisor.VMSpec{
				Node: cluster.Nodes()[0], Cores: 2, MemoryMB: 512, DiskGB: 4, Storage: "local", Bridge: "br1", OSType: "l26",
				Image: "local:iso/installer.iso",
			}
		},
		BackupStorage: "archive", FileStorage: "dumps", UploadStorage: "local",
		LeaveOut: func(_ testing.TB, ref hypervisor.GuestRef) string {
			cluster.ChangeConfig(ref.ID, func(c *hypervisor.Config) {
				c.Disks = append(c.Disks, hypervisor.Disk{Key: "data", Storage: "local", Volume: "local:data-" + string(ref.ID), LeftOut: true})
			})
			return "data"
		},
		Reboots: func(testing.TB) (func(endpoint.Capability) endpoint.Target, string) {
			own := clusters.Add(fmt.Sprintf("reboots%d.mem:8006", names.Add(1)), memdriver.Spec{Nodes: 2, TaskTime: 100 * time.Millisecond})
			return own.Target, own.Nodes()[1]
		},
		NewStorage: func(testing.TB) (hypervisor.StorageSpec, hypervisor.StorageSetting) {
			return hypervisor.StorageSpec{Name: fmt.Sprint("share", names.Add(1)), Type: "share", Config: []hypervisor.StorageSetting{
				{Key: "server", Value: "nas.example.com"}, {Key: "content", Value: "iso,backup"}, {Key: "password", Value: "canary-of-a-share"},
			}}, hypervisor.StorageSetting{Key: "comment", Value: "for images"}
		},
		Download: func(testing.TB) hypervisor.DownloadSpec {
			return hypervisor.DownloadSpec{Storage: "local", Node: cluster.Nodes()[0], Content: "iso", URL: "https://files.example.com/a.iso",
				Filename: fmt.Sprintf("fetched-%d.iso", names.Add(1))}
		},
		Terminals: func(testing.TB) []drivertest.Terminal {
			vm, app := cluster.NewGuest(hypervisor.VM, hypervisor.GuestRunning), cluster.NewGuest(hypervisor.Container, hypervisor.GuestPaused)
			cluster.AttachSerialPort(vm.ID)
			all := []drivertest.Terminal{{Spec: hypervisor.ConsoleSpec{Guest: &vm}}, {Spec: hypervisor.ConsoleSpec{Guest: &app}}}
			if shape.Name == memdriver.Tokens.Name {
				all = append(all, drivertest.Terminal{Spec: hypervisor.ConsoleSpec{Node: cluster.Nodes()[1], Columns: 90, Rows: 20},
					Line: "size", Want: "\n100x30\r"})
			}
			return all
		},
		Screen:        screen(shape, cluster),
		NodeLogin:     func(testing.TB) endpoint.Target { return cluster.NodeLogin() },
		BackupMachine: func(testing.TB) endpoint.Target { return cluster.NodeLogin() },
		Inside: func(testing.TB) drivertest.Inside {
			in := drivertest.Inside{Target: cluster.NodeLogin(), Port: 8080,
				Running: cluster.NewGuest(hypervisor.Container, hypervisor.GuestRunning),
				Stopped: cluster.NewGuest(hypervisor.Container, hypervisor.GuestStopped)}
			cluster.SetSockets(in.Running.ID, hypervisor.Socket{Protocol: hypervisor.TCP, Address: "127.0.0.1", Port: 8080, Program: "web"})
			return in
		},
		RunningTask: func(testing.TB) string { return cluster.NewTask("copy", 2) },
		EndedTask:   ended(hypervisor.TaskOK),
		FailedTask:  ended(hypervisor.TaskFailed),
		LostTask:    ended(hypervisor.TaskUnknown), ForgetsTasks: shape.Forgets,
		LockedGuest: func(testing.TB) hypervisor.GuestRef {
			ref := cluster.NewGuest(hypervisor.VM, hypervisor.GuestStopped)
			cluster.Change(ref.ID, func(g *hypervisor.Guest) { g.Lock = "backup" })
			return ref
		},
	})
}

// TestACertifiedForgetsTasks, the list at once and all else after a while.
func TestACertifiedForgetsTasks(t *testing.T) {
	t.Parallel()
	driver := memdriver.NewCertificateDriver()
	cluster := driver.Add("short.mem:8443", memdriver.Spec{TaskMemory: 100 * time.Millisecond})
	host, err := driver.Open(t.Context(), cluster.Target(endpoint.Monitoring))
	if err != nil {
		t.Fatal(err)
	}
	wait := func(id string) error {
		_, err := host.WaitTask(t.Context(), id, 0, func(hypervisor.LogLine) error { return nil })
		return err
	}
	id, running := cluster.NewTask("copy", 1), cluster.NewTask("copy", 1)
	cluster.EndTask(id, hypervisor.TaskOK, "OK")
	list, err := host.Tasks(t.Context(), hypervisor.TaskQuery{Limit: 10})
	if err != nil || len(list.Tasks) != 1 || list.Tasks[0].ID != running {
		t.Errorf("listed are %+v, %v, want the one that runs", list.Tasks, err)
	}
	waittest.Until(t, "the task is forgotten", func() bool { return plugin.KindOf(wait(id)) == plugin.NotFound })
	if _, err := host.TaskLog(t.Context(), running, hypervisor.LogQuery{}); err != nil {
		t.Error("the log of the running task:", err)
	}
}

// TestACertifiedCountsCPU from the start of a guest on, and tells it with detail only.
func TestACertifiedCountsCPU(t *testing.T) {
	t.Parallel()
	driver := memdriver.NewCertificateDriver()
	cluster := driver.Add("count.mem:8443", memdriver.Spec{})
	ref := cluster.NewGuest(hypervisor.Container, hypervisor.GuestRunning)
	host, err := driver.Open(t.Context(), cluster.Target(endpoint.Lifecycle))
	if err != nil {
		t.Fatal(err)
	}
	read := func() float64 {
		t.Helper()
		g, err := host.Guest(t.Context(), ref)
		if err != nil || g.CPU != nil || g.CPUSeconds == nil {
			t.Fatalf("%+v, %v", g, err)
		}
		return *g.CPUSeconds
	}
	first := read()
	cluster.Change(ref.ID, func(g *hypervisor.Guest) { *g.CPUSeconds += 100 })
	if second := read(); second < first+100 || first < 1000 { // an hour, a quarter of two cores
		t.Errorf("read %v and then %v", first, second)
	}
	task, err := host.(hypervisor.LifecycleManager).Act(t.Context(), ref, hypervisor.Restart)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := host.WaitTask(t.Context(), task, 0, func(hypervisor.LogLine) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if third := read(); third > 100 {
		t.Errorf("after a restart %v", third)
	}
	for _, detail := range []bool{false, true} {
		err := host.Inventory(t.Context(), hypervisor.InventoryQuery{Detail: detail}, func(page hypervisor.Page) error {
			if page.Cluster != nil && (page.Cluster.StatesOnly == detail || page.Cluster.ID == "" || page.Cluster.Name != "") {
				t.Errorf("detail %v: the cluster is %+v", detail, page.Cluster)
			}
			for _, g := range page.Guests {
				if (g.CPUSeconds != nil) != detail || (g.Memory != nil) != detail || g.Uptime == nil || g.CPUs == nil {
					t.Errorf("detail %v: %+v", detail, g)
				}
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// TestSnapshotsFormATree, and a fault of one method leaves the others alone.
func TestSnapshotsFormATree(t *testing.T) {
	t.Parallel()
	driver := memdriver.New()
	cluster := driver.Add("tree.mem:8006", memdriver.Spec{Nodes: 1})
	opened, err := driver.Open(t.Context(), cluster.Target(endpoint.Lifecycle))
	if err != nil {
		t.Fatal(err)
	}
	host := opened.(*memdriver.Host)
	ref := cluster.NewGuest(hypervisor.VM, hypervisor.GuestRunning)
	done := func(id string, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		result, err := host.WaitTask(t.Context(), id, 0, func(hypervisor.LogLine) error { return nil })
		if err != nil || !result.OK() {
			t.Fatalf("%+v, %v", result, err)
		}
	}
	tree := func() string {
		t.Helper()
		list, err := host.Snapshots(t.Context(), ref)
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		for _, s := range list {
			fmt.Fprintf(&b, "%s<%s ", s.Name, s.Parent)
		}
		return b.String()
	}
	take := func(name string) {
		t.Helper()
		done(host.TakeSnapshot(t.Context(), ref, hypervisor.SnapshotSpec{Name: name}))
	}
	take("a")
	take("b")
	done(host.RollBack(t.Context(), ref, hypervisor.RollbackSpec{Name: "a"}))
	take("c")
	if got := tree(); got != "a< b<a c<a " {
		t.Errorf("after going back the tree is %s", got)
	}
	done(host.DeleteSnapshot(t.Context(), ref, "a"))
	take("d")
	if got := tree(); got != "b< c< d<c " {
		t.Errorf("after deleting the root the tree is %s", got)
	}
	cluster.SetFault("takesnapshot", memdriver.Fault{Err: plugin.Errorf(plugin.Refused, "no space")})
	if _, err := host.TakeSnapshot(t.Context(), ref, hypervisor.SnapshotSpec{Name: "e"}); plugin.KindOf(err) != plugin.Refused {
		t.Errorf("error is %v, want the fault's", err)
	}
	done(host.DeleteSnapshot(t.Context(), ref, "d"))
}
