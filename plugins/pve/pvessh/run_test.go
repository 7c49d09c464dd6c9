package pvessh_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hostler/hostler/internal/sshdtest"
	"github.com/hostler/hostler/internal/waittest"
	"github.com/hostler/hostler/plugins/pve/pvessh"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// hostile are texts that mean something to shells, printf, terminals or protocols.
var hostile = []string{
	"", " ", "a b", "'", `"`, `\`, `\\`, "$(touch /tmp/hostler-was-here)", "`id`", "${IFS}", "$HOME", "~", "*", "?", "[a-z]", "{a,b}",
	"!!", "#", "%s%n",
	`\0101`, `\c`, "-n", "--", "-c", "; reboot", "&& id", "| cat", "> /tmp/x", "\n", "a\nb\n", "\n\n", "\r\n", "\t", "\x01\x02\x7f\x1b[31m",
	"ä€😀", "\xff\xfe", "\u202e", "a=b", "=", ";", "e PATH x", "r - x", strings.Repeat("x", 50_000), strings.Repeat("\x80", 4000),
}

func run(t *testing.T, m *pvessh.Machine, command hypervisor.NodeCommand, input io.Reader) (string, string, hypervisor.NodeResult) {
	t.Helper()
	var output, failures bytes.Buffer
	result, err := m.RunOnNode(t.Context(), command, hypervisor.NodeStreams{Input: input, Output: &output, Errors: &failures})
	if err != nil {
		t.Fatalf("running %s: %v", command.Program, err)
	}
	return output.String(), failures.String(), result
}

func kind(t *testing.T, what string, err error, want plugin.ErrorKind) *plugin.Error {
	t.Helper()
	var e *plugin.Error
	if !errors.As(err, &e) || e.Kind != want {
		t.Fatalf("%s: error is %v, want %s", what, err, want)
	}
	return e
}

// Nothing but arguments arrives: each is what was given, byte for byte, and so are the variables, the folder and the input.
func TestArgumentsArriveAsTheyAre(t *testing.T) {
	t.Parallel()
	server := sshdtest.Start(t)
	m := pvessh.New(server.Target(), patient)
	args := append([]string{`%s\0`}, hostile...)
	got, failures, result := run(t, m, hypervisor.NodeCommand{Program: "/usr/bin/printf", Arguments: args}, nil)
	if want := strings.Join(hostile, "\x00") + "\x00"; got != want || failures != "" || !result.OK() {
		t.Errorf("%d bytes arrived, want %d: %.300q, %q, %+v", len(got), len(want), got, failures, result)
	}
	var environment []hypervisor.NodeVariable
	for i, value := range hostile {
		environment = append(environment, hypervisor.NodeVariable{Name: fmt.Sprintf("V%d", i), Value: plugin.Secret(value)})
	}
	got, _, _ = run(t, m, hypervisor.NodeCommand{Program: "env", Arguments: []string{"-0"}, Environment: environment}, nil)
	for i, value := range hostile {
		if !strings.Contains("\x00"+got, fmt.Sprintf("\x00V%d=%s\x00", i, value)) {
			t.Errorf("the variable %q did not arrive", value)
		}
	}
	if strings.Contains(got, "hostler_") {
		t.Errorf("the script's own variables are seen: %q", got)
	}
	folder := filepath.Join(t.TempDir(), "a $(id) '\n\"")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if got, _, _ := run(t, m, hypervisor.NodeCommand{Program: "pwd", Directory: folder}, nil); got != folder+"\n" {
		t.Errorf("it ran in %q", got)
	}
	input := strings.Join(hostile, "\n") + "\x00\xff"
	if got, _, _ := run(t, m, hypervisor.NodeCommand{Program: "cat"}, strings.NewReader(input)); got != input {
		t.Errorf("%d bytes of the input arrived, want %d", len(got), len(input))
	}
	if _, err := os.Stat("/tmp/hostler-was-here"); err == nil {
		t.Error("a shell has run what was an argument")
	}
}

// A value of a variable is in the environment of the program and in no arguments, neither of a shell nor of what starts the program.
func TestVariablesAreInNoArguments(t *testing.T) {
	t.Parallel()
	server := sshdtest.Start(t)
	m := pvessh.New(server.Target(), patient)
	begun, input := io.Pipe()
	done := make(chan struct{})
	output := &waittest.Text{}
	go func() {
		defer close(done)
		_, err := m.RunOnNode(t.Context(), hypervisor.NodeCommand{Program: "sh",
			Arguments:   []string{"-c", `echo $$; read -r line; echo "$CANARY"`},
			Environment: []hypervisor.NodeVariable{{Name: "CANARY", Value: "canary-of-a-variable"}}},
			hypervisor.NodeStreams{Input: begun, Output: output})
		if err != nil {
			t.Error("running:", err)
		}
	}()
	waittest.Until(t, "the program runs", func() bool { return strings.Contains(output.String(), "\n") })
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range files {
		if raw, _ := os.ReadFile(file); bytes.Contains(raw, []byte("canary-of-a-variable")) {
			t.Errorf("%s has the value: %q", file, raw)
		}
	}
	if len(files) < 3 {
		t.Errorf("only %d processes are seen", len(files))
	}
	_, _ = input.Write([]byte("go on\n"))
	<-done
	if !strings.Contains(output.String(), "canary-of-a-variable\n") {
		t.Errorf("the program says %q", output.String())
	}
}

func TestEndsOfPrograms(t *testing.T) {
	t.Parallel()
	server := sshdtest.Start(t)
	m := pvessh.New(server.Target(), patient)
	for name, c := range map[string]struct {
		command hypervisor.NodeCommand
		want    hypervisor.NodeResult
	}{
		"well":           {hypervisor.NodeCommand{Program: "true"}, hypervisor.NodeResult{}},
		"badly":          {hypervisor.NodeCommand{Program: "false"}, hypervisor.NodeResult{ExitCode: 1}},
		"a code":         {hypervisor.NodeCommand{Program: "sh", Arguments: []string{"-c", "exit 252"}}, hypervisor.NodeResult{ExitCode: 252}},
		"124 of its own": {hypervisor.NodeCommand{Program: "sh", Arguments: []string{"-c", "exit 124"}}, hypervisor.NodeResult{ExitCode: 124}},
		"no program":     {hypervisor.NodeCommand{Program: "no-such-program"}, hypervisor.NodeResult{ExitCode: 127}},
		"a folder":       {hypervisor.NodeCommand{Program: "/tmp"}, hypervisor.NodeResult{ExitCode: 126}},
		"a signal": {hypervisor.NodeCommand{Program: "sh", Arguments: []string{"-c", "kill -TERM $$"}},
			hypervisor.NodeResult{ExitCode: 143, Signal: "TERM"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, _, got := run(t, m, c.command, nil); got != c.want {
				t.Errorf("it ended with %+v, want %+v", got, c.want)
			}
		})
	}
	t.Run("much in all directions", func(t *testing.T) {
		t.Parallel()
		big := bytes.Repeat([]byte("0123456789abcdef"), 1<<18) // 4 MiB
		got, failures, _ := run(t, m, hypervisor.NodeCommand{Program: "sh", Arguments: []string{"-c", "tee /dev/stderr"}}, bytes.NewReader(big))
		if got != string(big) || failures != string(big) {
			t.Errorf("%d and %d bytes came back of %d", len(got), len(failures), len(big))
		}
	})
	t.Run("an input that is not read", func(t *testing.T) {
		t.Parallel()
		endless := readerFunc(func(p []byte) (int, error) { return len(p), nil })
		if _, _, got := run(t, m, hypervisor.NodeCommand{Program: "true"}, endless); !got.OK() {
			t.Errorf("it ended with %+v", got)
		}
	})
	t.Run("an input and an output that fail", func(t *testing.T) {
		t.Parallel()
		mine := errors.New("of mine")
		_, err := m.RunOnNode(t.Context(), hypervisor.NodeCommand{Program: "cat"}, hypervisor.NodeStreams{
			Input: io.MultiReader(strings.NewReader("x"), readerFunc(func([]byte) (int, error) { return 0, mine }))})
		if !errors.Is(err, mine) {
			t.Errorf("a failing input: %v", err)
		}
		_, err = m.RunOnNode(t.Context(), hypervisor.NodeCommand{Program: "yes"}, hypervisor.NodeStreams{Output: writerFunc(
			func([]byte) (int, error) { return 0, mine })})
		if !errors.Is(err, mine) {
			t.Errorf("a failing output: %v", err)
		}
	})
	t.Run("no folder", func(t *testing.T) {
		t.Parallel()
		_, err := m.RunOnNode(t.Context(), hypervisor.NodeCommand{Program: "true", Directory: "/no/such/folder"}, hypervisor.NodeStreams{})
		kind(t, "running", err, plugin.NotFound)
	})
}

type (
	readerFunc func([]byte) (int, error)
	writerFunc func([]byte) (int, error)
)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// What does not end is killed with its children: by its limit, and when the caller goes away.
func TestWhatDoesNotEndIsKilled(t *testing.T) {
	t.Parallel()
	server := sshdtest.Start(t)
	m := pvessh.New(server.Target(), patient)
	// The children say by a lock whether they are there: they hold it for as long as they live.
	stubborn := func(t *testing.T) (hypervisor.NodeCommand, func() bool) {
		lock := filepath.Join(t.TempDir(), "lock")
		return hypervisor.NodeCommand{Program: "sh", Arguments: []string{"-c",
				`trap "" TERM HUP; exec 9>"$1"; flock -n 9; (trap "" TERM HUP; sleep 1000) & echo started; wait; sleep 1000`,
				"sh", lock}}, func() bool {
				return exec.Command("flock", "-n", lock, "true").Run() == nil
			}
	}
	t.Run("limit", func(t *testing.T) {
		t.Parallel()
		command, free := stubborn(t)
		command.Limit = time.Second
		_, err := m.RunOnNode(t.Context(), command, hypervisor.NodeStreams{})
		kind(t, "running", err, plugin.Timeout)
		waittest.Until(t, "nothing of it runs", free)
	})
	t.Run("the caller goes away", func(t *testing.T) {
		t.Parallel()
		command, free := stubborn(t)
		ctx, cancel := context.WithCancel(t.Context())
		_, err := m.RunOnNode(ctx, command, hypervisor.NodeStreams{Output: writerFunc(func(p []byte) (int, error) {
			cancel()
			return len(p), nil
		})})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("the error is %v", err)
		}
		waittest.Until(t, "nothing of it runs", free)
	})
	t.Run("the connection breaks", func(t *testing.T) {
		t.Parallel()
		own := sshdtest.Start(t)
		command, free := stubborn(t)
		command.Limit = 10 * time.Second // longer than it takes to cut the connection
		_, err := pvessh.New(own.Target(), patient).RunOnNode(t.Context(), command, hypervisor.NodeStreams{
			Output: writerFunc(func(p []byte) (int, error) {
				go own.CloseConnections()
				return len(p), nil
			})})
		kind(t, "running", err, plugin.Unreachable)
		waittest.Until(t, "nothing of it runs", free)
	})
}

// A program whose end nobody told has not succeeded, wherever the connection breaks.
func TestCutConnections(t *testing.T) {
	t.Parallel()
	server := sshdtest.Start(t)
	target := server.Target()
	for after := range 15 { // packets of the server
		t.Run(fmt.Sprint(after), func(t *testing.T) {
			t.Parallel()
			cut := target
			cut.SSH.Port = cutting(t, server.Port(), after)
			result, err := pvessh.New(cut, patient).RunOnNode(t.Context(), hypervisor.NodeCommand{Program: "sh",
				Arguments: []string{"-c", "sleep 0.2; echo said; sleep 1000"}, Limit: 2 * time.Second}, hypervisor.NodeStreams{})
			if got := plugin.KindOf(err); got != plugin.Unreachable && got != plugin.Timeout {
				t.Errorf("result %+v, error %v", result, err)
			}
		})
	}
}

// cutting is a port that leads to another one and breaks the connection after so many pieces of what comes from there.
func cutting(t *testing.T, port, after int) int {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		defer func() { _ = conn.Close() }()
		to, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			return
		}
		defer func() { _ = to.Close() }()
		go func() { _, _ = io.Copy(to, conn) }()
		buffer := make([]byte, 512)
		for range after {
			n, err := to.Read(buffer)
			if err != nil {
				return
			}
			_, _ = conn.Write(buffer[:n])
		}
	}()
	return listener.Addr().(*net.TCPAddr).Port
}

// A machine of which nothing is heard any more is given up.
func TestSilence(t *testing.T) {
	t.Parallel()
	server := sshdtest.Start(t)
	target := server.Target()
	quiet := make(chan struct{})
	target.SSH.Port = halting(t, server.Port(), quiet)
	var once sync.Once
	_, err := pvessh.New(target, pvessh.Timeouts{Alive: 50 * time.Millisecond, Silence: 300 * time.Millisecond}).RunOnNode(t.Context(),
		hypervisor.NodeCommand{Program: "sh", Arguments: []string{"-c", "echo said; sleep 1000"}, Limit: 20 * time.Second},
		hypervisor.NodeStreams{Output: writerFunc(func(p []byte) (int, error) {
			once.Do(func() { close(quiet) })
			return len(p), nil
		})})
	kind(t, "running", err, plugin.Timeout)
}

// halting is a port that leads to another one until it falls silent.
func halting(t *testing.T, port int, quiet chan struct{}) int {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		t.Cleanup(func() { _ = conn.Close() })
		to, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			return
		}
		t.Cleanup(func() { _ = to.Close() })
		go func() { _, _ = io.Copy(to, conn) }()
		buffer := make([]byte, 32<<10)
		for {
			n, err := to.Read(buffer)
			if err != nil {
				return
			}
			select {
			case <-quiet:
				<-t.Context().Done()
				return
			default:
			}
			_, _ = conn.Write(buffer[:n])
		}
	}()
	return listener.Addr().(*net.TCPAddr).Port
}

// What the login prints, such as a banner of a .bashrc, is no output of the program.
func TestNoiseOfTheLogin(t *testing.T) {
	t.Parallel()
	server := sshdtest.Start(t)
	server.Configure("ForceCommand echo noise; echo more >&2; eval \"$SSH_ORIGINAL_COMMAND\"")
	got, failures, result := run(t, pvessh.New(server.Target(), patient), hypervisor.NodeCommand{Program: "echo",
		Arguments: []string{"mine"}}, nil)
	if got != "mine\n" || failures != "" || !result.OK() {
		t.Errorf("it says %q and %q, %+v", got, failures, result)
	}
	server.Configure("ForceCommand echo This account is not available. >&2; exit 1")
	_, err := pvessh.New(server.Target(), patient).RunOnNode(t.Context(), hypervisor.NodeCommand{Program: "true"},
		hypervisor.NodeStreams{})
	if e := kind(t, "running", err, plugin.Refused); !strings.Contains(e.Message, "This account is not available.") {
		t.Errorf("the error says %q", e.Message)
	}
}
