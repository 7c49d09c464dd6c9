package installation_test

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"github.com/hostler/hostler/internal/programtest"
	"github.com/hostler/hostler/updater/installation"
)

// TestMain lets this program be the updater that another process looks at.
func TestMain(m *testing.M) {
	if dir := os.Getenv("HOSTLER_LOCK_DIR"); dir != "" {
		if _, err := installation.Lock(dir); err != nil {
			println(err.Error())
			os.Exit(1)
		}
		println("locked")
		time.Sleep(time.Hour) // until it is killed
	}
	os.Exit(m.Run())
}

func put(t *testing.T, path, text string, mode fs.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

// The lock ends with its process, whatever ends that, and looking at it does not take it.
func TestLock(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if locked, err := installation.Locked(dir); locked || err != nil {
		t.Fatalf("%v, %v", locked, err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "HOSTLER_LOCK_DIR="+dir)
	said, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill() }()
	word := make([]byte, 16)
	if n, err := said.Read(word); err != nil || !strings.HasPrefix(string(word[:n]), "locked") {
		t.Fatalf("%q, %v", word[:n], err)
	}
	for range 2 {
		if locked, err := installation.Locked(dir); !locked || err != nil {
			t.Errorf("%v, %v", locked, err)
		}
		if _, err := installation.Lock(dir); !errors.Is(err, installation.ErrBusy) {
			t.Errorf("a second one: %v", err)
		}
	}
	_ = cmd.Process.Signal(syscall.SIGKILL)
	_ = cmd.Wait()
	if locked, err := installation.Locked(dir); locked || err != nil {
		t.Errorf("after its end: %v, %v", locked, err)
	}
	free, err := installation.Lock(dir)
	if err != nil {
		t.Fatal(err)
	}
	if locked, err := installation.Locked(dir); !locked || err != nil {
		t.Errorf("our own: %v, %v", locked, err)
	}
	free()
	if locked, err := installation.Locked(dir); locked || err != nil {
		t.Errorf("given back: %v, %v", locked, err)
	}
}

// A lock that was given back is free, although a child that is just being started still has the files of it open.
func TestUnlockBesideForks(t *testing.T) {
	t.Parallel()
	programtest.Fork(t)
	dir := t.TempDir()
	for i := range 500 {
		free, err := installation.Lock(dir)
		if err != nil {
			t.Fatalf("turn %d: %v", i, err)
		}
		free()
		if locked, err := installation.Locked(dir); locked || err != nil {
			t.Fatalf("turn %d, given back: %v, %v", i, locked, err)
		}
	}
}

// Whoever may read a file may hold a lock on it. None of these keeps an updater from its work, nor from being seen.
func TestLockOfReaders(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	free, err := installation.Lock(dir)
	if err != nil {
		t.Fatal(err)
	}
	free()
	held := 0
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm()&0o044 == 0 {
			continue
		}
		f, err := os.Open(filepath.Join(dir, entry.Name()))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = f.Close() }()
		if err := unix.FcntlFlock(f.Fd(), unix.F_OFD_SETLK, &unix.Flock_t{Type: unix.F_RDLCK}); err != nil {
			t.Fatal(err)
		}
		held++
	}
	if held == 0 {
		t.Error("there is no file that tells others of an updater")
	}
	if free, err = installation.Lock(dir); err != nil {
		t.Fatal(err)
	}
	defer free()
	if locked, err := installation.Locked(dir); !locked || err != nil {
		t.Errorf("%v, %v", locked, err)
	}
}

const run = `{"at":"2026-01-02T03:04:05Z","run":"a","step":"backup","event":"begun","plan":{"from":"1.0.0","to":"","request":"r1"}}
{"at":"2026-01-02T03:04:06Z","run":"a","step":"backup","event":"ended","plan":{"from":"1.0.0","to":"","request":"r1"}}
{"at":"2026-01-02T03:04:07Z","run":"a","step":"trial","event":"begun","plan":{"from":"1.0.0","to":"1.1.0","request":"r1"}}
{"at":"2026-01-02T03:04:08Z","run":"a","step":"stop","event":"begun","plan":{"from":"1.0.0","to":"1.1.0","request":"r1"}}
`

