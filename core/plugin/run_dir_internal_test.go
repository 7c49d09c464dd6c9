package plugin

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/hostler/hostler/internal/waittest"
)

func TestSweepRunDirs(t *testing.T) {
	t.Parallel()
	parent, err := os.MkdirTemp("", "run")
	if err != nil {
		t.Fatal("making a folder:", err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(parent) })
	made := map[string]string{}
	for _, name := range []string{"dead", "young", "live", "empty"} { // as earlier releases make them
		if made[name], err = os.MkdirTemp(parent, runPrefix); err != nil {
			t.Fatal("making a folder:", err)
		}
		if name == "empty" {
			continue
		}
		listener, err := net.Listen("unix", filepath.Join(made[name], "plugin1"))
		if err != nil {
			t.Fatal("listening:", err)
		}
		listener.(*net.UnixListener).SetUnlinkOnClose(false)
		if name == "live" {
			t.Cleanup(func() { _ = listener.Close() })
		} else {
			_ = listener.Close()
		}
	}
	foreign := filepath.Join(parent, "something-else")
	if err := os.Mkdir(foreign, 0o700); err != nil {
		t.Fatal("making a folder:", err)
	}
	old := time.Now().Add(-time.Hour)
	for _, dir := range []string{made["dead"], made["live"], made["empty"], foreign} {
		if err := os.Chtimes(dir, old, old); err != nil {
			t.Fatal("changing the time:", err)
		}
	}
	sweepUntilGone(t, parent, made["dead"], made["empty"])
	for dir, kept := range map[string]bool{made["dead"]: false, made["young"]: true, made["live"]: true, made["empty"]: false,
		foreign: true} {
		if _, err := os.Stat(dir); (err == nil) != kept {
			t.Errorf("%s: kept is %v, want %v", dir, err == nil, kept)
		}
	}
}

// A folder is its owner's for as long as that lives, however young or old it is and whether anybody answers, and no longer.
func TestSweepAsksForTheOwner(t *testing.T) {
	t.Parallel()
	parent, err := os.MkdirTemp("", "run")
	if err != nil {
		t.Fatal("making a folder:", err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(parent) })
	dirs := map[string]*runDir{}
	for _, name := range []string{"owned", "owned and old", "killed", "just being made", "removed"} {
		if dirs[name], err = newRunDir(parent); err != nil {
			t.Fatal("making a folder:", err)
		}
		if err := os.WriteFile(filepath.Join(dirs[name].path, "plugin1"), nil, 0o600); err != nil {
			t.Fatal("making a file:", err)
		}
	}
	old := time.Now().Add(-time.Hour)
	for _, name := range []string{"owned and old", "killed"} {
		if err := errors.Join(os.Chtimes(filepath.Join(dirs[name].path, runLock), old, old), os.Chtimes(dirs[name].path, old, old)); err != nil {
			t.Fatal("changing the time:", err)
		}
	}
	for _, name := range []string{"killed", "just being made"} { // the kernel closes what a dead process had open
		_ = dirs[name].lock.Close()
	}
	if future := time.Now().Add(time.Hour); os.Chtimes(filepath.Join(dirs["just being made"].path, runLock), future, future) != nil {
		t.Fatal("changing the time")
	}
	dirs["removed"].remove()
	sweepUntilGone(t, parent, dirs["killed"].path)
	for name, kept := range map[string]bool{"owned": true, "owned and old": true, "killed": false, "just being made": true,
		"removed": false} {
		if _, err := os.Stat(dirs[name].path); (err == nil) != kept {
			t.Errorf("%s: kept is %v, want %v", name, err == nil, kept)
		}
	}
}

// sweepUntilGone sweeps until the folders are gone: a process that another test starts has our open files until it runs its
// program, and a socket or a lock of ours is alive for so long.
func sweepUntilGone(t *testing.T, parent string, dirs ...string) {
	t.Helper()
	waittest.Until(t, "what nobody uses is removed", func() bool {
		sweepRunDirs(parent)
		return !slices.ContainsFunc(dirs, func(dir string) bool { _, err := os.Stat(dir); return err == nil })
	})
}
