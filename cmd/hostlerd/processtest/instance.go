package processtest

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/internal/waittest"
)

// service is a running hostlerd with its log.
type service struct {
	Base  string
	State string
	DB    string
	Log   *waittest.Text

	cmd   *exec.Cmd
	done  chan struct{}
	args  []string
	env   []string
	probe string
	// program is what runs.
	program string
	// transport of all requests; nil for the usual one.
	transport http.RoundTripper
}

// privateDatabase as options.DB makes the service run its own PostgreSQL.
const privateDatabase = "private"

// options are the settings of startService. Empty fields mean a new database
// and a new state folder.
type options struct {
	// DB is the address of a database; a fresh one that is migrated already when empty, for each migration takes its time.
	DB    string
	State string
	Env   []string
	Args  []string
	// Unready waits until the service answers only: a plugin or the database is to be out of order.
	Unready bool
	// Transport of all requests to it.
	Transport http.RoundTripper
	// Program to run; the one that was built for the tests when empty.
	Program string
}

// startService starts hostlerd and waits until it is ready. It is stopped at
// the end of the test.
func startService(t testing.TB, o options) *service {
	t.Helper()
	if o.DB == "" {
		o.DB = dbtest.URL(t)
	}
	if o.State == "" {
		o.State = t.TempDir()
	}
	if o.DB == privateDatabase {
		o.DB = ""
	}
	s := &service{State: o.State, DB: o.DB, Log: &waittest.Text{}, probe: "/readyz", transport: o.Transport,
		program: cmp.Or(o.Program, filepath.Join(bin(t), "hostlerd"))}
	if o.Unready {
		s.probe = "/healthz"
	}
	s.args = append([]string{"serve"}, o.Args...)
	s.env = append(environment(t, o.DB, o.State), o.Env...)
	s.start(t)
	t.Cleanup(func() { s.kill() })
	return s
}

// environment returns the environment of hostlerd in tests. Later entries win,
// so callers append their own.
func environment(t testing.TB, db, state string) []string {
	t.Helper()
	return []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"),
		"HOSTLER_LISTEN=127.0.0.1:0", "HOSTLER_DATABASE_URL=" + db, "HOSTLER_STATE_DIR=" + state,
		"HOSTLER_PLUGIN_DIR=" + filepath.Join(bin(t), "plugins"), "HOSTLER_ALLOW_LOOPBACK_HOSTS=1",
		"HOSTLER_LOG_LEVEL=debug", "HOSTLER_LOG_FORMAT=json",
	}
}

// start runs the program again with the same settings and the same database,
// after kill or stop.
func (s *service) start(t testing.TB) {
	t.Helper()
	s.cmd = exec.Command(s.program, s.args...)
	s.cmd.Env = s.env
	s.cmd.Stderr, s.cmd.Stdout = s.Log, s.Log
	before := len(s.Log.String())
	if err := s.cmd.Start(); err != nil {
		t.Fatalf("starting hostlerd: %v", err)
	}
	cmd, done := s.cmd, make(chan struct{})
	s.done = done
	go func() {
		_ = cmd.Wait()
		close(done)
	}()
	waittest.Succeeds(t, "the service is ready", func() error {
		select {
		case <-done:
			t.Fatalf("hostlerd ended: %s", s.Log.String()[before:])
		default:
		}
		if s.Base = listening(s.Log.String()[before:]); s.Base == "" {
			return errors.New("it does not listen yet")
		}
		resp, err := (&http.Client{Transport: s.transport}).Get(s.Base + s.probe)
		if err != nil {
			return err
		}
		defer func() { _ = resp.Body.Close() }()
		if resp.StatusCode != http.StatusOK {
			text, _ := io.ReadAll(resp.Body)
			return fmt.Errorf("%s: %s", resp.Status, text)
		}
		return nil
	})
}

// listeningText is the line in a log of format text.
var listeningText = regexp.MustCompile(`(?m): listening: url=(\S+)`)

// listening returns the address in the log, in either of its formats.
func listening(log string) string {
	for line := range strings.Lines(log) {
		var entry struct {
			Message string `json:"@message"`
			URL     string `json:"url"`
		}
		if json.Unmarshal([]byte(line), &entry) == nil && entry.Message == "listening" {
			return entry.URL
		}
	}
	if match := listeningText.FindStringSubmatch(log); match != nil {
		return match[1]
	}
	return ""
}

// kill ends the service with SIGKILL and waits for its end. Plugins notice that
// their parent is gone and end too.
func (s *service) kill() {
	_ = s.cmd.Process.Kill()
	<-s.done
}

// stop ends the service with SIGTERM and fails the test if it does not end, or
// not with status 0.
func (s *service) stop(t testing.TB) {
	t.Helper()
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-s.done:
	case <-time.After(time.Minute): // its promise is 10 s, on a machine that is not starved
		s.kill()
		t.Fatalf("hostlerd did not stop: %s", s.Log.String())
	}
	if code := s.cmd.ProcessState.ExitCode(); code != 0 {
		t.Fatalf("hostlerd ended with %d: %s", code, s.Log.String())
	}
}
