package processtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/core/db/dbtest"
)

// outcome is how a command ended.
type outcome struct {
	Out, Err string
	Code     int
}

// run runs hostlerd with this environment and standard input until it ends by itself.
func run(t testing.TB, env []string, stdin string, args ...string) outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(bin(t), "hostlerd"), args...)
	cmd.Env = env
	cmd.Stdin = strings.NewReader(stdin)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) || ctx.Err() != nil {
		t.Fatalf("hostlerd %s: %v: %s", strings.Join(args, " "), err, errs.String())
	}
	return outcome{out.String(), errs.String(), cmd.ProcessState.ExitCode()}
}

// succeeds fails the test when the command did not.
func (o outcome) succeeds(t testing.TB) outcome {
	t.Helper()
	if o.Code != 0 {
		t.Fatalf("it ended with %d: %s%s", o.Code, o.Out, o.Err)
	}
	return o
}

// fails expects that the command fails and that its message has all these pieces.
func (o outcome) fails(t testing.TB, pieces ...string) {
	t.Helper()
	if o.Code == 0 {
		t.Errorf("it succeeded: %s%s", o.Out, o.Err)
	}
	for _, piece := range pieces {
		if !strings.Contains(o.Err, piece) {
			t.Errorf("the message lacks %q: %s", piece, o.Err)
		}
	}
}

func TestVersion(t *testing.T) {
	t.Parallel()
	// A bad configuration does not keep anyone from learning the version.
	o := run(t, []string{"HOSTLER_LISTEN=nonsense"}, "", "version").succeeds(t)
	if o.Out != "dev\n" || o.Err != "" {
		t.Errorf("%q %q", o.Out, o.Err)
	}
}

func TestUnknownCommands(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"frobnicate"}, {"keys", "frobnicate"}, {"plugin", "frobnicate"}, {"owner", "frobnicate"}, {"serve", "frobnicate"},
		{"migrate", "frobnicate"},
	} {
		run(t, environment(t, dbtest.EmptyURL(t), t.TempDir()), "", args...).fails(t, "frobnicate")
	}
	run(t, nil, "", "serve", "--frobnicate").fails(t, "--frobnicate")
	for _, args := range [][]string{{}, {"keys"}, {"--help"}, {"help", "owner"}} {
		if o := run(t, []string{"HOSTLER_STATE_DIR=" + t.TempDir()}, "", args...).succeeds(t); !strings.Contains(o.Out, "Usage:") {
			t.Errorf("%v prints %q", args, o.Out)
		}
	}
}

func TestBadConfiguration(t *testing.T) {
	t.Parallel()
	bad := []string{
		"HOSTLER_LISTEN=nonsense", "HOSTLER_LOG_LEVEL=loud", "HOSTLER_LOG_FORMAT=xml", "HOSTLER_TLS_CERT=/x.pem",
		"HOSTLER_ALLOW_LOOPBACK_HOSTS=perhaps", "HOSTLER_STATE_DIR=" + t.TempDir(),
		"HOSTLER_TRUSTED_PROXIES=10.0.0.1/8,nginx,0.0.0.0/0", "HOSTLER_BASE_URL=https://hostler.example.com/api",
	}
	all := []string{"nonsense", "loud", "xml", "tls-key", "HOSTLER_ALLOW_LOOPBACK_HOSTS", "trusted-proxies",
		"the network would be 10.0.0.0/8", `"nginx" is not an address or a network`, "includes everyone", "base-url",
		"must not start with /api"}
	run(t, bad, "", "serve").fails(t, all...)
	run(t, bad, "", "migrate").fails(t, all...)
	run(t, []string{}, "", "serve", "--state-dir", "").fails(t, "state-dir")

	// The password in a database's address is not repeated, however wrong the address is.
	for _, address := range []string{
		"postgres://u:canary-pass-3@127.0.0.1:1/x", "postgres://u:canary-pass-3@127.0.0.1:port/x",
		"host=127.0.0.1 port=1 password=canary-pass-3 user=u", "postgres://u:canary-pass-3@[::1/%zz",
	} {
		o := run(t, append(environment(t, address, t.TempDir()), "HOSTLER_LOG_LEVEL=trace"), "", "migrate")
		o.fails(t, "database")
		if strings.Contains(o.Out+o.Err, "canary-pass-3") {
			t.Errorf("the message repeats the password: %s%s", o.Out, o.Err)
		}
	}
}

// A flag wins over the environment, and the environment over the default.
func TestFlagsAndEnvironment(t *testing.T) {
	t.Parallel()
	env := append(environment(t, dbtest.EmptyURL(t), t.TempDir()), "HOSTLER_LOG_FORMAT=xml")
	run(t, env, "", "migrate").fails(t, "xml")
	run(t, env, "", "migrate", "--log-format", "text").succeeds(t)
	run(t, env, "", "--log-format=text", "migrate").succeeds(t)
	run(t, append(env, "HOSTLER_LOG_FORMAT="), "", "migrate").succeeds(t) // empty is not given

	s := startService(t, options{Env: []string{"HOSTLER_LISTEN=203.0.113.1:1", "HOSTLER_LOG_LEVEL=error"},
		Args: []string{"--listen", "127.0.0.1:0", "--log-level", "info"}})
	if !strings.HasPrefix(s.Base, "http://127.0.0.1:") {
		t.Errorf("it listens on %s", s.Base)
	}
}

