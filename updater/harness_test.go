package updater

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/db/private"
	"github.com/hostler/hostler/internal/programtest"
	"github.com/hostler/hostler/internal/waittest"
	"github.com/hostler/hostler/updater/release"
)

// The tests run real services of two versions on a real PostgreSQL. The updater under test is a process of its own, this
// test program started again, so that it can be killed at any point.
const childVariable = "HOSTLER_UPDATER_CHILD"

func TestMain(m *testing.M) {
	if order := os.Getenv(childVariable); order != "" {
		os.Exit(child(order))
	}
	if os.Getenv(namespaceVariable) == "" && os.Geteuid() == 0 {
		os.Exit(inNamespace())
	}
	if err := dbtest.UseMemory(releases); err != nil {
		panic(err)
	}
	if err := preferPrograms(); err != nil {
		panic(err)
	}
	flag.Parse()
	if parallel := flag.Lookup("test.parallel"); parallel.Value.String() == parallel.DefValue {
		_ = parallel.Value.Set(strconv.Itoa(2 * runtime.GOMAXPROCS(0))) // half of the time is waiting; it is a number
	}
	code := m.Run()
	if built.dir != "" {
		_ = os.RemoveAll(built.dir)
	}
	os.Exit(code)
}

// releases is the room in bytes that the installations of all tests take at once, and as much again.
const releases = 8 << 30

// preferPrograms lets psql and pg_dump be PostgreSQL's own, as far as it is installed: Debian's in /usr/bin are scripts that first
// find out which of several installations is meant.
func preferPrograms() error {
	installed, err := private.FindBinaries(context.Background(), "")
	if err != nil {
		return nil // the tests that need a database say so
	}
	return os.Setenv("PATH", filepath.Dir(installed[0].Path("psql"))+string(filepath.ListSeparator)+os.Getenv("PATH"))
}

// namespaceVariable is set in a test program with mounts of its own.
const namespaceVariable = "HOSTLER_UPDATER_MOUNTS"

// inNamespace starts this program again where it can mount small disks: whatever ends it, nothing is left mounted.
func inNamespace() int {
	cmd := exec.Command(os.Args[0], os.Args[1:]...)
	cmd.Env = append(os.Environ(), namespaceVariable+"=1")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS, Pdeathsig: syscall.SIGKILL}
	runtime.LockOSThread() // the death signal is tied to this thread
	if err := cmd.Run(); err != nil {
		var ended *exec.ExitError
		if errors.As(err, &ended) {
			return ended.ExitCode()
		}
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// The two versions of the tests. The second brings one migration more.
const (
	oldVersion = "1.0.0"
	newVersion = "1.1.0"
)

const newMigration = `-- +goose Up
CREATE TABLE brought_by_update (note text NOT NULL);
INSERT INTO brought_by_update VALUES ('migrated');
-- +goose Down
DROP TABLE brought_by_update;
`

var built struct {
	once sync.Once
	dir  string
	err  error
}

// raced is set in a program with the race detector. The updater's process is then another one without it, which unpacks
// and hashes several times as fast; it does one thing after the other.
var raced bool

// updaterProgram is the test program to start as the updater's process.
func updaterProgram(t testing.TB) string {
	if raced {
		return filepath.Join(programs(t), "updater.test")
	}
	return os.Args[0]
}

// programs is a folder with whole-old/ and whole-new/, each the files of a release as users get it, and with old/ and new/: the same
// without what makes a release large and has no part in how an update goes wrong. Most of what a fault costs is that release's bytes.
func programs(t testing.TB) string {
	t.Helper()
	if testing.Short() {
		t.Skip("makes real releases: make check runs it")
	}
	built.once.Do(func() { built.dir, built.err = build() })
	if built.err != nil {
		t.Fatalf("building the programs: %v", built.err)
	}
	return built.dir
}

func build() (dir string, err error) {
	if dir, err = os.MkdirTemp("", "hostler-updater-"); err != nil {
		return "", err
	}
	root, err := filepath.Abs("..")
	if err != nil {
		return dir, err
	}
	extra := filepath.Join(dir, "extra.sql")
	overlay := filepath.Join(dir, "overlay.json")
	text, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(root, "migrations", "90000_update.sql"): extra}})
	if err != nil {
		return dir, err
	}
	if err := errors.Join(os.WriteFile(extra, []byte(newMigration), 0o644), os.WriteFile(overlay, text, 0o644)); err != nil {
		return dir, err
	}
	for folder, version := range map[string]string{"old": oldVersion, "new": newVersion} {
		options := "GOFLAGS=" + os.Getenv("GOFLAGS")
		if folder == "new" {
			options += " -overlay=" + overlay
		}
		whole, small := filepath.Join(dir, "whole-"+folder), filepath.Join(dir, folder)
		err := makeRelease(root, version, whole, options)
		if err == nil {
			err = cp(whole, small)
		}
		if err == nil {
			err = makeSmall(small)
		}
		if err != nil {
			return dir, err
		}
	}
	if raced {
		cmd := exec.Command("go", "test", "-c", "-trimpath", "-o", filepath.Join(dir, "updater.test"), "./updater/")
		cmd.Dir = root
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0") // as the programs above, which share what they stand on
		if text, err := cmd.CombinedOutput(); err != nil {
			return dir, fmt.Errorf("%w: %s", err, text)
		}
	}
	return dir, errors.Join(packTree(filepath.Join(dir, "new"), filepath.Join(dir, "new.tar.gz")),
		packTree(filepath.Join(dir, "whole-new"), filepath.Join(dir, "whole-new.tar.gz")))
}

