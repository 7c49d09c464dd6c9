package lxdtest_test

import (
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/hostler/hostler/internal/programtest"
	"github.com/hostler/hostler/plugins/lxd/lxdtest"
)

// TestSkips runs a test as somebody who is not root: it skips and says why, and fails where LXD is promised.
func TestSkips(t *testing.T) { // not beside others: a process that is started while a program is written keeps it busy
	lxdtest.Shared(t)
	const program = "/var/lib/lxd/skips.test" // which everybody may read, unlike what go test made
	copyProgram(t, program)
	for required, want := range map[string]string{"": "SKIP", "1": "FAIL"} {
		cmd := exec.Command(program, "-test.v", "-test.run=^TestNamespaces$")
		cmd.Dir = "/"
		cmd.Env = append(os.Environ(), programtest.ServersRequired+"="+required)
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		out, err := cmd.CombinedOutput()
		text := string(out)
		if (err == nil) != (required == "") || !strings.Contains(text, "--- "+want+": TestNamespaces") ||
			!strings.Contains(text, "root is needed") {
			t.Errorf("with %q: %v, %s", required, err, text)
		}
	}
}

func copyProgram(t *testing.T, to string) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	from, err := os.Open(exe)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = from.Close() }()
	file, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(file, from); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
}
