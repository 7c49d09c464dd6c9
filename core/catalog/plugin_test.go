package catalog_test

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hostler/hostler/core/catalog"
	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/plugin"
	"github.com/hostler/hostler/internal/programtest"
	"github.com/hostler/hostler/internal/waittest"
	"github.com/hostler/hostler/sdk/catalog/catalogtest"
)

// A source in a process of its own is listed, switched on and asked, and again after it was killed; one that is gone says so.
func TestSourceInAProcess(t *testing.T) {
	t.Parallel()
	dir, url := t.TempDir(), dbtest.URL(t)
	if err := programtest.Build(t.Context(), "", dir+"/", "../plugin/testdata/hostler-plugin-kinds"); err != nil {
		t.Fatal(err)
	}
	m, err := plugin.New(plugin.Config{Dir: dir, Pins: plugin.NewStore(dbtest.Open(t, url)), AllowWritableDir: true,
		CallWait:     time.Minute,
		StartTimeout: time.Minute, MinBackoff: 10 * time.Millisecond, MaxBackoff: 100 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Stop)
	if _, err := m.Pin(t.Context(), "hostler-plugin-kinds", "test"); err != nil {
		t.Fatal(err)
	}
	if err := m.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	f := newFixtureOn(t, url, filepath.Join(t.TempDir(), "keys", "secret.key"), &catalogtest.Memory{},
		func(c *catalog.Config) { c.Sources = m })
	all, err := f.SourceList(t.Context())
	if err != nil || len(all) != 1 || all[0].Name != "mem" || all[0].Enabled || !all[0].Installed || *all[0].Trust == "" {
		t.Fatalf("%s, %v", marshal(t, all), err)
	}
	f.on("mem")
	f.refreshed()
	if got := f.slugs(catalog.Filter{}); got != "mem/a mem/b" {
		t.Error(got)
	}
	if err := syscall.Kill(m.Status()[0].PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	waittest.Until(t, "the process is replaced", func() bool { s := m.Status()[0]; return s.Restarts == 1 && s.State == plugin.Running })
	if got := f.refreshed(); !strings.Contains(got, "nothing has changed, 2 entries") {
		t.Error(got)
	}
}