// makeSmall leaves one plugin of a release, and none of the programs that neither service nor updater start.
func makeSmall(tree string) error {
	bin := filepath.Join(tree, "bin")
	found, err := filepath.Glob(filepath.Join(bin, "plugins", "*"))
	if err != nil || len(found) == 0 {
		return errors.Join(err, errors.New("a release without plugins"))
	}
	for _, path := range append(found[1:], filepath.Join(bin, "hostler"), filepath.Join(bin, "hostler-console")) {
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	return nil
}

// makeRelease makes a release's files as one is made for users.
func makeRelease(root, version, folder, options string) error {
	made := folder + "-made"
	cmd := exec.Command("make", "-s", "release-tree", "VERSION="+version, "BIN="+made, "GOARCH="+runtime.GOARCH)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), options, "MAKEFLAGS=", "MAKELEVEL=") // of the make that may have started the tests
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, text)
	}
	return errors.Join(os.Rename(filepath.Join(made, "release", runtime.GOARCH), folder), os.RemoveAll(made))
}

// plugins are the names of the plugins' programs in the source: a release has all of them.
func plugins(t testing.TB) (names []string) {
	t.Helper()
	folders, err := filepath.Glob(filepath.Join("..", "cmd", "hostler-plugin-*"))
	if err != nil || len(folders) == 0 {
		t.Fatal("there are no plugins: ", err)
	}
	for _, folder := range folders {
		names = append(names, filepath.Base(folder))
	}
	return names
}

// site is one installation with everything around it.
type site struct {
	t      testing.TB
	prefix string
	state  string // the service's
	own    string // the updater's
	keys   string
	server *httptest.Server
	out    string // what the server serves
	// hostile, when set, may answer in the server's place; it says whether it has.
	hostile  atomic.Pointer[func(http.ResponseWriter, *http.Request) bool]
	signer   *release.Signer
	database string // its URL
	port     int

	supervisor *supervisor
	// untidy is set while a fault keeps runs from cleaning up, which the next one does.
	untidy bool
}

// newSite installs the old version and starts it.
func newSite(t testing.TB) *site {
	t.Helper()
	return newSiteOn(t, dbtest.URL(t))
}

