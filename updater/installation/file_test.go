package installation_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/hostler/hostler/updater/installation"
)

// A file is replaced as a whole and is as open as it is said to be, whatever an earlier try has left; a try that fails leaves
// nothing.
func TestWriteFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	for _, mode := range []fs.FileMode{0o600, 0o644, 0o666} {
		put(t, path+".new", "what an earlier try has left, and more", 0o640)
		if err := installation.WriteFile(path, []byte("text"), mode); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(path)
		info, e := os.Stat(path)
		if err = errors.Join(err, e); err != nil || string(text) != "text" || info.Mode() != mode {
			t.Errorf("%q, %v, %v", text, info, err)
		}
	}
	folder := filepath.Join(dir, "folder")
	if err := os.MkdirAll(filepath.Join(folder, "full"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := installation.WriteFile(folder, []byte("text"), 0o600); err == nil {
		t.Error("a folder was replaced")
	}
	if _, err := os.Lstat(folder + ".new"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("something is left: %v", err)
	}
}

// A lock that anybody may read could be kept by anybody: it is closed, though an earlier updater made it otherwise.
func TestLockIsClosed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "lock")
	put(t, path, "", 0o644)
	free, err := installation.Lock(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer free()
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
}

// An updater that cannot make its sign anew, as on a full disk, shows the last one's.
func TestLockWithTheSignOfBefore(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	free, err := installation.Lock(dir)
	if err != nil {
		t.Fatal(err)
	}
	free()
	if err := os.Mkdir(filepath.Join(dir, "at-work.new"), 0o755); err != nil {
		t.Fatal(err)
	}
	if free, err = installation.Lock(dir); err != nil {
		t.Fatal(err)
	}
	if locked, err := installation.Locked(dir); err != nil || !locked {
		t.Errorf("%v, %v", locked, err)
	}
	free()
	if locked, err := installation.Locked(dir); err != nil || locked {
		t.Errorf("given back: %v, %v", locked, err)
	}
}
