package plugin_test

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/core/plugin"
	"github.com/hostler/hostler/internal/waittest"
)

func sum(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal("reading the plugin:", err)
	}
	digest := sha256.Sum256(content)
	return hex.EncodeToString(digest[:])
}

// host starts this test program as a host of one plugin.
func host(t *testing.T, dir, file string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	run, err := os.MkdirTemp("", "run") // a killed host leaves its socket folders behind, and t.TempDir is too long for a socket
	if err != nil {
		t.Fatal("making a folder:", err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(run) })
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "HOSTLER_TEST_HOST_DIR="+dir, "HOSTLER_TEST_HOST_FILE="+file, "HOSTLER_TEST_HOST_RUN="+run,
		"HOSTLER_TEST_HOST_SHA256="+sum(t, filepath.Join(dir, file)))
	cmd.Stderr = os.Stderr
	if _, err := cmd.StdinPipe(); err != nil {
		t.Fatal("making a pipe:", err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal("making a pipe:", err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal("starting the host:", err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return cmd, bufio.NewScanner(out)
}

func kill(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal("killing the host:", err)
	}
	_ = cmd.Wait()
}

func TestHostKilled(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	cmd, out := host(t, b.dir, memFile)
	if !out.Scan() {
		t.Fatal("the host did not tell its plugin's number")
	}
	pid, err := strconv.Atoi(out.Text())
	if err != nil || !alive(pid) {
		t.Fatalf("plugin %d does not run: %v", pid, err)
	}
	kill(t, cmd)
	waittest.Until(t, "the plugin ends with its host", func() bool { return !alive(pid) })
}

// A program that knows nothing of the service's pipe ends too: the kernel sees to it.
func TestHostKilledWhileStarting(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	const file = "hostler-plugin-deaf"
	b.script(t, file, `echo $$ >"$0.new"; mv "$0.new" "$0.pid"; exec sleep 600`)
	cmd, _ := host(t, b.dir, file)
	pid := 0
	waittest.Until(t, "the program tells its number", func() bool {
		content, err := os.ReadFile(filepath.Join(b.dir, file+".pid"))
		if err == nil {
			_, err = fmt.Sscan(strings.TrimSpace(string(content)), &pid)
		}
		return err == nil
	})
	if !alive(pid) {
		t.Fatal("the program does not run")
	}
	kill(t, cmd)
	waittest.Until(t, "the program ends with its host", func() bool { return !alive(pid) })
}

// What a killed service left is gone once another one has come up and ended, however soon that was.
func TestKilledHostLeavesNoFolder(t *testing.T) {
	if testing.Short() {
		t.Skip("kills a service: make check runs it")
	}
	t.Parallel()
	b := setup(t, nil)
	cmd, out := host(t, b.dir, memFile)
	if !out.Scan() {
		t.Fatal("the host did not tell its plugin's number")
	}
	parent := ""
	for _, variable := range cmd.Env {
		if value, found := strings.CutPrefix(variable, "HOSTLER_TEST_HOST_RUN="); found {
			parent = value
		}
	}
	folders := func() []string {
		found, err := filepath.Glob(filepath.Join(parent, "hostler-run-*"))
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	if len(folders()) != 1 {
		t.Fatalf("the host has the folders %v", folders())
	}
	kill(t, cmd)
	next := setup(t, func(cfg *plugin.Config) { cfg.RunDir = parent })
	if _, err := next.Pin(t.Context(), memFile, "test"); err != nil {
		t.Fatal("pinning:", err)
	}
	waittest.Until(t, "the folder is no longer one that is just being made", func() bool {
		info, err := os.Stat(filepath.Join(folders()[0], "owner"))
		return err == nil && time.Since(info.ModTime()) > time.Second
	})
	if err := next.Start(t.Context()); err != nil {
		t.Fatal("starting:", err)
	}
	if len(folders()) != 1 {
		t.Errorf("beside the running one's there are %v", folders())
	}
	next.Stop()
	if len(folders()) != 0 {
		t.Errorf("left are %v", folders())
	}
}
