package pvessh_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/internal/nodetest"
	"github.com/hostler/hostler/internal/waittest"
	"github.com/hostler/hostler/plugins/pve/pvessh"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

const ct = "101"

func TestContainer(t *testing.T) {
	t.Parallel()
	node := nodetest.Start(t)
	node.Container(101)
	node.Stopped(102)
	node.VM(103)
	m := pvessh.New(node.SSH.Target(), patient)
	t.Run("run", func(t *testing.T) { runInContainer(t, m) })
	t.Run("refused", func(t *testing.T) { containerRefused(t, m) })
	t.Run("killed", func(t *testing.T) { containerKilled(t, node, m) })
	t.Run("files", func(t *testing.T) { containerFiles(t, node, m) })
	t.Run("sockets", func(t *testing.T) { containerSockets(t, node, m) })
}

func runInContainer(t *testing.T, m *pvessh.Machine) {
	hostile := []string{"", "a b", "'", `"`, `\`, "$(id)", "`id`", "\n", "a\n\n", "-n", "; id", "\xff\xfe", "ä€", strings.Repeat("x", 70_000)}
	var out bytes.Buffer
	end, err := m.RunInContainer(t.Context(), ct, hypervisor.NodeCommand{Program: "printf", Arguments: append([]string{`%s\0`}, hostile...)},
		hypervisor.NodeStreams{Output: &out})
	if want := strings.Join(hostile, "\x00") + "\x00"; err != nil || !end.OK() || out.String() != want {
		t.Errorf("%d bytes of arguments arrived, want %d: %+v, %v", out.Len(), len(want), end, err)
	}
	out.Reset()
	input := strings.Repeat("0123456789abcde\n", 1<<16)
	_, err = m.RunInContainer(t.Context(), ct, hypervisor.NodeCommand{
		Program: "sh", Arguments: []string{"-c", `hostname; pwd; echo "$HOME $SECRET"; cat; tr '\0' ' ' </proc/$$/cmdline; env | sort; exit 7`},
		Environment: []hypervisor.NodeVariable{{Name: "SECRET", Value: "canary-of-a-value"}}, Directory: "/etc",
	}, hypervisor.NodeStreams{Input: strings.NewReader(input), Output: &out})
	head, rest, _ := strings.Cut(out.String(), input)
	if err != nil || head != "ct101\n/etc\n/root canary-of-a-value\n" {
		t.Errorf("the program said %q, %v", head, err)
	}
	if cmdline, _, _ := strings.Cut(rest, "HOME="); strings.Contains(cmdline, "canary") || strings.Contains(rest, "SSH_") {
		t.Errorf("arguments or variables that it has no business to have: %q", rest)
	}
	end, err = m.RunInContainer(t.Context(), ct, hypervisor.NodeCommand{Program: "sh", Arguments: []string{"-c", "exit 21"}},
		hypervisor.NodeStreams{})
	if err != nil || end.ExitCode != 21 {
		t.Errorf("a code that has a meaning outside: %+v, %v", end, err)
	}
	end, err = m.RunInContainer(t.Context(), ct, hypervisor.NodeCommand{Program: "no-such-program"}, hypervisor.NodeStreams{})
	if err != nil || end.ExitCode != 127 {
		t.Errorf("a program that is not there: %+v, %v", end, err)
	}
	end, err = m.RunInContainer(t.Context(), ct, hypervisor.NodeCommand{Program: "sh", Arguments: []string{"-c", "kill -9 $$"}},
		hypervisor.NodeStreams{})
	if err != nil || end.ExitCode != 137 {
		t.Errorf("a program that a signal ends: %+v, %v", end, err)
	}
	mine := errors.New("of mine")
	_, err = m.RunInContainer(t.Context(), ct, hypervisor.NodeCommand{Program: "cat"}, hypervisor.NodeStreams{
		Input: io.MultiReader(strings.NewReader("x"), failing{mine})})
	if !errors.Is(err, mine) {
		t.Errorf("an input that fails: %v", err)
	}
	_, err = m.RunInContainer(t.Context(), ct, hypervisor.NodeCommand{Program: "echo"}, hypervisor.NodeStreams{Output: failing{mine}})
	if !errors.Is(err, mine) {
		t.Errorf("an output that fails: %v", err)
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error)  { return 0, f.err }
func (f failing) Write([]byte) (int, error) { return 0, f.err }

func containerRefused(t *testing.T, m *pvessh.Machine) {
	for id, want := range map[string]plugin.ErrorKind{"102": plugin.Conflict, "103": plugin.Unsupported, "104": plugin.NotFound} {
		_, run := m.RunInContainer(t.Context(), id, hypervisor.NodeCommand{Program: "true"}, hypervisor.NodeStreams{})
		_, store := m.CopyToContainer(t.Context(), id, hypervisor.NodeFile{Path: "/tmp/x", Size: 1}, strings.NewReader("x"))
		_, fetch := m.CopyFromContainer(t.Context(), id, "/etc/passwd", 1000, io.Discard)
		_, list := m.Sockets(t.Context(), id)
		for what, err := range map[string]error{"run": run, "store": store, "fetch": fetch, "sockets": list} {
			if plugin.KindOf(err) != want {
				t.Errorf("%s in %s: %v, want %s", what, id, err, want)
			}
		}
	}
}

// A program that is given up is killed inside of the container, too, with what it has started.
func containerKilled(t *testing.T, node *nodetest.Machine, m *pvessh.Machine) {
	stubborn := func(mark string) hypervisor.NodeCommand {
		return hypervisor.NodeCommand{Program: "sh", Arguments: []string{"-c",
			"trap '' TERM HUP INT; echo started; sleep " + mark + " & sleep " + mark}}
	}
	gone := func(mark string) {
		t.Helper()
		waittest.Until(t, "the programs are gone", func() bool {
			out, _ := node.Try(t.Context(), "grep -lz '^"+mark+"$' /proc/[0-9]*/cmdline 2>/dev/null | grep -v /self/ || true")
			return strings.TrimSpace(out) == ""
		})
	}
	limited := stubborn("86401")
	limited.Limit = 5 * time.Second // the way into the container takes a part of it
	_, err := m.RunInContainer(t.Context(), ct, limited, hypervisor.NodeStreams{})
	if plugin.KindOf(err) != plugin.Timeout {
		t.Errorf("at its limit: %v", err)
	}
	gone("86401")
	ctx, cancel := context.WithCancel(t.Context())
	ended, heard := make(chan error), make(chan struct{}, 1)
	go func() {
		_, err := m.RunInContainer(ctx, ct, stubborn("86402"), hypervisor.NodeStreams{Output: writerFunc(func(p []byte) (int, error) {
			select {
			case heard <- struct{}{}:
			default:
			}
			return len(p), nil
		})})
		ended <- err
	}()
	select { // who has heard nothing does not know what to kill
	case <-heard:
	case err := <-ended:
		t.Fatal("it has ended:", err)
	}
	waittest.Until(t, "the program runs", func() bool {
		out, _ := node.Try(t.Context(), "grep -cz '^86402$' /proc/[0-9]*/cmdline | grep -c ':1$'")
		return strings.TrimSpace(out) == "2"
	})
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("given up: %v", err)
	}
	gone("86402")
}

func containerFiles(t *testing.T, node *nodetest.Machine, m *pvessh.Machine) {
	content := bytes.Repeat([]byte("0123456789\n"), 30_000)
	sum := sha256.Sum256(content)
	file := hypervisor.NodeFile{Path: "/root/a '$(id)' file", Mode: 0o640, Size: int64(len(content)), SHA256: hex.EncodeToString(sum[:])}
	if _, err := m.CopyToContainer(t.Context(), ct, file, bytes.NewReader(content)); err != nil {
		t.Fatal("storing:", err)
	}
	got := node.InContainer(101, `stat -c "%a %u %g %s" /root/a*file; ls -A /root | wc -l`)
	if got != fmt.Sprintf("640 0 0 %d\n1", file.Size) {
		t.Errorf("the file is %q", got)
	}
	var back bytes.Buffer
	read, err := m.CopyFromContainer(t.Context(), ct, file.Path, file.Size, &back)
	if err != nil || read != file || !bytes.Equal(back.Bytes(), content) {
		t.Errorf("%d bytes of %+v came back: %v", back.Len(), read, err)
	}
	file.SHA256 = strings.Repeat("0", 64)
	if _, err := m.CopyToContainer(t.Context(), ct, file, bytes.NewReader(content)); plugin.KindOf(err) != plugin.Invalid {
		t.Errorf("another content: %v", err)
	}
	if _, err := m.CopyFromContainer(t.Context(), ct, file.Path, file.Size-1, io.Discard); plugin.KindOf(err) != plugin.Refused {
		t.Errorf("a file that is too large: %v", err)
	}
}

func containerSockets(t *testing.T, node *nodetest.Machine, m *pvessh.Machine) {
	if _, err := node.Try(t.Context(), "command -v python3"); err != nil {
		t.Skip("there is no python3 to listen with")
	}
	const listen = `import socket, time, threading
s = []
for family, kind, address in ((socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 8080)),
        (socket.AF_INET6, socket.SOCK_STREAM, ("::", 443)),
        (socket.AF_INET, socket.SOCK_DGRAM, ("0.0.0.0", 53)), (socket.AF_INET6, socket.SOCK_STREAM, ("::ffff:127.0.0.2", 81))):
    one = socket.socket(family, kind)
    if family == socket.AF_INET6 and address[0] == "::": one.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
    one.bind(address)
    if kind == socket.SOCK_STREAM: one.listen()
    s.append(one)
c = socket.create_connection(("127.0.0.1", 8080))
open("/proc/self/comm", "w").write("web\nserver")
open("/run/listens", "w").close()
time.sleep(100000)
`
	node.Run("python3 -c 'import time; time.sleep(1e5)' >/dev/null 2>&1 & python3 -m http.server 8000 >/dev/null 2>&1 &") // not its own
	node.InContainer(101, "mkdir -p /run; cat >/root/listen.py <<'END'\n"+listen+"END\n"+
		"setsid python3 /root/listen.py >/dev/null 2>&1 </dev/null &")
	waittest.Until(t, "the container listens", func() bool {
		out, _ := node.Try(t.Context(), "lxc-attach -n 101 --clear-env -- ls /run/listens")
		return strings.TrimSpace(out) == "/run/listens"
	})
	list, err := m.Sockets(t.Context(), ct)
	if err != nil {
		t.Fatal("asking for the sockets:", err)
	}
	var got []string
	for _, s := range list.Sockets {
		user := int64(-1)
		if s.UserID != nil {
			user = *s.UserID
		}
		got = append(got, fmt.Sprintf("%s %s %d %s %d", s.Protocol, s.Address, s.Port, s.Program, user))
	}
	want := "tcp 127.0.0.2 81 web server 0\ntcp :: 443 web server 0\ntcp 127.0.0.1 8080 web server 0\nudp 0.0.0.0 53 web server 0"
	if strings.Join(got, "\n") != want || list.More {
		t.Errorf("the sockets are\n%s\nwant\n%s", strings.Join(got, "\n"), want)
	}
}
