// Package processtest tests the service as it runs: real processes of hostlerd and its plugins, simulated hypervisors over TLS, and
// PostgreSQL. Files that do not end in _test.go hold what the tests stand on.
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

// bin is the folder of the programs: hostlerd, hostler, pvesim, hostler-demo, hostler-console and plugins/.
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

// removePrograms removes them after all tests.
func removePrograms() {
	if programs.dir != "" {
		_ = os.RemoveAll(programs.dir)
	}
}

// pluginFolder is a folder with these plugins alone, by their packages.
func pluginFolder(t testing.TB, packages ...string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := programtest.Build(t.Context(), "", dir+"/", packages...); err != nil {
		t.Fatal(err)
	}
	return dir
}