// newSiteOn is newSite on a database that is empty or migrated.
func newSiteOn(t testing.TB, database string) *site {
	t.Helper()
	dir := t.TempDir()
	s := &site{t: t, prefix: filepath.Join(dir, "opt"), state: filepath.Join(dir, "state"), own: filepath.Join(dir, "updater"),
		keys: filepath.Join(dir, "keys"), out: filepath.Join(dir, "out"), database: database, port: programtest.FreePort(t)}
	var err error
	if s.signer, err = release.NewSigner(); err != nil {
		t.Fatal(err)
	}
	public, err := s.signer.Key.PEM()
	if err != nil {
		t.Fatal(err)
	}
	s.mkdir(s.state, s.keys, s.out, filepath.Join(s.prefix, "releases"))
	s.put(filepath.Join(s.keys, "first.pub"), string(public), 0o644)
	s.copyTree(filepath.Join(programs(t), "old"), filepath.Join(s.prefix, "releases", oldVersion))
	if err := os.Symlink("releases/"+oldVersion, filepath.Join(s.prefix, "current")); err != nil {
		t.Fatal(err)
	}
	files := http.FileServer(http.Dir(s.out))
	s.server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if hostile := s.hostile.Load(); hostile != nil && (*hostile)(w, r) {
			return
		}
		files.ServeHTTP(w, r)
	}))
	s.server.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.server.StartTLS()
	t.Cleanup(s.server.Close)
	s.supervisor = newSupervisor(s)
	t.Cleanup(s.supervisor.end)
	if err := s.supervisor.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.await(oldVersion)
	// Something to keep: a row that no migration touches.
	s.sql("CREATE TABLE kept (note text NOT NULL)", "INSERT INTO kept VALUES ('before')")
	return s
}

func (s *site) mkdir(dirs ...string) {
	s.t.Helper()
	for _, dir := range dirs {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			s.t.Fatal(err)
		}
	}
}

func (s *site) put(path, text string, mode os.FileMode) {
	s.t.Helper()
	s.mkdir(filepath.Dir(path))
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		s.t.Fatal(err)
	}
}

func (s *site) copyTree(from, to string) {
	s.t.Helper()
	if err := cp(from, to); err != nil {
		s.t.Fatal(err)
	}
}

