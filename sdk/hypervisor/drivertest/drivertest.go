package drivertest

import (
	"context"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
	"github.com/hostler/hostler/sdk/plugin/plugintest"
)

// Config describes the driver and the hypervisor on which it is tested. Hooks
// that are nil skip the cases that need them, except where their comment says
// otherwise.
type Config struct {
	// Driver and HostType are as in hypervisor.Service. Required.
	Driver   hypervisor.Driver
	HostType hypervisor.Host
	// Target gives a working, pinned target with the capability's proper
	// credential, new or the same each time. It is asked for every capability
	// of Info. An endpoint on loopback needs AllowLocal. Required.
	Target func(t testing.TB, capability endpoint.Capability) endpoint.Target
	// Patience is how long anything that must come may take; zero is 2 min.
	Patience time.Duration

	// Kinds are the kinds of guests that can be made here; nil is both. Where
	// one is missing, because the machine cannot run it or the hypervisor has
	// none, the other stands for it where any will do.
	Kinds []hypervisor.GuestKind
	// NewGuest makes a guest in one of the states running and stopped. Making
	// it may leave tasks on it. The ref has the UID too, where there are UIDs.
	NewGuest func(t testing.TB, kind hypervisor.GuestKind, status string) hypervisor.GuestRef
	// SnapshotGuest is NewGuest for guests whose disks are where snapshots can be taken.
	SnapshotGuest func(t testing.TB, kind hypervisor.GuestKind, status string) hypervisor.GuestRef
	// Rename gives a guest another id, as renaming it does where ids are names.
	Rename func(t testing.TB, ref hypervisor.GuestRef) hypervisor.GuestRef
	// Guests lists all guests that an inventory must report at the moment, or
	// more when guests are made meanwhile: the suite checks that what was there
	// before and after the inventory is in it. It should be more than one page.
	Guests func(t testing.TB) []hypervisor.GuestRef
	// Lacking gives a target whose token lacks privileges that its capability
	// needs, and which. Of Lifecycle that is one that acting on a guest needs,
	// of Monitoring one that reading a node needs.
	Lacking func(t testing.TB, capability endpoint.Capability) (target endpoint.Target, missing []string)
	// Exceeding gives a target whose token has privileges that its capability
	// does not need, and which.
	Exceeding func(t testing.TB, capability endpoint.Capability) (target endpoint.Target, extra []string)
	// Wrong gives a target whose credential the endpoint does not know. Nil is
	// the target of Target with another secret.
	Wrong func(t testing.TB, capability endpoint.Capability) endpoint.Target
	// NewCode makes a one-time code that gives access to the endpoint of Target
	// for a capability, and ends after some time; a time that is negative is
	// over.
	NewCode func(t testing.TB, capability endpoint.Capability, valid time.Duration) plugin.Secret
	// RoleOutput gives what the script of RoleScript prints when it makes the
	// credentials of some capabilities and finds those of others. Nil leaves
	// out the cases that read one.
	RoleOutput func(t testing.TB, made, kept []endpoint.Capability) plugin.Secret
	// RunningTask starts a task that runs until it is stopped and has at least one line of log.
	RunningTask func(t testing.TB) (taskID string)
	// EndedTask gives a task that ended well with at least five lines of log.
	EndedTask func(t testing.TB) (taskID string)
	// FailedTask gives a task that ended badly, and the hypervisor knows how.
	FailedTask func(t testing.TB) (taskID string)
	// LostTask gives a task that ended and the hypervisor does not know how,
	// such as one whose process was killed.
	LostTask func(t testing.TB) (taskID string)
	// ForgetsTasks says that the hypervisor's list of tasks may have forgotten
	// one that has just ended. Tests that look for such a task there are left
	// out when the list says that it is complete since no time at all.
	ForgetsTasks bool
	// Alike says that the hypervisor cannot cut rights by capability, so that
	// the credential of one may do what those of all others may. Tests that
	// want it to be refused something are left out.
	Alike bool
	// NoUptime says that the hypervisor does not tell for how long a node has been running.
	NoUptime bool
	// VM is what VMs can be made of here: all but ID, Name and Mark. Nil leaves
	// out the cases that make one.
	VM func(t testing.TB) hypervisor.VMSpec
	// BackupStorage names a storage that can hold backups, and that every node
	// sees; empty leaves out the cases of backups.
	BackupStorage string
	// LeaveOut gives a stopped guest one more volume, of which the
	// configuration says that backups leave it out, and returns the volume's
	// key. Nil leaves out the cases of such volumes.
	LeaveOut func(t testing.TB, ref hypervisor.GuestRef) (key string)
	// FileStorage names a storage that keeps backups as files and that every
	// node sees; empty leaves out the cases of such files.
	FileStorage string
	// BackupMachine gives a target as that of NodeLogin, of the machine that
	// has the files of FileStorage. Nil leaves out the case that puts a file
	// there.
	BackupMachine func(t testing.TB) endpoint.Target
	// UploadStorage names a storage that takes installation images, and that
	// every node has; empty leaves out the cases of uploads.
	UploadStorage string
	// NewStorage gives a storage that can be attached and that no other case
	// uses, with a secret among its settings of at least 8 bytes, and one more
	// setting of its type, of a text, that can be cleared again. Nil leaves out
	// the cases that attach one.
	NewStorage func(t testing.TB) (spec hypervisor.StorageSpec, more hypervisor.StorageSetting)
	// Download gives a file that the hypervisor can fetch, under a name that no
	// other case uses. Templates that it has heard of it can fetch to the same
	// storage. Nil leaves out the cases that fetch.
	Download func(t testing.TB) hypervisor.DownloadSpec
	// Terminals are consoles of running guests, and of nodes, that answer to
	// what is typed. The first of them may be opened at any time. Nil leaves
	// out the cases that type.
	Terminals func(t testing.TB) []Terminal
	// Screen is a running guest whose graphical console shows something. Nil
	// leaves out the case that looks.
	Screen func(t testing.TB) hypervisor.GuestRef
	// Reboots gives the targets of an endpoint of its own, and the name of a
	// node there that may be rebooted while another one answers, or itself. Nil
	// leaves out the case that reboots one.
	Reboots func(t testing.TB) (target func(capability endpoint.Capability) endpoint.Target, node string)
	// NodeLogin gives a target whose credential is a key to log in to a machine
	// with, with the host key pinned. The machine has sh, cat, env, printf,
	// true, false and sleep, and a folder /tmp, and may be changed. Nil leaves
	// out the cases that log in.
	NodeLogin func(t testing.TB) endpoint.Target
	// Inside gives a target as that of NodeLogin, of a machine that has
	// containers. Nil leaves out the cases that look into containers.
	Inside func(t testing.TB) Inside
	// LockedGuest makes a guest that refuses actions because something locks it.
	LockedGuest func(t testing.TB) hypervisor.GuestRef
}

