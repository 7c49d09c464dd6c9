package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// machine is a root that can be booted in a container. The zero value does not
// run.
type machine struct {
	root   string
	nspawn *exec.Cmd
	ended  chan struct{}
	init   int // the container's process 1, as this machine numbers it
	boots  int
}

// runs reports whether the container was started and not killed.
func (m *machine) runs() bool { return m.nspawn != nil }

// boot starts the container and waits until systemd has finished booting. The
// container has its own network with only a loopback interface, so nothing of
// this machine is reachable and nothing is reachable from it. Pdeathsig kills
// it if this program dies.
func (m *machine) boot(ctx context.Context, root string) error {
	m.root, m.boots = root, m.boots+1
	console, err := os.OpenFile(filepath.Join(filepath.Dir(root), "console"), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = console.Close() }()
	// Of its own: loopback and nothing else, so that nothing here reaches, or is reached by, what runs on this machine.
	cmd := exec.Command("systemd-nspawn", "--quiet", "-b", "-D", root, "-M",
		fmt.Sprintf("hostler-check-%d-%s", os.Getpid(), filepath.Base(filepath.Dir(root))), "--register=no", "--keep-unit", "--private-network",
		"--resolv-conf=off", "--timezone=off", "--console=pipe")
	cmd.Stdout, cmd.Stderr = console, console
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	started := make(chan error)
	ended := make(chan struct{})
	go func() {
		// Pdeathsig is bound to the thread that starts the process.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait() // how it ended does not matter
			close(ended)
		}
	}()
	if err := <-started; err != nil {
		return fmt.Errorf("booting: %w", err)
	}
	m.nspawn, m.ended = cmd, ended
	return m.up(ctx)
}

// up waits for process 1 and for the end of the boot. A degraded system counts
// as booted; the steps notice failed units themselves.
func (m *machine) up(ctx context.Context) error {
	if err := until(ctx, 20*time.Second, m.findInit); err != nil {
		return err
	}
	return until(ctx, 90*time.Second, func() error {
		state, err := m.sh(ctx, "systemctl is-system-running")
		if state == "running" || state == "degraded" {
			return nil
		}
		return fmt.Errorf("the system is %q: %w", state, err)
	})
}

// findInit finds the process that has the ID 1 in its own PID namespace, among
// the descendants of systemd-nspawn.
func (m *machine) findInit() error {
	for _, pid := range append([]int{}, descendants(m.nspawn.Process.Pid)...) {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(text)) {
			if fields := strings.Fields(line); len(fields) > 2 && fields[0] == "NSpid:" && fields[len(fields)-1] == "1" {
				m.init = pid
				return nil
			}
		}
	}
	return errors.New("there is no process 1")
}

// descendants returns all processes below a process.
func descendants(pid int) []int {
	var all []int
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid)) // the pattern is good
	for _, task := range tasks {
		text, err := os.ReadFile(task)
		if err != nil {
			continue
		}
		for _, field := range strings.Fields(string(text)) {
			if child, err := strconv.Atoi(field); err == nil {
				all = append(all, child)
				all = append(all, descendants(child)...)
			}
		}
	}
	return all
}

// sh runs a command line in the container as root, in all its namespaces and
// with a clean environment, and returns its trimmed output.
func (m *machine) sh(ctx context.Context, line string) (string, error) {
	if !m.runs() {
		return "", errors.New("the machine does not run")
	}
	cmd := exec.CommandContext(ctx, "nsenter", "-t", strconv.Itoa(m.init), "-a", "--", "env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin",
		"DEBIAN_FRONTEND=noninteractive",
		"LC_ALL=C.UTF-8", "HOME=/root", "sh", "-c", line)
	cmd.WaitDelay = 5 * time.Second
	return output(cmd)
}

// dial opens a connection in the container's network. A socket belongs to the
// network of the thread that creates it.
func (m *machine) dial(ctx context.Context, network, address string) (conn net.Conn, err error) {
	err = m.inside(func() error {
		conn, err = (&net.Dialer{}).DialContext(ctx, network, address)
		return err
	})
	return conn, err
}

// listen listens inside the container.
func (m *machine) listen(ctx context.Context, address string) (listener net.Listener, err error) {
	err = m.inside(func() error {
		listener, err = (&net.ListenConfig{}).Listen(ctx, "tcp", address)
		return err
	})
	return listener, err
}

// inside runs a function on a thread that has joined the container's network
// namespace. If the thread cannot return to its own namespace, it stays locked,
// and Go ends it with its goroutine.
func (m *machine) inside(do func() error) error {
	theirs, err := os.Open(fmt.Sprintf("/proc/%d/ns/net", m.init))
	if err != nil {
		return fmt.Errorf("the machine does not run: %w", err)
	}
	defer func() { _ = theirs.Close() }()
	runtime.LockOSThread()
	ours, err := os.Open("/proc/thread-self/ns/net")
	if err != nil {
		runtime.UnlockOSThread()
		return err
	}
	defer func() { _ = ours.Close() }()
	if err := unix.Setns(int(theirs.Fd()), unix.CLONE_NEWNET); err != nil {
		runtime.UnlockOSThread()
		return err
	}
	err = do()
	if back := unix.Setns(int(ours.Fd()), unix.CLONE_NEWNET); back != nil {
		return errors.Join(err, back) // still locked: the thread ends with its goroutine
	}
	runtime.UnlockOSThread()
	return err
}

// reboot shuts the system down in order and boots it again. A container ends
// when its system reboots, so this program starts it again.
func (m *machine) reboot(ctx context.Context) error {
	if _, err := m.sh(ctx, "systemctl reboot --no-block"); err != nil {
		return err
	}
	select {
	case <-m.ended:
	case <-time.After(3 * time.Minute):
		return errors.New("it does not go down")
	case <-ctx.Done():
		return ctx.Err()
	}
	m.nspawn, m.init = nil, 0
	return m.boot(ctx, m.root)
}

// kill ends all processes of the container at once, like a power failure. File
// systems are not lost with it, so it does not test what was not synced to
// disk. It does nothing if the container does not run.
func (m *machine) kill() error {
	if !m.runs() {
		return nil
	}
	init := m.init
	err := m.nspawn.Process.Kill()
	if init != 0 {
		// Process 1 dies with its parent; a kernel that has not got to that yet is helped.
		_ = syscall.Kill(init, syscall.SIGKILL)
	}
	<-m.ended
	m.nspawn, m.init = nil, 0
	if errors.Is(err, os.ErrProcessDone) {
		return nil
	}
	return err
}
