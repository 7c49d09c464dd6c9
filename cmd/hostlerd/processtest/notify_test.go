package processtest

import (
	"errors"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/hostler/hostler/cmd/hostlerd/notifytest"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/internal/waittest"
)

const opening, extending, starting = "STATUS=Opening the database", "EXTEND_TIMEOUT_USEC=60000000", "STATUS=Starting plugins"

// The service tells systemd how it fares from its start to its end, and what it starts learns nothing of systemd.
func TestNotify(t *testing.T) {
	t.Parallel()
	m := notifytest.New(t)
	key := filepath.Join(t.TempDir(), "secret.key")
	env := append(environment(t, "", t.TempDir()), "HOSTLER_KEY_FILE="+key, "CREDENTIALS_DIRECTORY="+filepath.Dir(key),
		"NOTIFY_SOCKET="+m.Path, "WATCHDOG_USEC=2000000")
	env = slices.DeleteFunc(env, func(entry string) bool { return strings.HasPrefix(entry, "HOSTLER_DATABASE_URL=") })
	run(t, env, "", "keys", "create").succeeds(t)
	cmd := exec.Command(filepath.Join(bin(t), "hostlerd"), "serve")
	var log waittest.Text
	cmd.Env, cmd.Stderr = env, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s := &service{cmd: cmd, done: make(chan struct{}), Log: &log}
	go func() {
		_ = cmd.Wait()
		close(s.done)
	}()
	t.Cleanup(s.kill)

	message := m.Expect(t, opening, extending)
	for message == extending { // once more for each ten seconds that a slow machine takes
		message = m.Next(t)
	}
	if !strings.HasPrefix(message, starting) {
		t.Fatalf("the message is %q, want %q", message, starting)
	}
	ready := m.Expect(t, "READY=1\nSTATUS=Version ")
	_, url, _ := strings.Cut(ready, "listening on ")
	resp, err := http.Get(url + "/readyz")
	if err != nil {
		t.Fatalf("ready and yet: %v", err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Errorf("ready and yet: %s", resp.Status)
	}
	children := family(t, cmd.Process.Pid)
	delete(children, cmd.Process.Pid)
	names := map[string]bool{}
	for pid, name := range children {
		names[name] = true
		text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "environ"))
		if err != nil {
			continue // it ended meanwhile, or is another user's
		}
		for _, secret := range []string{"NOTIFY_SOCKET", "WATCHDOG_", "CREDENTIALS_DIRECTORY"} {
			if strings.Contains(string(text), secret) {
				t.Errorf("%s has %s of the service's environment", name, secret)
			}
		}
	}
	if !names["hostler-plugin-"] || !names["postgres"] {
		t.Errorf("it runs %v", names)
	}
	m.Expect(t, "WATCHDOG=1", "WATCHDOG=1", "WATCHDOG=1")
	_ = cmd.Process.Signal(syscall.SIGTERM)
	for {
		message := m.Next(t)
		if message == "WATCHDOG=1" {
			continue
		}
		if message != "STOPPING=1\nSTATUS=Stopping\nWATCHDOG=1" {
			t.Errorf("the message is %q", message)
		}
		break
	}
	<-s.done
	if code := cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("it ended with %d: %s", code, log.String())
	}
}

// A start that waits for a long migration asks for more time again and again, and does not say that it is ready. Told to
// stop meanwhile, it does.
func TestNotifyWhileMigrating(t *testing.T) {
	t.Parallel()
	m := notifytest.New(t)
	url := dbtest.EmptyURL(t)
	held, err := dbtest.Open(t, url).Pool.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(held.Release)
	if _, err := held.Exec(t.Context(), "SELECT pg_advisory_lock($1)", db.LockMigrate); err != nil {
		t.Fatal(err)
	}
	begin := func() *service {
		cmd := exec.Command(filepath.Join(bin(t), "hostlerd"), "serve")
		s := &service{cmd: cmd, done: make(chan struct{}), Log: &waittest.Text{}}
		cmd.Env, cmd.Stderr = append(environment(t, url, t.TempDir()), "NOTIFY_SOCKET="+m.Path), s.Log
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		go func() {
			_ = cmd.Wait()
			close(s.done)
		}()
		t.Cleanup(s.kill)
		return s
	}
	stopped := begin()
	m.Expect(t, opening, extending)
	stopped.stop(t)
	m.Expect(t, "STOPPING=1")

	begin()
	m.Expect(t, opening, extending, extending)
	if _, err := held.Exec(t.Context(), "SELECT pg_advisory_unlock($1)", db.LockMigrate); err != nil {
		t.Fatal(err)
	}
	m.Expect(t, starting, "READY=1")
}

// With no systemd, or one that is gone, the service works all the same.
func TestNotifyNobody(t *testing.T) {
	t.Parallel()
	s := startService(t, options{Env: []string{"NOTIFY_SOCKET=" + filepath.Join(t.TempDir(), "nobody"), "WATCHDOG_USEC=100000"}})
	waittest.Succeeds(t, "the log says that systemd is away", func() error {
		if !strings.Contains(s.Log.String(), "cannot report the service's state to systemd") {
			return errors.New("it does not")
		}
		return nil
	})
	s.stop(t)
	run(t, append(slices.Clone(s.env), "WATCHDOG_USEC=soon"), "", "serve").fails(t, "watchdog")
}
