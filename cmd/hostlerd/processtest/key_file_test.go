package processtest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/internal/waittest"
)

// The key file is made before there is a database, once, and never anew.
func TestKeysCreate(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "etc", "keys", "the.key")
	env := append(environment(t, "postgres://nobody@127.0.0.1:1/none", t.TempDir()), "HOSTLER_KEY_FILE="+file)
	if out := run(t, env, "", "keys", "create").succeeds(t).Out; !strings.Contains(out, "Created key ") || !strings.Contains(out, file) {
		t.Errorf("it says %q", out)
	}
	before, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if out := run(t, env, "", "keys", "create").succeeds(t).Out; !strings.Contains(out, file+" already exists") {
		t.Errorf("it says %q", out)
	}
	if after, err := os.ReadFile(file); err != nil || string(after) != string(before) {
		t.Errorf("the key file was changed: %v", err)
	}
	run(t, env, "", "keys", "create", "--key-file", "/sys/secret.key").fails(t, "the key file cannot be written", "/sys/secret.key")

	state := t.TempDir()
	run(t, environment(t, "", state), "", "keys", "create").succeeds(t)
	if _, err := os.Stat(filepath.Join(state, "keys", "secret.key")); err != nil {
		t.Errorf("the usual place: %v", err)
	}
}

// installed is a service that has its key as systemd hands it out.
type installed struct {
	*service
	// file is the key file, and credentials the folder of its copy.
	file, credentials string
	// commands is the environment of commands on the key file itself.
	commands []string
}

// hand copies the key file as systemd does at the start of a unit.
func (i *installed) hand(t testing.TB) {
	t.Helper()
	text, err := os.ReadFile(i.file)
	if err != nil {
		t.Fatal(err)
	}
	into := filepath.Join(i.credentials, "secret.key")
	if err := errors.Join(os.RemoveAll(i.credentials), os.Mkdir(i.credentials, 0o700), os.WriteFile(into, text, 0o400),
		os.Chmod(i.credentials, 0o500)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(i.credentials, 0o700) })
}

func install(t testing.TB) *installed {
	t.Helper()
	i := &installed{file: filepath.Join(t.TempDir(), "keys", "secret.key"), credentials: filepath.Join(t.TempDir(), "hostler.service")}
	database, state := dbtest.EmptyURL(t), t.TempDir()
	i.commands = append(environment(t, database, state), "HOSTLER_KEY_FILE="+i.file)
	run(t, i.commands, "", "keys", "create").succeeds(t)
	i.hand(t)
	i.service = startService(t, options{DB: database, State: state, Env: []string{"CREDENTIALS_DIRECTORY=" + i.credentials}})
	return i
}

// A service has its key as a credential. The key is rotated on the file itself while the service is down; a rotation that is
// killed leaves a file with which the service starts, and the next one finishes it.
func TestKeyIsCredential(t *testing.T) {
	t.Parallel()
	cluster := startSim(t, "--scenario", "one")
	i := install(t)
	if _, err := os.Stat(filepath.Join(i.State, "keys")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a second key was made: %v", err)
	}
	owner := setUp(t, i.service)
	host := owner.enrol(t, cluster, "lab", "lifecycle", "console")
	sync := func() {
		t.Helper()
		owner.must(t, http.StatusOK, http.MethodPost, fmt.Sprintf("/api/v1/hosts/%d/sync", host), nil, nil)
	}
	run(t, i.env, "", "keys", "rotate").fails(t, i.credentials, "systemd credential", "stop the service", "--key-file")
	before, err := os.ReadFile(i.file)
	if err != nil {
		t.Fatal(err)
	}
	run(t, i.commands, "", "keys", "rotate").fails(t, "copy of the key file", "stop it")
	if after, err := os.ReadFile(i.file); err != nil || string(after) != string(before) {
		t.Errorf("the key was rotated beside a service with a copy of it: %v", err)
	}
	sync()
	i.stop(t)

	d := dbtest.Open(t, i.DB)
	held, err := d.Pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := held.Exec(t.Context(), "SELECT FROM host_credentials ORDER BY id LIMIT 1 FOR UPDATE"); err != nil {
		t.Fatal(err)
	}
	rotation := exec.Command(filepath.Join(bin(t), "hostlerd"), "keys", "rotate")
	rotation.Env = i.commands
	if err := rotation.Start(); err != nil {
		t.Fatal(err)
	}
	waittest.Succeeds(t, "the rotation waits for the last value", func() error {
		var waiting, anew int
		err := d.Pool.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()
			AND wait_event_type = 'Lock'),
			(SELECT count(DISTINCT substring(secret FROM 1 FOR 5)) FROM host_credentials)`).Scan(&waiting, &anew)
		if err == nil && (waiting == 0 || anew != 2) {
			err = fmt.Errorf("%d wait, values are under %d keys", waiting, anew)
		}
		return err
	})
	_ = rotation.Process.Kill()
	_ = rotation.Wait()
	if err := held.Rollback(context.WithoutCancel(t.Context())); err != nil {
		t.Fatal(err)
	}

	i.hand(t)
	i.start(t)
	sync()
	i.stop(t)
	if out := run(t, i.commands, "", "keys", "rotate").succeeds(t); !strings.Contains(out.Out, i.file) ||
		!strings.Contains(out.Err, `"resumed":true`) {
		t.Errorf("it says %q, %q", out.Out, out.Err)
	}
	run(t, i.commands, "", "keys", "rotate").succeeds(t)
	i.hand(t)
	i.start(t)
	sync()
	i.stop(t)

	// The copy went missing: nothing is made in its place beside sealed secrets.
	if err := errors.Join(os.Chmod(i.credentials, 0o700), os.Remove(filepath.Join(i.credentials, "secret.key"))); err != nil {
		t.Fatal(err)
	}
	run(t, i.env, "", "serve").fails(t, "the key file is missing", filepath.Join(i.State, "keys", "secret.key"), "--key-file")
}