// Run runs the suite as subtests of t: once on the driver itself, and once
// through gRPC. Cases run in parallel; the hooks must allow that.
func Run(t *testing.T, cfg Config) {
	if cfg.Driver == nil || cfg.HostType == nil || cfg.Target == nil {
		t.Fatal("drivertest: Driver, HostType and Target are required")
	}
	if cfg.Patience == 0 {
		cfg.Patience = 2 * time.Minute
	}
	service := hypervisor.Service{Driver: cfg.Driver, HostType: cfg.HostType}
	for name, driver := range map[string]hypervisor.Driver{
		"direct": cfg.Driver,
		"grpc":   Remote(t, service),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &suite{Config: cfg, driver: driver}
			s.group(t, "info", s.info)
			s.group(t, "access", s.access)
			s.group(t, "permissions", s.permissions)
			s.group(t, "inventory", s.inventory)
			s.group(t, "guest", s.guest)
			s.group(t, "guest_ref", s.guestRef)
			s.group(t, "tasks", s.tasks)
			s.group(t, "log", s.log)
			s.group(t, "wait", s.wait)
			s.group(t, "lifecycle", s.lifecycle)
			s.group(t, "task_stop", s.taskStop)
			s.group(t, "node_read", s.nodeRead)
			s.group(t, "peer_list", s.peerList)
			s.group(t, "member_read", s.memberRead)
			s.group(t, "node_power", s.nodePower)
			s.group(t, "hardware_read", s.hardwareRead)
			s.group(t, "snapshot", s.snapshot)
			s.group(t, "provision", s.provision)
			s.group(t, "clone", s.clone)
			s.group(t, "creation check", s.creationCheck)
			s.group(t, "config", s.config)
			s.group(t, "nic", s.nic)
			s.group(t, "backup", s.backup)
			s.group(t, "backup_read", s.backupRead)
			s.group(t, "backup_file", s.backupFile)
			s.group(t, "migrate", s.migrate)
			s.group(t, "network", s.network)
			s.group(t, "upload", s.upload)
			s.group(t, "content_list", s.contentList)
			s.group(t, "volume_delete", s.volumeDelete)
			s.group(t, "storage_manage", s.storageManage)
			s.group(t, "content_fetch", s.contentFetch)
			s.group(t, "console", s.console)
			s.group(t, "node_execute", s.nodeExecute)
			s.group(t, "guest_execute", s.guestExecute)
			s.group(t, "socket_list", s.socketList)
			s.group(t, "role_script", s.roleScript)
			s.group(t, "role_output", s.roleOutput)
			s.group(t, "certificate_read", s.certificateRead)
			s.group(t, "credential_read", s.credentialRead)
			s.group(t, "enrol", s.enrol)
			s.group(t, "concurrency", s.concurrency)
		})
	}
}

