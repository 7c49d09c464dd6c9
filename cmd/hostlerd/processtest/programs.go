// Package processtest tests the service as it runs in production: real
// processes of hostlerd and its plugins, simulated hypervisors over TLS, and
// PostgreSQL. What it can show and other packages cannot is what happens
// between processes: crashes at any point, signals, restarts, two instances on
// one database, and file permissions.
//
// Files that do not end in _test.go contain the tools and the longer scenarios:
//
//   - instance.go starts, kills and stops hostlerd; simulator.go does the
//     same for pvesim; client.go is a user of the API.
//   - life.go takes a guest through its life while the service or a plugin
//     is killed in each step. strike.go describes the points at which that
//     happens.
//   - pair.go runs two instances on one database.
//   - side_by_side_linux.go runs a simulated Proxmox VE cluster and a real
//     LXD behind the same service.
//   - hold.go makes statements wait in the database, lxd_proxy_linux.go
//     requests to LXD.
//
// The tests take minutes and are skipped with -short.
package processtest

import (
	"context"
	"os"
	"sync"
	"testing"

	"github.com/hostler/hostler/internal/programtest"
)

// The programs, built once for all tests of this package.
var programs struct {
	once sync.Once
	dir  string
	err  error
}

// bin returns the folder of the programs: hostlerd, hostler, pvesim,
// hostler-demo, hostler-console and plugins/. They are built once per run. With
// -short the test is skipped, except for the main job.
func bin(t testing.TB) string {
	t.Helper()
	if testing.Short() && t.Name() != "TestMainJob" {
		t.Skip("starts whole programs: make check runs it")
	}
	programs.once.Do(func() {
		if programs.dir, programs.err = os.MkdirTemp("", "hostler-bin-"); programs.err != nil {
			return
		}
		// The private cluster's own user starts nothing here, but plugins are checked for who may write to their folder.
		for target, packages := range map[string][]string{
			"/":         {"./cmd/hostlerd", "./cmd/hostler", "./cmd/pvesim", "./cmd/hostler-demo", "./cmd/hostler-console"},
			"/plugins/": {"./cmd/hostler-plugin-pve"},
		} {
			if programs.err = os.MkdirAll(programs.dir+target, 0o755); programs.err != nil {
				return
			}
			if programs.err = programtest.Build(context.Background(), "../../..", programs.dir+target, packages...); programs.err != nil {
				return
			}
		}
	})
	if programs.err != nil {
		t.Fatalf("building the programs: %v", programs.err)
	}
	return programs.dir
}

// removePrograms removes the programs after all tests. TestMain calls it.
func removePrograms() {
	if programs.dir != "" {
		_ = os.RemoveAll(programs.dir)
	}
}

// pluginFolder returns a folder that contains only the given plugins.
func pluginFolder(t testing.TB, packages ...string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := programtest.Build(t.Context(), "", dir+"/", packages...); err != nil {
		t.Fatal(err)
	}
	return dir
}
