// Package jobtest starts instances of the service in processes of their own,
// for tests that kill them.
package jobtest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"testing"
)

// argsKey is the variable of the environment that makes a test's program such a process.
const argsKey = "HOSTLER_TEST_CHILD"

// Main is TestMain of a package whose tests call Start: in the processes that
// Start makes it calls child with the arguments given there, and lets the
// process live until its test ends. An error of child is printed and ends the
// process.
func Main(m *testing.M, child func(args []string) error) {
	text, is := os.LookupEnv(argsKey)
	if !is {
		os.Exit(m.Run())
	}
	var args []string
	err := json.Unmarshal([]byte(text), &args)
	if err == nil {
		err = child(args)
	}
	if err != nil {
		fmt.Println("failed:", err)
		os.Exit(1)
	}
	_, _ = bufio.NewReader(os.Stdin).ReadByte() // it ends with its test, and cannot outlive that
}

// Process is a process that Start started.
type Process struct {
	cmd *exec.Cmd
	out *bufio.Reader
}

// Start starts the test's program as a child with the arguments. It ends with the test.
func Start(t testing.TB, args ...string) *Process {
	t.Helper()
	if testing.Short() {
		t.Skip("starts and kills a service: make check runs it")
	}
	text, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	p := &Process{cmd: exec.Command(os.Args[0])}
	p.cmd.Env = append(os.Environ(), argsKey+"="+string(text))
	stdin, err := p.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.out = bufio.NewReader(stdout)
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = stdin.Close()
		p.Kill()
	})
	return p
}

// Says waits for the child's next line, which must be this one.
func (p *Process) Says(t testing.TB, want string) {
	t.Helper()
	if said, err := p.out.ReadString('\n'); said != want+"\n" {
		t.Errorf("the service said %q (%v), want %q", said, err, want)
	}
}

// PID is the process's id.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Kill kills the process as kill -9 does and waits for its end. It may be called twice.
func (p *Process) Kill() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
}
