package lxdtest_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/internal/waittest"
	"github.com/hostler/hostler/plugins/lxd/lxdapi"
	"github.com/hostler/hostler/plugins/lxd/lxdtest"
)

func TestMain(m *testing.M) { lxdtest.Main(m) }

// patience outlives every wait of a test.
const patience = 10 * time.Minute

// heldVariable makes TestHold start a server and hold it.
const heldVariable = "HOSTLER_TEST_HOLD"

// Two servers at the same time do not disturb each other, whichever ends first.
func TestTwoServers(t *testing.T) {
	t.Parallel()
	one, other := lxdtest.New(t), lxdtest.New(t)
	if one.Address == other.Address || one.Fingerprint == other.Fingerprint {
		t.Errorf("%s and %s, %s and %s", one.Address, other.Address, one.Fingerprint, other.Fingerprint)
	}
	for _, server := range []*lxdtest.Server{one, other} {
		server.Listening(t, start(t, server))
	}
	one.Kill(t)
	other.Project(t, "alive")
	one.Start(t)
	var instance struct{ Status string }
	if err := one.Do(t.Context(), "GET", "/1.0/instances/web1", nil, &instance); err != nil || instance.Status != "Running" {
		t.Errorf("%+v, %v", instance, err)
	}
}

// The tests run apart from the machine: with a shell as the first process, without modules, without a way out.
func TestNamespaces(t *testing.T) {
	t.Parallel()
	lxdtest.Shared(t)
	if err := exec.Command("modprobe", "dummy").Run(); err == nil {
		t.Error("a module of the kernel could be loaded")
	}
	first, err := os.ReadFile("/proc/1/cmdline")
	if err != nil || !bytes.HasPrefix(first, []byte("/bin/sh\x00-c\x00")) {
		t.Errorf("process 1 is %q, %v", first, err)
	}
	routes, err := os.ReadFile("/proc/net/route")
	if err != nil {
		t.Fatal(err)
	}
	for _, route := range strings.Split(strings.TrimSpace(string(routes)), "\n")[1:] {
		if !strings.HasPrefix(route, "lxdbr") {
			t.Errorf("there is a route %s", route)
		}
	}
}

// TestHold holds a server with a container until somebody kills its process.
func TestHold(t *testing.T) {
	ready := os.Getenv(heldVariable)
	if ready == "" {
		t.Skip("part of TestNothingIsLeft")
	}
	server := lxdtest.New(t)
	start(t, server)
	if err := os.WriteFile(ready, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	time.Sleep(patience)
	t.Error("nobody has killed the process")
}

// TestNothingIsLeft kills a test program, as whoever loses patience does, and looks for what it had started.
func TestNothingIsLeft(t *testing.T) {
	t.Parallel()
	lxdtest.Shared(t) // skips
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	ready := filepath.Join(dir, "ready")
	var out bytes.Buffer
	held := exec.Command(exe, "-test.run=^TestHold$")
	held.Env = append(os.Environ(), heldVariable+"="+ready, "TMPDIR="+dir)
	held.Stdout, held.Stderr = &out, &out
	if err := held.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- held.Wait() }()
	waittest.Succeeds(t, "the program is ready", func() error {
		select {
		case err := <-ended:
			t.Fatalf("the program has ended: %v, %s", err, out.Bytes())
		default:
		}
		_, err := os.Stat(ready)
		return err
	})
	if left := of(processes(t), ready); len(left) < 3 { // the shell, the tests, LXD at least
		t.Errorf("%q belong to the program", left)
	}
	if err := held.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-ended
	waittest.Succeeds(t, "nothing is left", func() error {
		if left := of(processes(t), ready); len(left) > 0 {
			return fmt.Errorf("%q", left)
		}
		return nil
	})
}

func start(t *testing.T, server *lxdtest.Server) lxdapi.InstanceRef {
	t.Helper()
	ref := server.Container(t, "", "web1", lxdtest.Tiny)
	if err := server.Do(t.Context(), "PUT", "/1.0/instances/web1/state", map[string]string{"action": "start"}, nil); err != nil {
		t.Fatal(err)
	}
	return ref
}

type process struct {
	id          string
	command     string
	environment []byte
}

// processes lists what runs, as far as this namespace sees it.
func processes(t *testing.T) []process {
	t.Helper()
	folders, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	var all []process
	for _, folder := range folders {
		environment, err := os.ReadFile(folder + "/environ")
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !strings.Contains(err.Error(), "no such process") {
			t.Fatal(err)
		}
		command, _ := os.ReadFile(folder + "/cmdline") // one that ends at this moment has none
		all = append(all, process{filepath.Base(folder), string(command), environment})
	}
	return all
}

// of gives the commands of the processes that have the text in their environment.
func of(all []process, text string) []string {
	var found []string
	for _, p := range all {
		if bytes.Contains(p.environment, []byte(text)) {
			found = append(found, p.command)
		}
	}
	return found
}
