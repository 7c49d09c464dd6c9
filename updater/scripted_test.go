package updater

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/internal/programtest"
	"github.com/hostler/hostler/updater/installation"
)

// scripted is a Service in this process with its /readyz, for tests of one part: it does what the test says.
type scripted struct {
	mu            sync.Mutex
	state         State
	starts, stops int
	status        int
	version       string
	// stranger says that something answers though the service does not run.
	stranger bool
	// stopping is what Stop fails with. onState is called before State answers.
	stopping error
	onState  func(*State)
}

func (v *scripted) Start(ctx context.Context) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.starts++; v.state.Process == 0 {
		v.state.Process = v.starts
	}
	return ctx.Err()
}

func (v *scripted) Stop(ctx context.Context) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.stops++
	v.state.Process = 0
	return errors.Join(v.stopping, ctx.Err())
}

func (v *scripted) State(ctx context.Context) (State, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.onState != nil {
		v.onState(&v.state)
	}
	return v.state, ctx.Err()
}

func (v *scripted) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if r.URL.Path == "/elsewhere" {
		http.Redirect(w, r, "/readyz", http.StatusFound)
		return
	}
	if v.state.Process == 0 && !v.stranger {
		http.Error(w, "nothing runs here", http.StatusBadGateway)
		return
	}
	w.WriteHeader(v.status)
	_ = json.NewEncoder(w).Encode(map[string]string{"version": v.version})
}

// change changes what the service does while others look at it.
func (v *scripted) change(do func()) {
	v.mu.Lock()
	defer v.mu.Unlock()
	do()
}

// nowhere is a database whose server is away.
var nowhere = Database{Host: "127.0.0.1", Port: 1, Name: "hostler", Owner: "hostler", Admin: "postgres"}

// liveDatabase is an empty database of the test's server.
func liveDatabase(t *testing.T) Database {
	t.Helper()
	s := &site{t: t, database: dbtest.EmptyURL(t), server: &httptest.Server{}}
	return s.config().Database
}

// newUpdater makes an updater in this process, with both versions in place, the old one installed and running. Their programs
// do nothing, and well.
func newUpdater(t *testing.T, database Database) (*Updater, *scripted) {
	t.Helper()
	dir := t.TempDir()
	v := &scripted{status: http.StatusOK, version: oldVersion, state: State{Process: 7}}
	server := httptest.NewServer(v)
	t.Cleanup(server.Close)
	u, err := New(Config{
		Layout:       Layout{Prefix: filepath.Join(dir, "opt"), StateDir: filepath.Join(dir, "updater"), Keys: filepath.Join(dir, "keys")},
		Architecture: "linux/amd64", Database: database, Service: v, Ready: server.URL + "/readyz",
		Settled: 200 * time.Millisecond, DatabaseWait: time.Nanosecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, version := range []string{oldVersion, newVersion} {
		u.brings(t, version, "exit 0")
	}
	l := u.cfg.Layout
	if err := errors.Join(l.point(oldVersion), os.MkdirAll(l.Keys, 0o755), os.MkdirAll(l.StateDir, 0o755)); err != nil {
		t.Fatal(err)
	}
	return u, v
}

// brings puts a release into its place whose programs are a shell script.
func (u *Updater) brings(t *testing.T, version, script string) {
	t.Helper()
	bin := filepath.Dir(u.cfg.Layout.program(version))
	if err := os.MkdirAll(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"hostlerd", "hostler-updater"} {
		if err := programtest.Write(filepath.Join(bin, name), []byte("#!/bin/sh\n"+script+"\n")); err != nil {
			t.Fatal(err)
		}
	}
}

// thisRun and otherRun are ids of runs.
const (
	otherRun = "20260102t030404_abcdef"
	thisRun  = "20260102t030405_abcdef"
)

// newRun is a run of newUpdater that has begun.
func newRun(t *testing.T, database Database) (*run, *scripted) {
	t.Helper()
	u, v := newUpdater(t, database)
	end, err := u.beginNew()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(end)
	return u.under(thisRun), v
}

// under is a run of that id, from the old version to the new one.
func (u *Updater) under(id string) *run {
	return &run{Updater: u, id: id, plan: installation.Plan{From: oldVersion, To: newVersion}}
}

// wrote puts lines into the journal, as an earlier process did.
func (u *Updater) wrote(t *testing.T, lines ...installation.Line) {
	t.Helper()
	j, err := openJournal(installation.Journal(u.cfg.Layout.StateDir))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = j.close() }()
	for _, line := range lines {
		if err := j.add(line); err != nil {
			t.Fatal(err)
		}
	}
}

// lines is what the journal holds of a run.
func (r *run) lines(t *testing.T) (mine []installation.Line) {
	t.Helper()
	lines, err := installation.ReadJournal(installation.Journal(r.cfg.Layout.StateDir))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range lines {
		if line.Run == r.id {
			mine = append(mine, line)
		}
	}
	return mine
}

// has reports whether a database is there beside the live one.
func (r *run) has(t *testing.T, name string) bool {
	t.Helper()
	names, err := r.cfg.Database.names(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return slices.Contains(names, name)
}

// makes creates a database beside the live one that is gone after the test.
func (r *run) makes(t *testing.T, name string) {
	t.Helper()
	if err := r.cfg.Database.create(t.Context(), name); err != nil {
		t.Fatal(err)
	}
	r.dropsAtEnd(t, name)
}

// dropsAtEnd drops a database after the test, if it is there still.
func (r *run) dropsAtEnd(t *testing.T, name string) {
	t.Helper()
	t.Cleanup(func() {
		if err := r.cfg.Database.drop(context.Background(), name); err != nil {
			t.Error(err)
		}
	})
}
