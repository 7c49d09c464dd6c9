package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/hostler/hostler/core/db/dbtest"
)

// The programs, built once for all tests of this package.
var programs struct {
	once sync.Once
	dir  string
	err  error
}

func TestMain(m *testing.M) {
	code := m.Run()
	if programs.dir != "" {
		_ = os.RemoveAll(programs.dir)
	}
	os.Exit(code)
}

// bin is the folder of the programs: hostlerd, pvesim and plugins/.
func bin(t testing.TB) string {
	t.Helper()
	programs.once.Do(func() {
		if programs.dir, programs.err = os.MkdirTemp("", "hostler-bin-"); programs.err != nil {
			return
		}
		// The private cluster's own user starts nothing here, but plugins are checked for who may write to their folder.
		for target, packages := range map[string][]string{
			"/":         {"./cmd/hostlerd", "./cmd/pvesim"},
			"/plugins/": {"./cmd/hostler-plugin-pve"},
		} {
			if programs.err = os.MkdirAll(programs.dir+target, 0o755); programs.err != nil {
				return
			}
			cmd := exec.Command("go", append([]string{"build", "-trimpath", "-o", programs.dir + target}, packages...)...)
			cmd.Dir = "../.."
			cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
			if out, err := cmd.CombinedOutput(); err != nil {
				programs.err = fmt.Errorf("%w: %s", err, out)
				return
			}
		}
	})
	if programs.err != nil {
		t.Fatalf("building the programs: %v", programs.err)
	}
	return programs.dir
}

// hanging is how long anything may take at most. It bounds what hangs and says nothing of speed.
const hanging = 3 * time.Minute

