package plugin

import (
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestSweepRunDirs(t *testing.T) {
	t.Parallel()
	parent, err := os.MkdirTemp("", "run")
	if err != nil {
		t.Fatal("making a folder:", err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(parent) })
	made := map[string]string{}
	for _, name := range []string{"dead", "young", "live", "empty"} {
		if made[name], err = newRunDir(parent); err != nil {
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
	sweepRunDirs(parent)
	for dir, kept := range map[string]bool{made["dead"]: false, made["young"]: true, made["live"]: true, made["empty"]: false, foreign: true} {
		if _, err := os.Stat(dir); (err == nil) != kept {
			t.Errorf("%s: kept is %v, want %v", dir, err == nil, kept)
		}
	}
}
