package plugin_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/hostler/hostler/core/plugin"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/internal/waittest"
	"github.com/hostler/hostler/sdk/hypervisor"
	sdk "github.com/hostler/hostler/sdk/plugin"
)

func TestRunning(t *testing.T) {
	t.Parallel()
	b := running(t, nil)
	s := b.status(t)
	if s.Kind != "hypervisor" || s.Name != "mem" || s.Version != "1.0.0" || s.PID == 0 || len(s.SHA256) != 64 || s.Restarts != 0 {
		t.Errorf("status is %+v", s)
	}
	want := []string{"lifecycle", "task_stop", "node_read", "peer_list", "member_read", "node_power", "hardware_read", "snapshot",
		"provision", "clone", "creation_check", "config_read", "reconfigure", "disk_add", "drive_change", "nic_edit", "nic_add", "backup",
		"backup_read", "backup_file", "migrate", "content_list", "volume_delete", "storage_manage",
		"content_fetch", "network_manage", "upload", "console", "node_execute", "guest_execute",
		"socket_list", "role_script", "role_output", "certificate_read"}
	if !slices.Equal(s.Abilities, want) {
		t.Errorf("abilities are %v, want %v", s.Abilities, want)
	}
	host := b.host(t, "2-nodes.700-vms.mem:8006")
	if _, ok := hypervisor.As[hypervisor.LifecycleManager](host); !ok {
		t.Error("the host is no lifecycler")
	}
	guests := 0
	err := host.Inventory(t.Context(), hypervisor.InventoryQuery{}, func(page hypervisor.Page) error {
		guests += len(page.Guests)
		return nil
	})
	if err != nil || guests != 700 {
		t.Errorf("%d guests, error %v, want 700", guests, err)
	}
	enough := errors.New("enough")
	if err := host.Inventory(t.Context(), hypervisor.InventoryQuery{}, func(hypervisor.Page) error { return enough }); !errors.Is(err,
		enough) {
		t.Errorf("error is %v, want the page's own", err)
	}
	if _, err := host.Guest(t.Context(), hypervisor.GuestRef{ID: "1"}); sdk.KindOf(err) != sdk.NotFound {
		t.Errorf("error is %v, want not found", err)
	}
	if after := b.status(t); after.PID != s.PID || after.Restarts != 0 {
		t.Errorf("status is %+v: calls that ended as they should started the plugin again", after)
	}
}

func TestKilledInMidCall(t *testing.T) {
	t.Parallel()
	b := running(t, func(cfg *plugin.Config) {
		cfg.StableTime = time.Nanosecond // each death is the first one
		cfg.CallWait = time.Hour         // a call that made use of it would not end in the time of this test
	})
	before := b.status(t)
	for round := range 3 {
		failed := blockedCall(t, b)
		pid := b.status(t).PID
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal("killing the plugin:", err)
		}
		var err error
		select {
		case err = <-failed:
		case <-time.After(3 * time.Minute):
			t.Fatal("the call waits for the next process")
		}
		if !errors.Is(err, sdk.ErrGone) || problem.CodeOf(plugin.Problem(err)) != problem.CodePluginUnavailable {
			t.Errorf("error is %v, want one of a plugin that is gone", err)
		}
		if _, err := b.host(t, "fine.mem:8006").Version(t.Context()); err != nil {
			t.Fatalf("round %d: the next call fails: %v", round, err)
		}
	}
	after := b.status(t)
	if after.Restarts != 3 || after.PID == before.PID || after.Error == "" {
		t.Errorf("status is %+v, want three restarts and the reason", after)
	}
}

// blockedCall begins a call that does not end by itself, and returns when the plugin is in the middle of it.
func blockedCall(t *testing.T, b *fixture) (failed <-chan error) {
	t.Helper()
	host := b.host(t, "lateblock-inventory.mem:8006")
	begun, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- host.Inventory(t.Context(), hypervisor.InventoryQuery{}, func(page hypervisor.Page) error {
			close(begun)
			return nil
		})
	}()
	select {
	case <-begun:
	case err := <-ended:
		t.Fatal("the call did not block:", err)
	}
	return ended
}

