package scripts_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hostler/hostler/plugins/scripts/scriptstest"
	"github.com/hostler/hostler/sdk/catalog"
	"github.com/hostler/hostler/sdk/plugin"
)

// The branch moves after its commit was told: everything of the sync is of that commit.
func TestBranchMovesDuringASync(t *testing.T) {
	t.Parallel()
	server := scriptstest.NewServer(t)
	before := scriptstest.Small()
	commit := server.Push(before)
	after := before.Clone()
	after.App("newer", "Newer", "", "true")
	server.SetHandler(func(w http.ResponseWriter, r *http.Request) {
		server.ServeRepository(w, r)
		if strings.HasPrefix(r.URL.Path, "/repos/") {
			server.Push(after)
		}
	})
	c := open(t, server.Config())
	got := sync(t, c)
	if _, there := got.entries["newer"]; there || !got.Begin.Pin.Equal(pinOf(commit)) {
		t.Errorf("the sync at %s has the newer one: %v", got.Begin.Pin, there)
	}
	server.SetHandler(nil)
	if got := sync(t, c); got.entries["newer"].Slug == "" {
		t.Error("the next sync lacks the newer one")
	}
}

// A commit that is gone at the origin still gives its bundle to who has it, and is not there for others.
func TestHistoryIsRewritten(t *testing.T) {
	t.Parallel()
	server := scriptstest.NewServer(t)
	files := scriptstest.Small()
	old := server.Push(files)
	c := open(t, server.Config())
	first := sync(t, c)
	m, _, err := bundle(t, c, "first", pinOf(old))
	if err != nil {
		t.Fatal(err)
	}
	server.SetArchive(old, nil)
	server.Push(files.With("ct/first.sh", files["ct/first.sh"]+"# rewritten\n"))
	if _, err := trySync(t, c, catalog.SyncRequest{Cursor: first.End.Cursor}, first.Digests); err != nil {
		t.Fatal(err)
	}
	again, _, err := bundle(t, c, "first", pinOf(old))
	if err != nil || again.Sum() != m.Sum() {
		t.Errorf("the bundle is %s and was %s: %v", again.Sum(), m.Sum(), err)
	}
	other := open(t, server.Config())
	if _, _, err := bundle(t, other, "first", pinOf(old)); plugin.KindOf(err) != plugin.NotFound {
		t.Errorf("who has nothing gets %v", err)
	}
	if _, err := trySync(t, other, catalog.SyncRequest{Cursor: first.End.Cursor}, first.Digests); err != nil {
		t.Errorf("who has nothing syncs from a cursor of what is gone: %v", err)
	}
}

// The pin of an app moves with its own files, and with nothing else; also for who has lost the cache and has the cursor.
func TestPinOfAnApp(t *testing.T) {
	t.Parallel()
	server := scriptstest.NewServer(t)
	files := scriptstest.Small()
	one := server.Push(files)
	c := open(t, server.Config())
	first := sync(t, c)
	files = files.With("misc/core.func", "# the engine is another one\n")
	two := server.Push(files)
	engine, err := trySync(t, c, catalog.SyncRequest{Cursor: first.End.Cursor}, first.Digests)
	if err != nil || !engine.Begin.Unchanged || !engine.Begin.Pin.Equal(pinOf(two)) {
		t.Errorf("with another engine %+v, %v", engine.Begin, err)
	}
	files = files.With("install/second-install.sh", "apt install -y second third\n")
	three := server.Push(files)
	for name, c := range map[string]catalog.Catalog{"with the cache": c, "without": open(t, server.Config())} {
		got, err := trySync(t, c, catalog.SyncRequest{Cursor: engine.End.Cursor}, engine.Digests)
		if err != nil || got.Added != 1 || !got.entries["second"].App.Equal(pinOf(three)) {
			t.Errorf("%s %d came, %+v, %v", name, got.Added, got.entries, err)
		}
		e, err := c.Entry(t.Context(), "first", pinOf(three))
		if err != nil || !e.App.Equal(pinOf(one)) {
			t.Errorf("%s the pin of the first is %s, %v", name, e.App, err)
		}
	}
	// Without a cursor, what the cache remembers goes on.
	files = files.With("install/first-install.sh", "true\n")
	four := server.Push(files)
	got := sync(t, c)
	if !got.entries["first"].App.Equal(pinOf(four)) || !got.entries["second"].App.Equal(pinOf(three)) ||
		!got.entries["asks"].App.Equal(pinOf(one)) {
		t.Errorf("the pins are %s, %s, %s", got.entries["first"].App, got.entries["second"].App, got.entries["asks"].App)
	}
}

// One byte changed in the cache is noticed, and everything is fetched again.
func TestCacheIsDamaged(t *testing.T) {
	t.Parallel()
	server := scriptstest.NewServer(t)
	commit := server.Push(scriptstest.Small())
	config := server.Config()
	config.Cache = t.TempDir()
	c := open(t, config)
	sync(t, c)
	good, _, err := bundle(t, c, "first", pinOf(commit))
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(config.Cache, "commits", commit)
	for _, damage := range []struct {
		file string
		do   func(string) error
	}{
		{"files/install/first-install.sh", func(name string) error {
			raw, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			raw[3] ^= 1
			return os.WriteFile(name, raw, 0o600)
		}},
		{"files/misc/core.func", os.Remove}, {"index.json", func(name string) error { return os.Truncate(name, 100) }}, {"", os.RemoveAll},
	} {
		if err := damage.do(filepath.Join(folder, damage.file)); err != nil {
			t.Fatal(err)
		}
		server.Requests()
		m, _, err := bundle(t, c, "first", pinOf(commit))
		if err != nil || m.Sum() != good.Sum() || len(server.Requests()) != 1 {
			t.Errorf("after the damage of %q the bundle is %s, %v", damage.file, m.Sum(), err)
		}
		server.SetArchive(commit, nil)
		if err := damage.do(filepath.Join(folder, damage.file)); err != nil {
			t.Fatal(err)
		}
		if _, _, err := bundle(t, c, "first", pinOf(commit)); err == nil {
			t.Errorf("after the damage of %q something is given, and nobody has it", damage.file)
		}
		server.Push(scriptstest.Small())
		if _, _, err := bundle(t, c, "first", pinOf(commit)); err != nil {
			t.Error(err)
		}
	}
}
