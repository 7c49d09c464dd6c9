package processtest

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/internal/programtest"
	"github.com/hostler/hostler/internal/waittest"
)

// nobody is a user without rights.
const nobody = 65534

// installedTree is a tree of programs as an installed release has it, for all to pass through.
func installedTree(t testing.TB) (hostlerd, plugins string) {
	t.Helper()
	dir := t.TempDir()
	plugins = filepath.Join(dir, "bin", "plugins")
	hostlerd = filepath.Join(dir, "bin", "hostlerd")
	err := errors.Join(os.Chmod(filepath.Dir(dir), 0o755), os.Chmod(dir, 0o755), os.MkdirAll(plugins, 0o755))
	for from, to := range map[string]string{"hostlerd": hostlerd,
		"plugins/hostler-plugin-pve": filepath.Join(plugins, "hostler-plugin-pve")} {
		program, readErr := os.ReadFile(filepath.Join(bin(t), from))
		err = errors.Join(err, readErr, programtest.Write(to, program))
	}
	if err != nil {
		t.Fatal(err)
	}
	return hostlerd, plugins
}

// The service's user may not be able to replace a plugin where that is asked for; root's plugins run.
func TestRefuseWritablePlugins(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can install for another user")
	}
	hostlerd, plugins := installedTree(t)
	state := filepath.Join(filepath.Dir(filepath.Dir(hostlerd)), "state")
	env := append(environment(t, dbtest.Public(t, dbtest.URL(t)), state), "HOSTLER_PLUGIN_DIR=", "HOSTLER_REFUSE_WRITABLE_PLUGINS=1",
		"HOME=/")
	pin := func(env []string) outcome {
		t.Helper()
		var out, errs bytes.Buffer
		cmd := exec.Command(hostlerd, "plugin", "pin", "hostler-plugin-pve")
		cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = env, "/", &out, &errs
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
		if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
			t.Fatal(err)
		}
		return outcome{out.String(), errs.String(), cmd.ProcessState.ExitCode()}
	}
	pin(env).succeeds(t) // this starts the plugin
	program := filepath.Join(plugins, "hostler-plugin-pve")
	for name, c := range map[string]struct {
		path string
		uid  int
		mode os.FileMode
		who  string
	}{
		"its folder":            {plugins, nobody, 0o755, "the service's own user"},
		"the program":           {program, nobody, 0o755, "the service's own user"},
		"a folder above":        {filepath.Dir(plugins), nobody, 0o755, "the service's own user"},
		"its folder, its group": {plugins, 0, 0o775, "the service's own user or its group"},
		"its folder, everybody": {plugins, 0, 0o777, "others"},
	} {
		if err := errors.Join(os.Chown(c.path, c.uid, 0), os.Chmod(c.path, c.mode)); err != nil {
			t.Fatal(err)
		}
		out := pin(env)
		out.fails(t, c.path+" can be written to by "+c.who, "chown root", "chmod go-w")
		if t.Failed() {
			t.Fatalf("%s: %s", name, out.Err)
		}
		if err := errors.Join(os.Chown(c.path, 0, 0), os.Chmod(c.path, 0o755)); err != nil {
			t.Fatal(err)
		}
	}
	pin(env).succeeds(t)
	if err := os.Chown(plugins, nobody, nobody); err != nil {
		t.Fatal(err)
	}
	// Without the flag it is a warning.
	if out := pin(append(env, "HOSTLER_REFUSE_WRITABLE_PLUGINS=")).succeeds(t); !strings.Contains(out.Err, "can replace a plugin") {
		t.Errorf("it warns of nothing: %s", out.Err)
	}
}

// The running service refuses as the commands do, says why in its log, and that it is not ready.
func TestRefuseWritablePluginsServing(t *testing.T) {
	t.Parallel()
	dir, _ := ownPlugins(t)
	if err := os.Chmod(dir, 0o775); err != nil {
		t.Fatal(err)
	}
	s := startService(t, options{Env: []string{"HOSTLER_PLUGIN_DIR=" + dir}, Args: []string{"--refuse-writable-plugins"}, Unready: true})
	waittest.Succeeds(t, "the log says why", func() error { // it answers before it has tried its plugins
		if log := s.Log.String(); !strings.Contains(log, "can be written to by") || !strings.Contains(log, "chmod go-w") {
			return fmt.Errorf("the log is %s", log)
		}
		return nil
	})
	if a := newClient(s).do(t, http.MethodGet, "/readyz", nil); a.Status != http.StatusServiceUnavailable {
		t.Errorf("it is ready: %s", a.Body)
	}
}
