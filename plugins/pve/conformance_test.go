package pve_test

import (
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hostler/hostler/internal/nodetest"
	"github.com/hostler/hostler/internal/sshdtest"
	"github.com/hostler/hostler/plugins/pve"
	"github.com/hostler/hostler/plugins/pve/pvesim"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/hypervisor/drivertest"
	"github.com/hostler/hostler/sdk/plugin"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	w := newFixture(t, pvesim.Options{Scenario: pvesim.ScenarioCluster, Nodes: 3, Guests: 600, TaskDuration: 30 * time.Millisecond})
	privileges := pve.Privileges
	var names atomic.Int64
	// What making VMs, changing NICs, uploads and backups need of today's releases besides the role of the script.
	w.SetRole("ServiceLifecycle", append(privileges(endpoint.Lifecycle), "SDN.Use", "VM.Config.HWType", "VM.Config.CDROM",
		"Datastore.AllocateTemplate", "Sys.AccessNetwork")...)
	w.SetRole("ServiceConsole", append(privileges(endpoint.Console), "Sys.Console")...)
	w.SetRole("ServiceBackup", append(privileges(endpoint.Backup), "SDN.Use", "VM.Allocate", "VM.Config.Options", "VM.Config.Network")...)
	newGuest := func(t testing.TB, kind hypervisor.GuestKind, status string) hypervisor.GuestRef {
		spec := pvesim.GuestSpec{Status: status}
		if kind == hypervisor.Container {
			spec.Type = pvesim.LXC
		}
		return w.guest(t, spec)
	}
	drivertest.Run(t, drivertest.Config{
		Driver:   w.driver,
		HostType: (*pve.Host)(nil),
		Patience: 3 * time.Minute,
		Target: func(_ testing.TB, c endpoint.Capability) endpoint.Target {
			return w.target(c, w.Tokens()[string(c)])
		},
		NewGuest:      newGuest,
		SnapshotGuest: newGuest,
		Guests: func(t testing.TB) []hypervisor.GuestRef {
			var refs []hypervisor.GuestRef
			for _, id := range w.Cluster.Guests() {
				refs = append(refs, w.ref(t, id))
			}
			return refs
		},
		Lacking: func(_ testing.TB, c endpoint.Capability) (endpoint.Target, []string) {
			has := privileges(c)
			gone := has[0]
			if slices.Contains(has, "Sys.Audit") {
				gone = "Sys.Audit"
			}
			return w.target(c, w.token("/", true, slices.DeleteFunc(has, func(p string) bool { return p == gone })...)), []string{gone}
		},
		Exceeding: func(_ testing.TB, c endpoint.Capability) (endpoint.Target, []string) {
			return w.target(c, w.token("/", true, append(privileges(c), "Permissions.Modify")...)), []string{"Permissions.Modify"}
		},
		VM: func(testing.TB) hypervisor.VMSpec {
			return hypervisor.VMSpec{
				Node: "pve1", Cores: 2, MemoryMB: 512, DiskGB: 4, Storage: "local-lvm", Bridge: "vmbr0", OSType: "l26",
				Image: "local:iso/debian-13.1.0-amd64-netinst.iso",
			}
		},
		RoleOutput:    func(t testing.TB, made, kept []endpoint.Capability) plugin.Secret { return roleOutput(t, made, kept) },
		BackupStorage: "nas",
		LeaveOut: func(t testing.TB, ref hypervisor.GuestRef) string {
			key, value := "scsi1", "local-lvm:vm-%s-disk-1,backup=0,size=4G"
			if ref.Kind == hypervisor.Container {
				key, value = "mp0", "local-lvm:vm-%s-disk-1,mp=/srv/data,size=4G"
			}
			must(t, "adding a volume", w.ChangeGuest(vmid(t, ref), func(s *pvesim.GuestSpec) {
				s.Config = map[string]any{key: fmt.Sprintf(value, ref.ID)}
			}))
			return key
		},
		FileStorage:   "nas",
		UploadStorage: "nas",
		NewStorage: func(testing.TB) (hypervisor.StorageSpec, hypervisor.StorageSetting) {
			return hypervisor.StorageSpec{Name: fmt.Sprint("share", names.Add(1)), Type: "cifs", Config: []hypervisor.StorageSetting{
				{Key: "server", Value: "192.0.2.30"}, {Key: "share", Value: "files"}, {Key: "content", Value: "iso,backup"},
				{Key: "username", Value: "svc"}, {Key: "password", Value: "canary-of-a-share"},
			}}, hypervisor.StorageSetting{Key: "domain", Value: "example"}
		},
		Download: func(testing.TB) hypervisor.DownloadSpec {
			return hypervisor.DownloadSpec{Storage: "nas", Node: "pve1", Content: "iso", URL: "https://files.example.com/a.iso",
				Filename: fmt.Sprintf("fetched-%d.iso", names.Add(1))}
		},
		Terminals: func(t testing.TB) []drivertest.Terminal {
			vm := w.guest(t, pvesim.GuestSpec{Status: pvesim.StatusRunning, Serial: true, Node: "pve2"})
			ct := w.guest(t, pvesim.GuestSpec{Status: pvesim.StatusRunning, Type: pvesim.LXC})
			return []drivertest.Terminal{{Spec: hypervisor.ConsoleSpec{Guest: &vm, Columns: 90, Rows: 20}},
				{Spec: hypervisor.ConsoleSpec{Guest: &ct}}, {Spec: hypervisor.ConsoleSpec{Node: "pve1"}, Line: "root", Want: "\r\n"}}
		},
		Screen: func(t testing.TB) hypervisor.GuestRef {
			return w.guest(t, pvesim.GuestSpec{Status: pvesim.StatusRunning})
		},
		RunningTask: func(t testing.TB) string { return w.task(t, "vzdump", time.Hour, "OK", "first line", "second line") },
		EndedTask: func(t testing.TB) string {
			return w.task(t, "qmstart", 0, "OK", "one", "two", "three", "four", "five")
		},
		FailedTask: func(t testing.TB) string { return w.task(t, "qmstart", 0, "start failed: no space") },
		LostTask:   func(t testing.TB) string { return w.task(t, "vzshutdown", 0, "unexpected status", "line") },
		Reboots: func(t testing.TB) (func(endpoint.Capability) endpoint.Target, string) {
			own := newFixture(t, pvesim.Options{Scenario: pvesim.ScenarioCluster, Nodes: 2, RebootTime: time.Second})
			return func(c endpoint.Capability) endpoint.Target { return own.target(c, own.Tokens()[string(c)]) }, "pve2"
		},
		NodeLogin: func(t testing.TB) endpoint.Target { return sshdtest.Start(t).Target() },
		Inside: func(t testing.TB) drivertest.Inside {
			node := nodetest.Start(t)
			node.Container(101)
			node.Stopped(102)
			node.Listen(101, 8080)
			ref := hypervisor.GuestRef{Kind: hypervisor.Container, Node: "pve1", ID: "101"}
			stopped := ref
			stopped.ID = "102"
			return drivertest.Inside{Target: node.SSH.Target(), Running: ref, Stopped: stopped, Port: 8080}
		},
		LockedGuest: func(t testing.TB) hypervisor.GuestRef { return w.guest(t, pvesim.GuestSpec{Lock: "backup"}) },
	})
}