func TestManyCallersAtTheDeath(t *testing.T) {
	if testing.Short() {
		t.Skip("kills a plugin: make check runs it")
	}
	t.Parallel()
	b := running(t, func(cfg *plugin.Config) { cfg.StableTime = time.Nanosecond })
	for range 5 {
		var callers sync.WaitGroup
		failed := blockedCall(t, b)
		pid := b.status(t).PID
		for range 8 {
			callers.Go(func() {
				for range 20 {
					_, err := b.host(t, "fine.mem:8006").Version(t.Context())
					if err != nil && !errors.Is(err, sdk.ErrGone) {
						t.Errorf("error is %v, want none or ErrGone", err)
					}
				}
			})
		}
		_ = syscall.Kill(pid, syscall.SIGKILL)
		callers.Wait()
		if err := <-failed; !errors.Is(err, sdk.ErrGone) {
			t.Errorf("error is %v, want ErrGone", err)
		}
		if _, err := b.host(t, "fine.mem:8006").Version(t.Context()); err != nil {
			t.Error("the call after all of that fails:", err)
		}
	}
	// Each death counts once, however many calls found it.
	if s := b.status(t); s.Restarts != 5 {
		t.Errorf("status is %+v, want five restarts", s)
	}
}

func TestDyingInMidStream(t *testing.T) {
	t.Parallel()
	b := running(t, nil)
	host := b.host(t, "500-vms.lateexit-inventory.mem:8006")
	err := host.Inventory(t.Context(), hypervisor.InventoryQuery{}, func(hypervisor.Page) error { return nil })
	if !errors.Is(err, sdk.ErrGone) {
		t.Errorf("error is %v, want ErrGone", err)
	}
	// The same host, which knows nothing of the death, works with the new process.
	if _, err := host.Version(t.Context()); err != nil {
		t.Error("the next call fails:", err)
	}
}

func TestDriverPanics(t *testing.T) {
	t.Parallel()
	b := running(t, nil)
	_, err := b.host(t, "panic-version.mem:8006").Version(t.Context())
	if sdk.KindOf(err) != sdk.Internal || !strings.Contains(err.Error(), "panicked") {
		t.Errorf("error is %v, want an internal one that tells of the panic", err)
	}
	if s := b.status(t); s.Restarts != 0 || s.State != plugin.Running {
		t.Errorf("status is %+v: a panic in a driver must not end the process", s)
	}
}

func TestCallersOwnEnd(t *testing.T) {
	t.Parallel()
	b := running(t, nil)
	host := b.host(t, "block-any.mem:8006")
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := host.Version(ctx)
	if !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, sdk.ErrGone) {
		t.Errorf("error is %v, want the caller's deadline", err)
	}
	if problem.CodeOf(plugin.Problem(err)) != problem.CodeTimeout {
		t.Errorf("problem is %v, want a timeout", plugin.Problem(err))
	}
	ctx, cancel = context.WithCancel(t.Context())
	cancel()
	if _, err = host.Version(ctx); !errors.Is(err, context.Canceled) || errors.Is(err, sdk.ErrGone) {
		t.Errorf("error is %v, want the caller's cancellation", err)
	}
	if s := b.status(t); s.Restarts != 0 {
		t.Errorf("status is %+v: the caller's end restarted the plugin", s)
	}
}

func TestNoSignOfLife(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for a plugin that does not respond: make check runs it")
	}
	t.Parallel()
	b := running(t, func(cfg *plugin.Config) {
		cfg.PingInterval, cfg.PingTimeout = 50*time.Millisecond, 10*time.Second
	})
	before := b.status(t).PID
	if err := syscall.Kill(before, syscall.SIGSTOP); err != nil {
		t.Fatal("stopping the plugin:", err)
	}
	waittest.Until(t, "a new process in place of the one that hangs", func() bool {
		s := b.status(t)
		return s.State == plugin.Running && s.PID != before
	})
	if alive(before) {
		t.Error("the process that hung is still there")
	}
}

func TestBackOff(t *testing.T) {
	t.Parallel()
	b := running(t, func(cfg *plugin.Config) {
		cfg.MinBackoff, cfg.MaxBackoff, cfg.CallWait = time.Hour, time.Hour, time.Hour
	})
	// The first death is answered at once, the second waits.
	exit := b.host(t, "exit-version.mem:8006")
	for range 2 {
		if _, err := exit.Version(t.Context()); !errors.Is(err, sdk.ErrGone) {
			t.Fatalf("error is %v, want ErrGone", err)
		}
	}
	waittest.Until(t, "backing off", func() bool { return b.status(t).State == plugin.BackingOff })
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	if _, err := b.host(t, "fine.mem:8006").Version(ctx); !errors.Is(err, sdk.ErrGone) {
		t.Errorf("error is %v, want ErrGone at once", err)
	}
	if s := b.status(t); s.Restarts != 1 || s.PID != 0 || s.Abilities != nil {
		t.Errorf("status is %+v, want one restart and no process", s)
	}
}