// The status tells a run that goes on from one that nobody is at work on, and what came after it.
func TestLast(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if s, err := installation.LastStatus(dir); s != nil || err != nil {
		t.Fatalf("%+v, %v", s, err)
	}
	journal := installation.Journal(dir)
	put(t, journal, run+`{"at":"2026-01-0`, 0o644) // the next line is being written
	s, err := installation.LastStatus(dir)
	if err != nil || s.State != installation.StateInterrupted || s.Step != "migrate" || s.From != "1.0.0" || s.To != "1.1.0" ||
		s.Request != "r1" ||
		len(s.Steps) != 2 || s.Steps[0].EndedAt.IsZero() || !s.Steps[1].EndedAt.IsZero() || !s.FinishedAt.IsZero() {
		t.Fatalf("%+v, %v", s, err)
	}
	free, err := installation.Lock(dir)
	if err != nil {
		t.Fatal(err)
	}
	if s, err := installation.LastStatus(dir); err != nil || s.State != installation.StateRunning {
		t.Errorf("%+v, %v", s, err)
	}
	free()
	put(t, journal, run+`{"at":"2026-01-02T03:04:09Z","run":"a","step":"rolled back","event":"ended","text":"why",`+
		`"plan":{"from":"1.0.0","to":"1.1.0"}}`+"\n", 0o644)
	if s, err := installation.LastStatus(dir); err != nil || s.State != installation.StateRolledBack || s.Reason != "why" ||
		s.FinishedAt.IsZero() {
		t.Errorf("%+v, %v", s, err)
	}
	// What came later is the later one, whatever the clock says.
	for _, jump := range []time.Duration{-30 * 365 * 24 * time.Hour, time.Hour, 30 * 365 * 24 * time.Hour} {
		refusal := installation.Refusal{At: s.StartedAt.Add(jump), Request: "r2", Version: "1.1.0", Reason: "no"}
		if err := installation.Refuse(dir, refusal); err != nil {
			t.Fatal(err)
		}
		if s, err := installation.LastStatus(dir); err != nil || s.State != installation.StateRefused || s.Reason != "no" || s.Request != "r2" {
			t.Errorf("a refusal: %+v, %v", s, err)
		}
	}
	put(t, journal, run+`{"at":"2000-01-02T03:04:09Z","run":"b","step":"failed","event":"ended","text":"why"}`+"\n", 0o644)
	if s, err := installation.LastStatus(dir); err != nil || s.State != installation.StateFailed || s.Run != "b" {
		t.Errorf("a run after the refusal: %+v, %v", s, err)
	}
	put(t, filepath.Join(dir, "refused.json"), "\x00\x00", 0o644)
	if s, err := installation.LastStatus(dir); err != nil || s.State != installation.StateFailed {
		t.Errorf("a damaged refusal: %+v, %v", s, err)
	}
	put(t, journal, "{}x\n\x00\x00\n"+run, 0o644)
	if s, err := installation.LastStatus(dir); err != nil || s.Run != "a" {
		t.Errorf("a damaged line before others: %+v, %v", s, err)
	}
	put(t, journal, run+"{}x\n", 0o644)
	if _, err := installation.LastStatus(dir); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("a damaged last line: %v", err)
	}
	put(t, journal, run+`{"at":"2000-01-02T03:04:09Z","run":"a","step":"stop","event":"ended"}`+"\n", 0o644)
	if s, err := installation.LastStatus(dir); err != nil || len(s.Steps) != 2 || !s.Steps[1].EndedAt.Equal(s.Steps[1].StartedAt) {
		t.Errorf("a clock that was put back: %+v, %v", s, err)
	}
	// A journal of many years is not read from its begin.
	put(t, journal, strings.Repeat(`{"at":"2026-01-02T03:04:05Z","run":"old","step":"done","event":"ended"}`+"\n", 30_000)+run, 0o644)
	if s, err := installation.LastStatus(dir); err != nil || s.Run != "a" || len(s.Steps) != 2 {
		t.Errorf("a long journal: %+v, %v", s, err)
	}
}

func TestRequests(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "request.json")
	if r, err := installation.TakeRequest(path); r != nil || err != nil {
		t.Fatalf("%v, %v", r, err)
	}
	want := installation.Request{ID: "abc", Version: "1.2.3-rc.1"}
	if err := installation.PutRequest(path, want); err != nil {
		t.Fatal(err)
	}
	if r, since, err := installation.PendingRequest(path); err != nil || *r != want || time.Since(since) > time.Minute {
		t.Errorf("%v, %v, %v", r, since, err)
	}
	for _, other := range []installation.Request{{ID: "other", Version: want.Version}, {ID: want.ID, Version: "1.2.3"}} {
		if err := installation.WithdrawRequest(path, other); err != nil {
			t.Error(err)
		}
	}
	if r, err := installation.TakeRequest(path); err != nil || *r != want {
		t.Errorf("%v, %v", r, err)
	}
	if err := installation.WithdrawRequest(path, want); err != nil {
		t.Errorf("it is taken: %v", err)
	}
	if err := errors.Join(installation.PutRequest(path, want), installation.WithdrawRequest(path, want)); err != nil {
		t.Error(err)
	}
	if r, _, err := installation.PendingRequest(path); r != nil || err != nil {
		t.Errorf("it is taken: %v, %v", r, err)
	}
	for _, bad := range []installation.Request{{}, {ID: "a/b", Version: "1.0.0"}, {ID: "a", Version: "1"}, {ID: "a", Version: "../1.0.0"}} {
		if err := installation.PutRequest(path, bad); err == nil {
			t.Errorf("%+v was written", bad)
		}
	}
}

