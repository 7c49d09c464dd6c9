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
	// Driver and HostType are the same as in hypervisor.Service: the driver,
	// and a nil pointer of the type of its hosts, whose optional interfaces are
	// the driver's abilities. Required.
	Driver   hypervisor.Driver
	HostType hypervisor.Host
	// Target returns a working target with a pinned certificate and a
	// credential with exactly the privileges of the capability. It may return
	// the same target each time. The suite calls it for every capability of
	// Info. An endpoint on loopback needs AllowLocal. Required.
	Target func(t testing.TB, capability endpoint.Capability) endpoint.Target
	// Patience limits each wait of the suite; zero means two minutes. It is not
	// a target for speed.
	Patience time.Duration

	// Kinds are the kinds of guests that the hooks can create; nil means both.
	// If one is missing, because the machine cannot run it or the hypervisor
	// has none, cases that need any guest use the other kind.
	Kinds []hypervisor.GuestKind
	// NewGuest creates a guest that is running or stopped and returns its
	// reference, with the UID if the hypervisor has UIDs. The guest has at
	// least one disk and one NIC. Creating it may leave tasks in its history.
	NewGuest func(t testing.TB, kind hypervisor.GuestKind, status string) hypervisor.GuestRef
	// SnapshotGuest is NewGuest for a guest whose disks support snapshots.
	SnapshotGuest func(t testing.TB, kind hypervisor.GuestKind, status string) hypervisor.GuestRef
	// Rename gives a guest another ID, on hypervisors where the ID is a name
	// that can change, and returns the new reference.
	Rename func(t testing.TB, ref hypervisor.GuestRef) hypervisor.GuestRef
	// Guests lists all guests that an inventory must contain now. It may list
	// more while other cases create guests: the suite only requires guests that
	// were listed both before and after the inventory. There should be more
	// than fit on one page.
	Guests func(t testing.TB) []hypervisor.GuestRef
	// Lacking returns a target whose token lacks privileges that the capability
	// needs, and their names. For Lifecycle it must be one that acting on a
	// guest needs, for Monitoring one that reading a node needs.
	Lacking func(t testing.TB, capability endpoint.Capability) (target endpoint.Target, missing []string)
	// Exceeding returns a target whose token has privileges that the capability
	// does not need, and their names.
	Exceeding func(t testing.TB, capability endpoint.Capability) (target endpoint.Target, extra []string)
	// Wrong returns a target whose credential the endpoint does not know. If
	// nil, the suite uses the target of Target with another secret.
	Wrong func(t testing.TB, capability endpoint.Capability) endpoint.Target
	// NewCode creates a one-time code that gives access to the endpoint of
	// Target for a capability. It expires after valid; a negative duration
	// means that it has expired.
	NewCode func(t testing.TB, capability endpoint.Capability, valid time.Duration) plugin.Secret
	// RoleOutput returns what the script of RoleScript prints when it creates
	// the credentials of some capabilities and finds those of others. Nil skips
	// the cases that read an output.
	RoleOutput func(t testing.TB, made, kept []endpoint.Capability) plugin.Secret
	// RunningTask starts a task that runs until it is stopped and has at least
	// one line of log.
	RunningTask func(t testing.TB) (taskID string)
	// EndedTask returns a task that succeeded, with at least five lines of log.
	EndedTask func(t testing.TB) (taskID string)
	// FailedTask returns a task that failed and whose error the hypervisor
	// knows.
	FailedTask func(t testing.TB) (taskID string)
	// LostTask returns a task that ended without the hypervisor knowing how,
	// for example because its process was killed.
	LostTask func(t testing.TB) (taskID string)
	// ForgetsTasks allows the hypervisor's list of tasks to lack one that has
	// just ended. Cases that look for a task there are skipped if the list
	// reports that it is not complete for any time.
	ForgetsTasks bool
	// Alike reports that the hypervisor cannot limit a credential to a
	// capability, so every credential may do everything. Cases that expect a
	// refusal are skipped.
	Alike bool
	// NoUptime reports that the hypervisor does not know how long a node has
	// been running.
	NoUptime bool
	// VM returns the specification of a VM that can be created here, without
	// ID, Name and Mark. Nil skips the cases that create one.
	VM func(t testing.TB) hypervisor.VMSpec
	// BackupStorage names a storage for backups that every node can use. If
	// empty, the cases of backups are skipped.
	BackupStorage string
	// LeaveOut adds a volume to a stopped guest that its configuration excludes
	// from backups, and returns the key of the volume. Nil skips these cases.
	LeaveOut func(t testing.TB, ref hypervisor.GuestRef) (key string)
	// FileStorage names a storage that keeps backups as files and that every
	// node can use. If empty, these cases are skipped.
	FileStorage string
	// BackupMachine returns a target like that of NodeLogin for the machine
	// that has the files of FileStorage. Nil skips the case that copies a file
	// there.
	BackupMachine func(t testing.TB) endpoint.Target
	// UploadStorage names a storage for installation images that every node can
	// use. If empty, the cases of uploads are skipped.
	UploadStorage string
	// NewStorage returns the specification of a storage that can be attached
	// and that no other case uses. Its settings contain a secret of at least 8
	// bytes. more is another text setting of its type that can be cleared. Nil
	// skips these cases.
	NewStorage func(t testing.TB) (spec hypervisor.StorageSpec, more hypervisor.StorageSetting)
	// Download returns a file that the hypervisor can fetch, under a name that
	// no other case uses. The hypervisor can fetch its templates to the same
	// storage. Nil skips these cases.
	Download func(t testing.TB) hypervisor.DownloadSpec
	// Terminals returns consoles of running guests and of nodes that respond to
	// typed text. The first one may be opened several times at once. Nil skips
	// the cases that type.
	Terminals func(t testing.TB) []Terminal
	// Screen returns a running guest whose graphical console shows a picture
	// with more than one color. Nil skips that case.
	Screen func(t testing.TB) hypervisor.GuestRef
	// Reboots returns the targets of a separate endpoint and a node there that
	// may be rebooted. It must be separate, because other cases run at the same
	// time. Nil skips that case.
	Reboots func(t testing.TB) (target func(capability endpoint.Capability) endpoint.Target, node string)
	// NodeLogin returns a target whose credential is an SSH key for a machine,
	// with its host key pinned. The machine has sh, cat, env, printf, true,
	// false, sleep and rm, and a folder /tmp, and may be changed. Nil skips the
	// cases that log in.
	NodeLogin func(t testing.TB) endpoint.Target
	// Inside returns a machine with containers. Nil skips the cases that run
	// programs in containers.
	Inside func(t testing.TB) Inside
	// LockedGuest creates a guest that refuses actions because of a lock.
	LockedGuest func(t testing.TB) hypervisor.GuestRef
}

// Run runs the suite as subtests of t: once with the driver itself ("direct")
// and once through gRPC ("grpc"). All cases run in parallel, in both runs at
// once; the hooks must allow that. Limit the parallelism with -parallel if the
// hypervisor is small.
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

// Remote serves a driver over gRPC on loopback until the end of the test and
// returns its client. It uses the same server as plugin.Serve, but no separate
// process and no plugin handshake.
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

// suite is one run of all cases, with the driver itself or with its gRPC
// client.
type suite struct {
	Config
	driver hypervisor.Driver
}

// group runs the cases of one interface as a parallel subtest.
func (s *suite) group(t *testing.T, name string, cases func(*testing.T)) {
	t.Run(name, func(t *testing.T) {
		t.Parallel()
		cases(t)
	})
}

// run runs one case as a parallel subtest. Its context ends after Patience, so
// a driver that ignores its context makes the case hang until the test's
// timeout.
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

// claims reports whether the driver or its hosts have an optional interface. A
// client over gRPC implements all of them, so the answer comes from the Config.
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