func TestMigrate(t *testing.T) {
	t.Parallel()
	url := dbtest.EmptyURL(t)
	env := environment(t, url, t.TempDir())
	first := run(t, env, "", "migrate").succeeds(t)
	if again := run(t, env, "", "migrate").succeeds(t); again.Out != first.Out ||
		!strings.HasPrefix(first.Out, "The database is at version ") {
		t.Errorf("%q, then %q", first.Out, again.Out)
	}
	// A database of a later release is left alone.
	d := dbtest.Open(t, url)
	if _, err := d.Pool.Exec(t.Context(), "INSERT INTO goose_db_version (version_id, is_applied) VALUES (90001, true)"); err != nil {
		t.Fatal(err)
	}
	run(t, env, "", "migrate").fails(t, "90001", "start the release that migrated it")
	run(t, env, "", "serve").fails(t, "90001")
	run(t, env, ownerPassword, "owner", "create", "--email", ownerEmail, "--password-stdin").fails(t, "90001")
}

func TestOwnerCreate(t *testing.T) {
	t.Parallel()
	s := startService(t, options{})
	create := func(stdin string, args ...string) outcome {
		return run(t, s.env, stdin, append([]string{"owner", "create"}, args...)...)
	}
	create(ownerPassword, "--email", ownerEmail).fails(t, "--password-stdin")
	create(ownerPassword, "--password-stdin").fails(t, "email")
	create("", "--email", ownerEmail, "--password-stdin").fails(t, "no password")
	create("\n"+ownerPassword, "--email", ownerEmail, "--password-stdin").fails(t, "no password")
	create(ownerPassword, "--email", "nobody", "--password-stdin").fails(t, "email")
	for _, weak := range []string{"kq7-Short!", "password1234", ownerEmail} {
		o := create(weak, "--email", ownerEmail, "--password-stdin")
		o.fails(t)
		if strings.Contains(o.Err+o.Out, weak) && weak != ownerEmail {
			t.Errorf("the message repeats the password: %s", o.Err)
		}
	}
	create(ownerPassword, "--email", ownerEmail, "--password-stdin", ownerPassword).fails(t)

	// Beside the running service, with the line ends of several systems.
	create(ownerPassword+"\r\n", "--email", ownerEmail, "--password-stdin", "--display-name", "Ada").succeeds(t)
	create(ownerPassword, "--email", strings.ToUpper(ownerEmail), "--password-stdin").fails(t, "address")
	create(ownerPassword+"2\n", "--email", "second@example.com", "--password-stdin").succeeds(t)
	c := newClient(s)
	c.logIn(t, "second@example.com", ownerPassword+"2")
	c.logIn(t, ownerEmail, ownerPassword)
	if a := c.do(t, http.MethodGet, "/api/v1/setup", nil); a.problem() != "already_set_up" {
		t.Errorf("the setup is still open: %d %s", a.Status, a.Body)
	}
	if _, err := os.Stat(filepath.Join(s.State, "setup-token")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the setup token is still there: %v", err)
	}
	if row := audited(t, c, "owner.create"); row.Result != "ok" {
		t.Errorf("the audit row: %+v", row)
	}
}

// The commands work on a private cluster that is down, and on that of a running service.
func TestCommandsOnAPrivateCluster(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	env := environment(t, "", state)
	run(t, env, ownerPassword, "owner", "create", "--email", ownerEmail, "--password-stdin").succeeds(t)
	noPostgres(t, state)
	s := startService(t, options{DB: privateDatabase, State: state})
	run(t, env, ownerPassword, "owner", "create", "--email", "second@example.com", "--password-stdin").succeeds(t)
	run(t, env, "", "migrate").succeeds(t)
	run(t, env, "", "plugin", "verify").succeeds(t)
	run(t, env, "", "keys", "rotate").succeeds(t)
	c := newClient(s)
	c.logIn(t, ownerEmail, ownerPassword)
	c.logIn(t, "second@example.com", ownerPassword)

	// A second service finds the folder taken, says by whom, and leaves the first one alone.
	run(t, env, "", "serve").fails(t, "in use by another service", fmt.Sprint(s.cmd.Process.Pid))
	c.must(t, http.StatusOK, http.MethodGet, "/readyz", nil, nil)
	s.stop(t)
	noPostgres(t, state)
}

// noPostgres fails when a server still runs on the private cluster.
func noPostgres(t testing.TB, state string) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(state, "postgresql", "data", "postmaster.pid")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("PostgreSQL still runs: %v", err)
	}
}