// A request comes from somebody with fewer rights: whatever it is, it is gone afterwards and starts nothing again.
func TestHostileRequests(t *testing.T) {
	t.Parallel()
	for name, make := range map[string]func(path string) error{
		"a link":   func(path string) error { return os.Symlink("/etc/passwd", path) },
		"a pipe":   func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"empty":    func(path string) error { return os.WriteFile(path, nil, 0o600) },
		"large":    func(path string) error { return os.WriteFile(path, []byte(strings.Repeat(" ", 1<<20)), 0o600) },
		"not JSON": func(path string) error { return os.WriteFile(path, []byte("rm -rf /"), 0o600) },
		"a path": func(path string) error {
			return os.WriteFile(path, []byte(`{"id":"a","version":"../../1.0.0"}`), 0o600)
		},
		"an option": func(path string) error { return os.WriteFile(path, []byte(`{"id":"--x y","version":"1.0.0"}`), 0o600) },
		"a NUL": func(path string) error {
			return os.WriteFile(path, []byte("{\"id\":\"a\\u0000\",\"version\":\"1.0.0\"}"), 0o600)
		},
		"good and padded": func(path string) error {
			return os.WriteFile(path, []byte(`{"id":"a","version":"1.0.0"}`+strings.Repeat(" ", 5<<10)), 0o600)
		},
		"a long number": func(path string) error {
			return os.WriteFile(path, []byte(`{"id":"a","version":"`+strings.Repeat("9", 100)+`.0.0"}`), 0o600)
		},
	} {
		path := filepath.Join(t.TempDir(), "request.json")
		if err := make(path); err != nil {
			t.Fatal(err)
		}
		if r, err := installation.TakeRequest(path); r != nil || err == nil {
			t.Errorf("%s: %v, %v", name, r, err)
		}
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is still there: %v", name, err)
		}
	}
}

// A request that cannot be removed would start the updater again and again: that is told beside what is wrong with it.
func TestRequestThatStays(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "request.json")
	if err := os.MkdirAll(filepath.Join(path, "full"), 0o755); err != nil {
		t.Fatal(err)
	}
	r, err := installation.TakeRequest(path)
	if r != nil || err == nil || !strings.Contains(err.Error(), "removing") || !strings.Contains(err.Error(), "a regular file") {
		t.Errorf("%v, %v", r, err)
	}
}

func TestConfigurationOfThePackage(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "updater.json")
	put(t, path, "{}", 0o644)
	c, err := installation.ReadConfig(path)
	if err != nil || c.HasSource() || c.Prefix != "/opt/hostler" {
		t.Errorf("%+v, %v", c, err)
	}
	put(t, path, `{"source":"https://releases.example.org","channel":"stable","database":{"port":5433}}`, 0o644)
	if c, err = installation.ReadConfig(path); err != nil || !c.HasSource() || c.Database.Port != 5433 || c.Database.Name != "hostler" {
		t.Errorf("%+v, %v", c, err)
	}
	if _, err := installation.ReadConfig(filepath.Join(t.TempDir(), "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
}

// All that came to an end is told of, and what has not is left out.
func TestFinished(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if runs, err := installation.FinishedRuns(dir); len(runs) != 0 || err != nil {
		t.Fatalf("%+v, %v", runs, err)
	}
	first := `{"at":"2026-01-01T03:04:05Z","run":"0","step":"backup","event":"begun","plan":{"from":"0.9.0","to":""}}
{"at":"2026-01-01T03:04:09Z","run":"0","step":"failed","event":"ended","text":"why","plan":{"from":"0.9.0","to":"1.0.0"}}
{"at":"2026-01-01T04:04:05Z","run":"00","step":"done","event":"ended","plan":{"from":"0.9.0","to":"1.0.0"}}
`
	put(t, installation.Journal(dir), first+run, 0o644)
	if err := installation.Refuse(dir, installation.Refusal{Request: "r2", Version: "1.1.0", Reason: "no"}); err != nil {
		t.Fatal(err)
	}
	runs, err := installation.FinishedRuns(dir)
	if err != nil || len(runs) != 3 || runs[0].State != installation.StateFailed || runs[0].Reason != "why" ||
		runs[1].State != installation.StateDone ||
		runs[2].State != installation.StateRefused || runs[2].Request != "r2" {
		t.Errorf("%+v, %v", runs, err)
	}
	put(t, installation.Journal(dir), first+"{}x\n"+run, 0o644)
	if runs, err := installation.FinishedRuns(dir); err != nil || len(runs) != 3 {
		t.Errorf("a damaged line inside: %+v, %v", runs, err)
	}
	put(t, installation.Journal(dir), first+run+"{}x\n", 0o644)
	if runs, err := installation.FinishedRuns(dir); err == nil {
		t.Errorf("a damaged journal: %+v", runs)
	}
}

func TestWords(t *testing.T) {
	t.Parallel()
	long := "a\x1b]0;x\a\u202e\xff\n" + strings.Repeat("ä", 1<<20)
	words := installation.PrintableText(long)
	if len(words) > 4<<10 || strings.ContainsAny(words, "\x1b\a\n\u202e") || !utf8.ValidString(words) ||
		!strings.HasPrefix(words, "a ]0;x") || installation.PrintableText(words) != words {
		t.Errorf("%d bytes: %.40q", len(words), words)
	}
	if words := installation.PrintableText("why: nö"); words != "why: nö" {
		t.Error(words)
	}
}
