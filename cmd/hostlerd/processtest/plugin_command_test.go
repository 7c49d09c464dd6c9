package processtest

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/hostler/hostler/internal/programtest"
	"github.com/hostler/hostler/internal/waittest"
)

// ownPlugins is a folder with a copy of the plugin that a test may change, and the copy.
func ownPlugins(t testing.TB) (dir, file string) {
	t.Helper()
	program, err := os.ReadFile(filepath.Join(bin(t), "plugins", "hostler-plugin-pve"))
	if err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	file = filepath.Join(dir, "hostler-plugin-pve")
	if err := programtest.Write(file, program); err != nil {
		t.Fatal(err)
	}
	return dir, file
}

// change appends a byte in a new file, as an update does: the running one cannot be written to.
func change(t testing.TB, file string) {
	t.Helper()
	program, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	err = errors.Join(programtest.Write(file+".new", append(program, 'x')), os.Rename(file+".new", file))
	if err != nil {
		t.Fatal(err)
	}
}

// A program that is not the pinned one is seen, is not run, neither at a start nor as a restart, and runs once it is
// pinned anew.
func TestPluginCommands(t *testing.T) {
	t.Parallel()
	cluster := startSim(t, "--scenario", "one")
	dir, file := ownPlugins(t)
	s := startService(t, options{Env: []string{"HOSTLER_PLUGIN_DIR=" + dir}, Unready: true})
	command := func(args ...string) outcome { return run(t, s.env, "", append([]string{"plugin"}, args...)...) }
	owner := setUp(t, s)
	waittest.Succeeds(t, "the plugin runs", func() error {
		if p := pluginList(t, owner)[0]; p.State != "running" {
			return fmt.Errorf("it is %+v", p)
		}
		return nil
	})
	host := owner.enrol(t, cluster, "lab")
	sync := func() answer {
		return owner.do(t, http.MethodPost, fmt.Sprintf("/api/v1/hosts/%d/sync", host), nil)
	}
	pinned := pluginList(t, owner)[0]
	if list := command("list").succeeds(t).Out; !strings.Contains(list, pinned.Digest) || !strings.Contains(list, "hostler-plugin-pve") {
		t.Errorf("the list:\n%s", list)
	}
	if out := command("verify").succeeds(t).Out; !strings.Contains(out, "ok") {
		t.Errorf("the check: %s", out)
	}

	change(t, file)
	if o := command("verify"); o.Code == 0 || !strings.Contains(o.Out, "was pinned with "+pinned.Digest) {
		t.Errorf("a changed program passes: %d %s%s", o.Code, o.Out, o.Err)
	}
	// The list tells this instance's own process, so that nobody has to kill by a name that others have too.
	running := pluginsOf(t, s)
	for _, p := range pluginList(t, owner) {
		if p.PID == nil || !slices.Contains(running, *p.PID) {
			t.Fatalf("the list says process %v of %v: %+v", p.PID, running, p)
		}
		_ = syscall.Kill(*p.PID, syscall.SIGKILL)
	}
	refused := func(when string) {
		t.Helper()
		waittest.Succeeds(t, "the changed program is refused "+when, func() error {
			if p := pluginList(t, owner)[0]; p.State != "failed" || !strings.Contains(p.Error, "not the one that was pinned") || p.PID != nil {
				return fmt.Errorf("it is %+v", p)
			}
			return nil
		})
		if left := pluginsOf(t, s); len(left) > 0 {
			t.Errorf("%d processes of it run %s", len(left), when)
		}
		if a := sync(); a.Status != http.StatusServiceUnavailable || a.problem() != "plugin_unavailable" {
			t.Errorf("a call %s: %d %s", when, a.Status, a.Body)
		}
		owner.must(t, http.StatusServiceUnavailable, http.MethodGet, "/readyz", nil, nil)
	}
	refused("as a restart")
	s.kill()
	s.start(t)
	refused("at a start")

	if out := command("pin", "hostler-plugin-pve").succeeds(t).Out; !strings.Contains(out, "is pinned: ") ||
		strings.Contains(out, pinned.Digest) {
		t.Errorf("pinning says %s", out)
	}
	command("verify").succeeds(t)
	if row := audited(t, owner, "plugin.pin"); row.ActorEmail != "command line" || row.Result != "ok" {
		t.Errorf("the audit row: %+v", row)
	}
	s.stop(t)
	s.start(t)
	owner.answered(t, http.MethodPost, fmt.Sprintf("/api/v1/hosts/%d/sync", host))
}

func TestPluginPinRefusals(t *testing.T) {
	t.Parallel()
	dir, file := ownPlugins(t)
	s := startService(t, options{Env: []string{"HOSTLER_PLUGIN_DIR=" + dir}})
	pin := func(file string) outcome { return run(t, s.env, "", "plugin", "pin", file) }
	if err := programtest.Write(filepath.Join(dir, "hostler-plugin-sh"), []byte("#!/bin/sh\necho hello\n")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/bin/sh", filepath.Join(dir, "hostler-plugin-link")); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.WriteFile(filepath.Join(dir, "hostler-plugin-open"), []byte("x"), 0o777),
		os.Chmod(filepath.Join(dir, "hostler-plugin-open"), 0o777)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{
		"hostler-plugin-none", "../hostler-plugin-pve", "..", "", "sh", "/bin/sh", file + "/", "hostler-plugin-sh", "hostler-plugin-link",
		"hostler-plugin-open",
	} {
		if o := pin(name); o.Code == 0 || !strings.Contains(o.Err, "pinning ") {
			t.Errorf("pinning %q: %d %s%s", name, o.Code, o.Out, o.Err)
		}
	}
	run(t, s.env, "", "plugin", "pin").fails(t, "arg")
	if list := run(t, s.env, "", "plugin", "list").succeeds(t).Out; !strings.Contains(list, "hostler-plugin-sh") ||
		!strings.Contains(list, "not pinned") {
		t.Errorf("the list:\n%s", list)
	}
	run(t, s.env, "", "plugin", "verify").succeeds(t)
}
