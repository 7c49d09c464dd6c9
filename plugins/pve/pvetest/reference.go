// Package pvetest gives tests of the Proxmox VE driver and simulator access to the reference data about the real API: the
// schema, recorded exchanges and answers of older releases. The data is not part of the repository; tests that want it skip without it.
package pvetest

import (
	"os"
	"path/filepath"
	"testing"
)

// Reference returns the folder with the reference data about Proxmox VE: $HOSTLER_REFERENCE_DIR/pve, or ../shared/pve beside the
// repository. It skips the test when there is none.
func Reference(t testing.TB) string {
	t.Helper()
	dir := os.Getenv("HOSTLER_REFERENCE_DIR")
	if dir == "" {
		dir = filepath.Join(root(t), "..", "shared")
	}
	dir = filepath.Join(dir, "pve")
	if _, err := os.Stat(filepath.Join(dir, "api-schema.json")); err != nil {
		t.Skipf("reference data about Proxmox VE is not at %s; set HOSTLER_REFERENCE_DIR to its folder to run this test", dir)
	}
	return dir
}

// root is the folder of the repository: tests run in the folder of their package.
func root(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			t.Skip("reference data: the test does not run in the repository; set HOSTLER_REFERENCE_DIR")
		}
	}
}