// eventually waits until check returns nil and fails with its last error otherwise.
func eventually(t testing.TB, what string, check func() error) {
	t.Helper()
	deadline := time.Now().Add(hanging)
	for {
		err := check()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s did not come about: %v", what, err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// output keeps what a process prints.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// apiToken is one token of the simulator.
type apiToken struct{ ID, Secret string }

// sim is a running pvesim.
type sim struct {
	URL         string
	Fingerprint string
	Tokens      map[string]apiToken
	AdminToken  apiToken `json:"admin_token"`
	Control     string
	Hosts       []sim // of the scenario fleet
	Nodes       []struct{ Name, URL, Fingerprint string }

	cmd *exec.Cmd
}

// startSim starts pvesim; it ends with the test.
func startSim(t testing.TB, args ...string) *sim {
	t.Helper()
	cmd := exec.Command(filepath.Join(bin(t), "pvesim"), append([]string{"--listen", "127.0.0.1:0"}, args...)...)
	var errs output
	cmd.Stderr = &errs
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatalf("starting pvesim: %v", err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
	})
	line, err := bufio.NewReaderSize(out, 1<<20).ReadBytes('\n')
	if err != nil {
		t.Fatalf("pvesim did not become ready: %v %s", err, errs.String())
	}
	s := &sim{cmd: cmd}
	if err := json.Unmarshal(line, s); err != nil {
		t.Fatalf("reading pvesim's line: %v: %s", err, line)
	}
	return s
}

// control calls pvesim's control API and decodes the answer into out when it is not nil.
func (s *sim) control(t testing.TB, method, path string, in, out any) {
	t.Helper()
	var body io.Reader
	if in != nil {
		text, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		body = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(t.Context(), method, strings.TrimSuffix(s.Control, "/")+path, body)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatalf("calling pvesim's control: %v", err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, _ := io.ReadAll(resp.Body)
	if resp.StatusCode >= 300 {
		t.Fatalf("pvesim's control %s %s: %s: %s", method, path, resp.Status, text)
	}
	if out != nil {
		if err := json.Unmarshal(text, out); err != nil {
			t.Fatalf("pvesim's control %s %s: %v", method, path, err)
		}
	}
}

// service is a running hostlerd.
type service struct {
	Base  string
	State string
	DB    string
	Log   *output

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

// privateDatabase as options.DB lets the service run its own.
const privateDatabase = "private"

// options of startService. Empty fields take a fresh database and state folder.
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

// startService starts hostlerd on a real database and waits until it is ready. It ends with the test.
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
	s := &service{State: o.State, DB: o.DB, Log: &output{}, probe: "/readyz", transport: o.Transport, program: cmp.Or(o.Program, filepath.Join(bin(t), "hostlerd"))}
	if o.Unready {
		s.probe = "/healthz"
	}
	s.args = append([]string{"serve"}, o.Args...)
	s.env = append(environment(t, o.DB, o.State), o.Env...)
	s.start(t)
	t.Cleanup(func() { s.kill() })
	return s
}

// environment of the program for tests; later entries of the same name win.
func environment(t testing.TB, db, state string) []string {
	t.Helper()
	return []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"),
		"HOSTLER_LISTEN=127.0.0.1:0", "HOSTLER_DATABASE_URL=" + db, "HOSTLER_STATE_DIR=" + state,
		"HOSTLER_PLUGIN_DIR=" + filepath.Join(bin(t), "plugins"), "HOSTLER_ALLOW_LOOPBACK_HOSTS=1",
		"HOSTLER_LOG_LEVEL=debug", "HOSTLER_LOG_FORMAT=json",
	}
}

// start runs the program again with the same settings, after kill or stop.
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
	eventually(t, "the service is ready", func() error {
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

// listening finds the address in the log.
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

// kill ends the service as the kernel would: without a word.
func (s *service) kill() {
	_ = s.cmd.Process.Kill()
	<-s.done
}

// stop asks the service to end and fails when it does not, or not well.
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

// client is somebody who uses the API.
type client struct {
	service *service
	http    *http.Client
	// bodies keeps every answer, to look for what must not be in any.
	bodies *output
}

func newClient(s *service) *client {
	jar, _ := cookiejar.New(nil) // fails for no options
	return &client{service: s, http: &http.Client{Jar: jar, Timeout: hanging, Transport: s.transport}, bodies: &output{}}
}

// answer is a status and a body.
type answer struct {
	Status int
	Body   []byte
	Header http.Header
}

// into decodes the body.
func (a answer) into(t testing.TB, out any) {
	t.Helper()
	if err := json.Unmarshal(a.Body, out); err != nil {
		t.Fatalf("decoding %s: %v", a.Body, err)
	}
}

// problem is the error identifier of a refused request.
func (a answer) problem() string {
	var p struct{ Error string }
	_ = json.Unmarshal(a.Body, &p)
	return p.Error
}

// try makes a request; an error means that there was no answer.
func (c *client) try(ctx context.Context, method, path string, in any) (answer, error) {
	var body io.Reader
	if in != nil {
		text, err := json.Marshal(in)
		if err != nil {
			return answer{}, err
		}
		body = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(ctx, method, c.service.Base+path, body)
	if err != nil {
		return answer{}, err
	}
	if in != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return answer{}, err
	}
	_, _ = c.bodies.Write(text)
	return answer{Status: resp.StatusCode, Body: text, Header: resp.Header}, nil
}

// do makes a request that must be answered.
func (c *client) do(t testing.TB, method, path string, in any) answer {
	t.Helper()
	a, err := c.try(t.Context(), method, path, in)
	if err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	return a
}

// must makes a request that must have this status, and decodes its answer into out when it is not nil.
func (c *client) must(t testing.TB, status int, method, path string, in, out any) answer {
	t.Helper()
	a := c.do(t, method, path, in)
	if a.Status != status {
		t.Fatalf("%s %s: got %d, want %d: %s", method, path, a.Status, status, a.Body)
	}
	if out != nil {
		a.into(t, out)
	}
	return a
}

const (
	ownerEmail    = "owner@example.com"
	ownerPassword = "correct horse battery staple 7Q"
)

// setUp makes the owner with the setup token and logs in.
func setUp(t testing.TB, s *service) *client {
	t.Helper()
	token, err := os.ReadFile(filepath.Join(s.State, "setup-token"))
	if err != nil {
		t.Fatalf("reading the setup token: %v", err)
	}
	c := newClient(s)
	c.must(t, http.StatusCreated, http.MethodPost, "/api/v1/setup", map[string]any{
		"setup_token": strings.TrimSpace(string(token)), "email": ownerEmail, "password": ownerPassword,
	}, nil)
	c.logIn(t, ownerEmail, ownerPassword)
	return c
}

func (c *client) logIn(t testing.TB, email, password string) {
	t.Helper()
	c.must(t, http.StatusOK, http.MethodPost, "/api/v1/auth/login", map[string]any{"email": email, "password": password}, nil)
}

// enrol adds the simulator with the given capabilities, reads its inventory, and returns the host's id.
func (c *client) enrol(t testing.TB, s *sim, name string, capabilities ...string) int64 {
	t.Helper()
	var host struct{ ID int64 }
	c.must(t, http.StatusCreated, http.MethodPost, "/api/v1/hosts", map[string]any{
		"name": name, "address": s.URL, "tls_fingerprint": s.Fingerprint,
		"token_id": s.Tokens["monitoring"].ID, "token_secret": s.Tokens["monitoring"].Secret,
	}, &host)
	for _, capability := range capabilities {
		c.must(t, http.StatusOK, http.MethodPost, fmt.Sprintf("/api/v1/hosts/%d/credentials", host.ID), map[string]any{
			"capability": capability, "token_id": s.Tokens[capability].ID, "token_secret": s.Tokens[capability].Secret,
		}, nil)
	}
	c.must(t, http.StatusOK, http.MethodPost, fmt.Sprintf("/api/v1/hosts/%d/sync", host.ID), nil, nil)
	return host.ID
}
