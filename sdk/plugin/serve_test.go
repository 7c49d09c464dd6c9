package plugin_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hostler/hostler/internal/programtest"
	"github.com/hostler/hostler/internal/waittest"
	"github.com/hostler/hostler/sdk/plugin"
)

// build builds the plugin in memory.
func build(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "hostler-plugin-mem")
	err := programtest.Build(t.Context(), "", program, "github.com/hostler/hostler/sdk/hypervisor/memdriver/hostler-plugin-mem")
	if err != nil {
		t.Fatal(err)
	}
	return program
}

func environment() []string {
	cookie := plugin.Handshake()
	return []string{
		cookie.MagicCookieKey + "=" + cookie.MagicCookieValue,
		fmt.Sprintf("PLUGIN_PROTOCOL_VERSIONS=%d", plugin.ProtocolVersion),
	}
}

func TestServe(t *testing.T) {
	t.Parallel()
	program := build(t)

	t.Run("started by a person", func(t *testing.T) {
		t.Parallel()
		out, err := exec.Command(program).CombinedOutput()
		if err == nil || !strings.Contains(string(out), "This binary is a plugin") {
			t.Errorf("error %v, output %s", err, out)
		}
	})

	t.Run("ends when the host's pipe closes, and not on SIGTERM", func(t *testing.T) {
		t.Parallel()
		watch, hold, err := os.Pipe()
		if err != nil {
			t.Fatal("making a pipe:", err)
		}
		cmd := exec.Command(program)
		cmd.Env = append(environment(), plugin.WatchEnv+"=3")
		cmd.ExtraFiles = []*os.File{watch}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal("making a pipe:", err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal("starting:", err)
		}
		_ = watch.Close()
		line, err := bufio.NewReader(out).ReadString('\n')
		if err != nil || !strings.HasPrefix(line, "1|1|unix|") || !strings.Contains(line, "|grpc|") {
			t.Fatalf("handshake is %q, error %v", line, err)
		}
		for _, signal := range []os.Signal{syscall.SIGTERM, syscall.SIGHUP, os.Interrupt} {
			if err := cmd.Process.Signal(signal); err != nil {
				t.Fatal("signalling:", err)
			}
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		_ = hold.Close()
		select {
		case err := <-ended:
			if cmd.ProcessState.ExitCode() != 1 {
				t.Errorf("it ended with %v, want exit code 1", err)
			}
		case <-time.After(time.Minute):
			_ = cmd.Process.Kill()
			t.Error("it did not end")
		}
	})

	t.Run("without a pipe ends with its parent", func(t *testing.T) {
		t.Parallel()
		// The shell is the host; it tells its child's number and waits.
		cmd := exec.Command("sh", "-c", `"$0" >/dev/null 2>&1 & echo $!; wait`, program)
		cmd.Env = environment()
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal("making a pipe:", err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal("starting:", err)
		}
		line, err := bufio.NewReader(out).ReadString('\n')
		pid, atoi := strconv.Atoi(strings.TrimSpace(line))
		if err != nil || atoi != nil {
			t.Fatalf("number is %q, error %v", line, err)
		}
		t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGKILL) })
		// It must know its parent before it loses it: its second thread is there by then at the latest.
		served := func() bool {
			sockets, _ := os.ReadFile(fmt.Sprintf("/proc/%d/net/unix", pid))
			return len(sockets) > 0 && listens(pid)
		}
		waittest.Until(t, "it listens", served)
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		waittest.Until(t, "it ends", func() bool { return !runs(pid) })
	})
}

// listens tells whether a process has an open socket.
func listens(pid int) bool {
	entries, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	for _, e := range entries {
		if to, err := os.Readlink(e); err == nil && strings.HasPrefix(to, "socket:") {
			return true
		}
	}
	return false
}

// runs is false for a process that is gone or only waits to be collected.
func runs(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, after, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(after, "Z")
}