// Remote serves a driver over gRPC on the loopback until the end of the test,
// and returns its client.
func Remote(t testing.TB, service hypervisor.Service) *hypervisor.Client {
	t.Helper()
	client := hypervisor.NewClient(plugintest.Connect(t, service))
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if _, err := client.Info(ctx); err != nil {
		t.Fatal("reading the plugin's info:", err)
	}
	return client
}

// suite is one run of all cases, with the driver itself or with its client.
type suite struct {
	Config
	driver hypervisor.Driver
}

func (s *suite) group(t *testing.T, name string, cases func(*testing.T)) {
	t.Run(name, func(t *testing.T) {
		t.Parallel()
		cases(t)
	})
}

// run runs one case as a parallel subtest, with a context that ends after
// Patience.
func (s *suite) run(t *testing.T, name string, body func(t *testing.T, ctx context.Context)) {
	t.Run(name, func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithTimeout(t.Context(), s.Patience)
		defer cancel()
		body(t, ctx)
	})
}

// need skips a group or a case if the driver does not claim the ability.
func need[Optional any](t *testing.T, s *suite) {
	t.Helper()
	if !claims[Optional](s) {
		t.Skipf("the driver is not a %s", reflect.TypeFor[Optional]())
	}
}

func claims[Optional any](s *suite) bool {
	_, host := hypervisor.As[Optional](s.HostType)
	_, driver := hypervisor.As[Optional](s.Config.Driver)
	return host || driver
}

// as returns a host or a driver as an optional interface, and fails if it does
// not have the one that the driver claims.
func as[Optional any](t *testing.T, v any) Optional {
	t.Helper()
	optional, ok := hypervisor.As[Optional](v)
	if !ok {
		t.Fatalf("%T is not a %s, although the driver claims it", v, reflect.TypeFor[Optional]())
	}
	return optional
}

// hook skips a case for which the Config has no hook.
func hook(t *testing.T, name string, there bool) {
	t.Helper()
	if !there {
		t.Skipf("no hook %s", name)
	}
}

// open opens a host and closes it at the end of the test.
func (s *suite) open(t *testing.T, target endpoint.Target) hypervisor.Host {
	t.Helper()
	host, err := s.driver.Open(t.Context(), target)
	if err != nil {
		t.Fatal("opening the host:", err)
	}
	t.Cleanup(func() {
		if err := host.Close(); err != nil {
			t.Error("closing the host:", err)
		}
	})
	return host
}

// described returns the driver's description of itself.
func (s *suite) described(t *testing.T) hypervisor.Info {
	t.Helper()
	info, err := hypervisor.Describe(t.Context(), s.driver)
	if err != nil {
		t.Fatal("reading the info:", err)
	}
	return info
}

// kinds returns the kinds of guests that can be made.
func (s *suite) kinds() []hypervisor.GuestKind {
	if s.Kinds == nil {
		return []hypervisor.GuestKind{hypervisor.VM, hypervisor.Container}
	}
	return s.Kinds
}

// kind returns the kind of guest for cases that work with any.
func (s *suite) kind() hypervisor.GuestKind { return s.kinds()[0] }

// made skips a case for a kind of guest that cannot be made.
func (s *suite) made(t *testing.T, kind hypervisor.GuestKind) {
	t.Helper()
	if !slices.Contains(s.kinds(), kind) {
		t.Skipf("no %s can be created here", kind)
	}
}

// wrong returns a target whose credential the endpoint does not know.
func (s *suite) wrong(t *testing.T, capability endpoint.Capability) endpoint.Target {
	t.Helper()
	if s.Wrong != nil {
		return s.Wrong(t, capability)
	}
	target := s.Target(t, capability)
	target.Credential.Secret = "00000000-dead-beef-0000-000000000000"
	return target
}

// host opens the working target of a capability.
func (s *suite) host(t *testing.T, capability endpoint.Capability) hypervisor.Host {
	t.Helper()
	return s.open(t, s.Target(t, capability))
}
