package dbtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// What a killed process left in memory goes, and what a process or a child of it still holds stays. No other test runs beside: its
// children would inherit the locks.
func TestUnheldFoldersAreRemoved(t *testing.T) {
	parent := t.TempDir()
	made := func() (dir string, lock *os.File) {
		t.Helper()
		dir, lock, err := hold(parent)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = lock.Close() })
		if err := os.WriteFile(filepath.Join(dir, "content"), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		return dir, lock
	}
	aged := func(path string) {
		t.Helper()
		old := time.Now().Add(-time.Hour)
		if err := os.Chtimes(path, old, old); err != nil {
			t.Fatal(err)
		}
	}
	there := func(what, dir string, want bool) {
		t.Helper()
		removeUnheld(parent)
		if _, err := os.Stat(dir); (err == nil) != want {
			t.Errorf("%s: %v", what, err)
		}
	}
	dir, lock := made()
	aged(filepath.Join(dir, heldLock))
	there("held by its process", dir, true)
	child := exec.Command("sleep", "600")
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	if err := lock.Close(); err != nil {
		t.Fatal(err)
	}
	there("held by a child", dir, true)
	_ = child.Process.Kill()
	_ = child.Wait() // killed
	there("held by nobody", dir, false)

	dir, lock = made()
	_ = lock.Close()
	there("just made", dir, true)

	dir = filepath.Join(parent, heldPrefix+"early") // its process died before it made the file
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	there("just made, without a file", dir, true)
	aged(dir)
	there("without a file", dir, false)

	other := filepath.Join(parent, "other")
	if err := os.Mkdir(other, 0o700); err != nil {
		t.Fatal(err)
	}
	aged(other)
	there("another one's", other, true)
}