func cp(from, to string) error {
	if out, err := exec.Command("cp", "-a", "--reflink=auto", from, to).CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

func (s *site) sql(statements ...string) {
	s.t.Helper()
	conn, err := pgx.Connect(s.t.Context(), s.database)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	for _, statement := range statements {
		if _, err := conn.Exec(s.t.Context(), statement); err != nil {
			s.t.Fatalf("%s: %v", statement, err)
		}
	}
}

// query is the answer of one statement as text.
func (s *site) query(statement string) string {
	s.t.Helper()
	conn, err := pgx.Connect(s.t.Context(), s.database)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	var answer string
	if err := conn.QueryRow(s.t.Context(), statement).Scan(&answer); err != nil {
		s.t.Fatalf("%s: %v", statement, err)
	}
	return answer
}

// publish makes a release of the new version on the server. Its hostlerd goes through the script first, where one is given.
func (s *site) publish(version, script string) *release.Manifest {
	s.t.Helper()
	from := filepath.Join(programs(s.t), "new.tar.gz")
	if script != "" {
		from = s.packed(script)
	}
	return s.offer(version, from)
}

// offer puts a tarball on the server as the release of a version.
func (s *site) offer(version, tarball string) *release.Manifest {
	s.t.Helper()
	name := "hostler-" + version + ".tar.gz"
	s.copyTree(tarball, filepath.Join(s.out, name))
	return s.manifest(version, name)
}

// wrapped are the tarballs of releases whose hostlerd goes through a script: by script, a function that packs it when first called.
var wrapped sync.Map

// packed is the tarball of the new version whose hostlerd goes through the script. Each is packed once.
func (s *site) packed(script string) string {
	s.t.Helper()
	made, _ := wrapped.LoadOrStore(script, sync.OnceValues(func() (string, error) {
		dir, err := os.MkdirTemp(programs(s.t), "wrapped-")
		if err != nil {
			return "", err
		}
		tree, tarball := filepath.Join(dir, "tree"), filepath.Join(dir, "wrapped.tar.gz")
		if err := cp(filepath.Join(programs(s.t), "new"), tree); err != nil {
			return "", err
		}
		wrap(script)(tree)
		return tarball, errors.Join(packTree(tree, tarball), os.RemoveAll(tree))
	}))
	tarball, err := made.(func() (string, error))()
	if err != nil {
		s.t.Fatal(err)
	}
	return tarball
}

// packTree packs a release without compressing it: release.Pack takes its time to make a tarball small, and to decompress one
// would be most of what a run computes.
func packTree(tree, tarball string) error {
	f, err := os.Create(tarball)
	if err != nil {
		return err
	}
	packed, err := gzip.NewWriterLevel(f, gzip.NoCompression)
	if err != nil {
		return errors.Join(err, f.Close())
	}
	archive := tar.NewWriter(packed)
	return errors.Join(archive.AddFS(os.DirFS(tree)), archive.Close(), packed.Close(), f.Close())
}

// manifest signs a release whose tarball is on the server.
func (s *site) manifest(version, name string) *release.Manifest {
	s.t.Helper()
	packed, err := os.ReadFile(filepath.Join(s.out, name))
	if err != nil {
		s.t.Fatal(err)
	}
	sum := sha256.Sum256(packed)
	file := release.File{Name: name, Size: int64(len(packed)), SHA256: hex.EncodeToString(sum[:])}
	date := time.Now().UTC()
	m := &release.Manifest{Schema: release.Schema, Version: version, Channel: "stable", Date: date, Minimum: oldVersion,
		Migrations: release.Migrations{From: 1, To: 90000}, Files: map[string]release.File{"linux/amd64": file}}
	s.sign(m)
	return m
}

func (s *site) sign(m *release.Manifest) {
	s.t.Helper()
	if err := release.Publish(s.out, m, s.signer); err != nil {
		s.t.Fatal(err)
	}
}

// wrap puts a shell script in the place of the release's program, which it can call as "$real".
func wrap(script string) func(tree string) {
	return func(tree string) {
		program := filepath.Join(tree, "bin", "hostlerd")
		if err := os.Rename(program, program+".real"); err != nil {
			panic(err)
		}
		text := "#!/bin/sh\nreal=\"$(dirname \"$(readlink -f \"$0\")\")/hostlerd.real\"\n" + script + "\nexec \"$real\" \"$@\"\n"
		if err := programtest.Write(program, []byte(text)); err != nil {
			panic(err)
		}
	}
}

// await waits until a version is ready.
func (s *site) await(version string) {
	s.t.Helper()
	waittest.Succeeds(s.t, "version "+version+" is ready", func() error {
		if got, err := s.ready(); err != nil || got != version {
			return fmt.Errorf("%s, %v\n%s", got, err, s.supervisor.log.String())
		}
		return nil
	})
}

// ready is the version that answers and is ready.
func (s *site) ready() (string, error) {
	answer, err := http.Get(s.address() + "/readyz")
	if err != nil {
		return "", err
	}
	defer func() { _ = answer.Body.Close() }()
	var body struct{ Version string }
	if err := json.NewDecoder(answer.Body).Decode(&body); err != nil || answer.StatusCode != http.StatusOK {
		return "", fmt.Errorf("%s %w", answer.Status, errors.Join(err, errors.New("not ready")))
	}
	return body.Version, nil
}

func (s *site) address() string { return "http://127.0.0.1:" + strconv.Itoa(s.port) }

// supervisor is what systemd is elsewhere: it starts the program of the current link, again when it dies, up to a limit.
type supervisor struct {
	site *site
	log  waittest.Text

	mu       sync.Mutex
	cmd      *exec.Cmd
	ended    chan struct{}
	wanted   bool
	restarts int
	failures int
	api      *httptest.Server
	// stopTime is how long a service may take to stop before it is killed: what hangs does.
	stopTime time.Duration
	// fault, when set, may refuse stop, start and state.
	fault func(verb string) error
}

// startLimit is how many failed starts are forgiven until Start is called anew.
const startLimit = 10

func newSupervisor(s *site) *supervisor {
	v := &supervisor{site: s, stopTime: time.Minute}
	v.api = httptest.NewServer(http.HandlerFunc(v.serve))
	return v
}

// serve lets the updater's process reach this Service.
func (v *supervisor) serve(w http.ResponseWriter, r *http.Request) {
	var err error
	var state State
	v.mu.Lock()
	fault := v.fault
	v.mu.Unlock()
	if fault != nil {
		if err := fault(strings.TrimPrefix(r.URL.Path, "/")); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
	}
	switch r.URL.Path {
	case "/stop":
		err = v.Stop(r.Context())
	case "/start":
		err = v.Start(r.Context())
	default:
		state, err = v.State(r.Context())
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	_ = json.NewEncoder(w).Encode(state)
}

func (v *supervisor) Start(context.Context) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.failures, v.wanted = 0, true
	if v.cmd == nil {
		return v.launch()
	}
	return nil
}

func (v *supervisor) launch() error {
	s := v.site
	cmd := exec.Command(filepath.Join(s.prefix, "current", "bin", "hostlerd"), "serve")
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOSTLER_LISTEN=127.0.0.1:" + strconv.Itoa(s.port), "HOSTLER_DATABASE_URL=" + s.database,
		"HOSTLER_STATE_DIR=" + s.state}
	cmd.Stdout, cmd.Stderr = &v.log, &v.log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		return err
	}
	v.cmd, v.ended = cmd, make(chan struct{})
	go v.watch(cmd, v.ended)
	return nil
}