func TestStop(t *testing.T) {
	t.Parallel()
	b := running(t, nil)
	pid := b.status(t).PID
	failed := blockedCall(t, b)
	b.Stop()
	if alive(pid) {
		t.Error("the process is still there")
	}
	if err := <-failed; !errors.Is(err, sdk.ErrGone) {
		t.Errorf("the call under way fails with %v, want ErrGone", err)
	}
	if s := b.status(t); s.State != plugin.Stopped {
		t.Errorf("status is %+v, want stopped", s)
	}
	if _, err := b.Hypervisor("mem").Info(t.Context()); !errors.Is(err, sdk.ErrGone) {
		t.Errorf("error is %v, want ErrGone", err)
	}
	b.Stop() // twice is fine
}

// A stop removes the socket folders of services that died while this one ran, and those only.
func TestStopRemovesWhatOthersLeft(t *testing.T) {
	t.Parallel()
	parent, err := os.MkdirTemp("", "run") // short, as a socket's path must be
	if err != nil {
		t.Fatal("making a folder:", err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(parent) })
	b := running(t, func(cfg *plugin.Config) { cfg.RunDir = parent })
	old := time.Now().Add(-time.Hour)
	made := func(name string) (folder string, owner *os.File) {
		folder = filepath.Join(parent, "hostler-run-"+name)
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal("making a folder:", err)
		}
		path := filepath.Join(folder, "owner")
		owner, err := os.Create(path)
		if err != nil {
			t.Fatal("making a file:", err)
		}
		t.Cleanup(func() { _ = owner.Close() })
		if err := os.Chtimes(path, old, old); err != nil {
			t.Fatal("changing the time:", err)
		}
		return folder, owner
	}
	left, _ := made("left")
	live, owner := made("live")
	if err := syscall.Flock(int(owner.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		t.Fatal("locking a file:", err)
	}
	b.Stop()
	if found, err := filepath.Glob(filepath.Join(parent, "hostler-run-*")); err != nil || len(found) != 1 || found[0] != live {
		t.Errorf("after the stop there are %v (%v), want %s without %s", found, err, live, left)
	}
}

func TestStopHanging(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for a plugin that does not stop: make check runs it")
	}
	t.Parallel()
	b := running(t, func(cfg *plugin.Config) { cfg.StopTimeout = 100 * time.Millisecond })
	pid := b.status(t).PID
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal("stopping the plugin:", err)
	}
	b.Stop()
	if alive(pid) {
		t.Error("the process is still there")
	}
}

func TestReload(t *testing.T) {
	t.Parallel()
	b := running(t, nil)
	driver := b.Hypervisor("mem")
	pid := b.status(t).PID
	if err := b.Reload(t.Context()); err != nil {
		t.Fatal("reloading:", err)
	}
	if got := b.status(t).PID; got != pid {
		t.Error("a reload without a change started the plugin again")
	}
	pin, err := b.pins.Get(t.Context(), "hypervisor", "mem")
	if err != nil {
		t.Fatal("reading the pin:", err)
	}
	pin.Enabled = false
	for _, step := range []struct {
		enabled bool
		state   plugin.State
	}{{false, plugin.Stopped}, {true, plugin.Running}} {
		pin.Enabled = step.enabled
		_ = b.pins.Put(t.Context(), pin)
		if err := b.Reload(t.Context()); err != nil {
			t.Fatal("reloading:", err)
		}
		if s := b.status(t); s.State != step.state {
			t.Errorf("enabled %v: status is %+v, want %s", step.enabled, s, step.state)
		}
		if _, err := driver.Info(t.Context()); (err == nil) != step.enabled {
			t.Errorf("enabled %v: the driver answers with %v", step.enabled, err)
		}
	}
	if alive(pid) {
		t.Error("the first process is still there")
	}
}

func TestUnknownPlugin(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	_, err := b.Hypervisor("nobody").Info(t.Context())
	if !errors.Is(err, sdk.ErrGone) || problem.CodeOf(plugin.Problem(err)) != problem.CodePluginUnavailable {
		t.Errorf("error is %v, want ErrGone", err)
	}
}
