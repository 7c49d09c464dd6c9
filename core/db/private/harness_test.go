package private_test

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/db/private"
	"github.com/hostler/hostler/internal/programtest"
)

// The test binary started again with this variable is a service of its own: it starts a cluster with the configuration in
// the variable, prints its URL and waits for the end of its input to stop it.
const serviceVariable = "HOSTLER_PRIVATE_TEST_SERVICE"

func TestMain(m *testing.M) {
	if text := os.Getenv(serviceVariable); text != "" {
		if err := serve(text); err != nil {
			fmt.Println("error:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if err := dbtest.UseMemory(clusters); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// clusters is the room in bytes that the clusters of all tests take at once, and much more.
const clusters = 4 << 30

func serve(text string) error {
	var config private.Config
	if err := json.Unmarshal([]byte(text), &config); err != nil {
		return err
	}
	config.Logger = hclog.New(&hclog.LoggerOptions{Name: "service", Level: hclog.Debug, Output: os.Stderr})
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	c, err := private.Start(ctx, config)
	if err != nil {
		return err
	}
	fmt.Println(c.URL())
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		return err
	}
	return c.Stop(ctx)
}

// service is a second process with a cluster.
type service struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout io.Reader
	first  string // the first line that it printed: the URL or an error
}

// run starts a service in a process of its own, as user id uid when that is not negative, and waits for its first words.
func run(t *testing.T, config private.Config, uid int) *service {
	t.Helper()
	return launch(t, config, uid).listen(t)
}

// listen waits for the first words.
func (s *service) listen(t *testing.T) *service {
	t.Helper()
	line, err := bufio.NewReader(s.stdout).ReadString('\n')
	if err != nil {
		t.Fatal("the service said nothing:", err)
	}
	s.first = line[:len(line)-1]
	return s
}

// runWith is run with more in the environment.
func runWith(t *testing.T, config private.Config, environment ...string) *service {
	t.Helper()
	return launch(t, config, -1, environment...).listen(t)
}

// runAs runs a program as another user and gives all that it says.
func runAs(uid int, program string, args ...string) (string, error) {
	cmd := exec.Command(program, args...)
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// launch is run without the wait.
func launch(t *testing.T, config private.Config, uid int, environment ...string) *service {
	t.Helper()
	if testing.Short() {
		t.Skip("starts a service in a process of its own: make check runs it")
	}
	config.Logger = nil
	text, err := json.Marshal(config)
	if err != nil {
		t.Fatal(err)
	}
	program := os.Args[0]
	cmd := exec.Command(program)
	if uid >= 0 {
		// The other user cannot enter the folder of the test binary.
		cmd.Path = filepath.Join(passable(t), "service")
		copyProgram(t, program, cmd.Path)
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}}
	}
	cmd.Dir = "/"
	cmd.Env = append(os.Environ(), serviceVariable+"="+string(text), "PGHOST=/nowhere", "PGPORT=1", "PGUSER=nobody", "PGDATABASE=none")
	cmd.Env = append(cmd.Env, environment...)
	cmd.Stderr = t.Output()
	cmd.WaitDelay = time.Second
	s := &service{cmd: cmd}
	if s.stdin, err = cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if s.stdout, err = cmd.StdoutPipe(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.end()
		if pid := postmasterOf(config.Dir); alive(pid) { // of a killed service, when the test failed before it was taken over
			_ = syscall.Kill(pid, syscall.SIGQUIT)
		}
	})
	return s
}

// end lets the service stop in order.
func (s *service) end() {
	s.stdin.Close()
	_ = s.cmd.Wait()
}

// kill is kill -9 of the service alone.
func (s *service) kill(t *testing.T) {
	t.Helper()
	if err := s.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = s.cmd.Wait() // killed
}

// passable makes a folder that every user can enter; the test's own temporary folder is not.
func passable(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp(cmp.Or(dbtest.Memory(clusters), "/tmp"), "hostler-private-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o711); err != nil {
		t.Fatal(err)
	}
	return dir
}

func copyProgram(t *testing.T, from, to string) {
	t.Helper()
	program, err := os.ReadFile(from)
	if err == nil {
		err = programtest.Write(to, program)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// postmasterOf reads the process id of the cluster in dir; 0 when none is noted.
func postmasterOf(dir string) int {
	text, err := os.ReadFile(filepath.Join(dir, "data", "postmaster.pid"))
	if err != nil {
		return 0
	}
	var pid int
	if _, err := fmt.Sscan(string(text), &pid); err != nil {
		return 0
	}
	return pid
}

// alive reports whether a process runs; one that nobody has waited for yet does not.
func alive(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, state, _ := strings.Cut(string(text), ") ")
	return !strings.HasPrefix(state, "Z")
}