func (v *supervisor) watch(cmd *exec.Cmd, ended chan struct{}) {
	_ = cmd.Wait() // how it ended does not matter
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	v.mu.Lock()
	v.cmd = nil
	again := v.wanted && v.failures < startLimit
	v.failures++
	if again {
		v.restarts++
	}
	v.mu.Unlock()
	close(ended)
	if !again {
		return
	}
	time.Sleep(100 * time.Millisecond) // RestartSec
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.wanted && v.cmd == nil {
		_ = v.launch() // the next look finds nothing running
	}
}

func (v *supervisor) Stop(ctx context.Context) error {
	v.mu.Lock()
	v.wanted = false
	cmd, ended := v.cmd, v.ended
	v.mu.Unlock()
	if cmd == nil {
		return nil
	}
	_ = cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
	case <-time.After(v.stopTime): // TimeoutStopSec
	}
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	<-ended
	return nil
}

func (v *supervisor) State(context.Context) (State, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	state := State{Restarts: v.restarts}
	if v.cmd != nil {
		state.Process = v.cmd.Process.Pid
	}
	return state, nil
}

func (v *supervisor) end() {
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Second)
	defer cancel()
	_ = v.Stop(ctx)
	v.api.Close()
}

// remote is the supervisor as the updater's process sees it.
type remote struct{ base string }

func (r remote) call(ctx context.Context, path string) (State, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, r.base+path, http.NoBody)
	if err != nil {
		return State{}, err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return State{}, err
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(answer.Body)
		return State{}, errors.New(strings.TrimSpace(string(text)))
	}
	var state State
	return state, json.NewDecoder(answer.Body).Decode(&state)
}

func (r remote) Stop(ctx context.Context) error           { _, err := r.call(ctx, "/stop"); return err }
func (r remote) Start(ctx context.Context) error          { _, err := r.call(ctx, "/start"); return err }
func (r remote) State(ctx context.Context) (State, error) { return r.call(ctx, "/state") }

// order is what the updater's process shall do.
type order struct {
	Config     Config
	Supervisor string
	// Authority is the certificate of the release server.
	Authority []byte
	// Do is run, resume, install of Tree or revert, with Restore; KillAt the point at which the process kills itself, and PauseAt one at
	// which it waits.
	Do, KillAt, PauseAt string
	Options             Options
	Restore             bool
	Tree                string
	Offline             bool
	// Temp is the folder for temporary files. Clock is how wrong the clock is, Jump how wrong it is from the point JumpAt on.
	Temp        string
	Clock, Jump time.Duration
	JumpAt      string
}

// said is what it answers.
type said struct {
	Result *Result
	Reason string
	Err    string
}

// config is the updater's for this site.
func (s *site) config() Config {
	u, err := url.Parse(s.database)
	if err != nil {
		s.t.Fatal(err)
	}
	port, err := strconv.Atoi(u.Port())
	host := u.Hostname()
	if err != nil { // a unix socket
		host, port = u.Query().Get("host"), 5432
		if p, err := strconv.Atoi(u.Query().Get("port")); err == nil {
			port = p
		}
	}
	return Config{
		Layout: Layout{Prefix: s.prefix, StateDir: s.own, Keys: s.keys, Secrets: []string{filepath.Join(s.state, "keys", "secret.key")}},
		Source: s.server.URL, Channel: "stable", Architecture: "linux/amd64",
		Database: Database{Host: host, Port: port, Name: strings.TrimPrefix(u.Path, "/"), Owner: u.User.Username(), Admin: u.User.Username()},
		Ready:    s.address() + "/readyz", Settled: 500 * time.Millisecond, ReadyTime: 3 * time.Minute, MigrateTime: 3 * time.Minute,
		DatabaseWait: time.Minute, StopTime: 2 * time.Minute,
	}
}
