package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// process is a child process. done is closed when it has ended; err is its
// result and may be read only after that.
type process struct {
	cmd  *exec.Cmd
	done chan struct{}
	err  error // valid after done
}

// start starts a program in its own process group, with its standard error
// going to output. Ctrl-C in the terminal then only reaches the demo, which
// stops its children in order. Pdeathsig stops the child if the demo is killed;
// the kernel sends it when the thread that started the child ends, so main
// locks its thread.
func start(name, program string, args []string, output io.Writer) (*process, error) {
	cmd := exec.Command(program, args...)
	cmd.Stderr = output
	// A group of its own: Ctrl-C in the terminal reaches us alone, and we stop the children in order.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", name, err)
	}
	return watch(cmd), nil
}

// watch waits for a process that was started and records its result.
func watch(cmd *exec.Cmd) *process {
	p := &process{cmd: cmd, done: make(chan struct{})}
	go func() {
		p.err = cmd.Wait()
		close(p.done)
	}()
	return p
}

// stop sends SIGTERM, waits up to stopTime, and then kills the process. It
// returns when the process has ended, and may be called after that.
func (p *process) stop() {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.done:
	case <-time.After(stopTime):
		_ = p.cmd.Process.Kill()
		<-p.done
	}
}

// token is an API token of the simulator, in the form user@realm!name and its
// secret.
type token struct {
	ID     string `json:"id"`
	Secret string `json:"secret"`
}

// simulator is the line of JSON that pvesim prints when it is ready. Tokens are
// keyed by capability; AdminToken has all privileges and Control is the URL of
// the control interface.
type simulator struct {
	URL         string           `json:"url"`
	Fingerprint string           `json:"fingerprint"`
	Tokens      map[string]token `json:"tokens"`
	AdminToken  token            `json:"admin_token"`
	Control     string           `json:"control"`
}

// rebootTime is how long a simulated node stays offline when it reboots: long
// enough to see it in the user interface, and much shorter than a real reboot.
const rebootTime = 20 * time.Second

// startSimulator starts pvesim and waits until it prints its line. Each node
// listens at its own loopback address (127.0.0.1, 127.0.0.2, ...), like the
// machines of a real cluster, so that the service can find the peers of a node.
func startSimulator(program string, nodes, guests int) (*process, simulator, error) {
	cmd := exec.Command(program, "--listen", "127.0.0.1:0", "--scenario", "cluster", "--nodes", fmt.Sprint(nodes), "--guests",
		fmt.Sprint(guests), "--recommended", "--loopbacks", "--reboot-time", rebootTime.String())
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, simulator{}, err
	}
	if err := cmd.Start(); err != nil {
		return nil, simulator{}, fmt.Errorf("starting the simulator: %w", err)
	}
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err != nil {
		_ = cmd.Process.Kill()
		return nil, simulator{}, fmt.Errorf("the simulator did not become ready: %w", err)
	}
	var ready simulator
	if err := json.Unmarshal(line, &ready); err != nil {
		_ = cmd.Process.Kill()
		return nil, simulator{}, fmt.Errorf("reading the simulator's line: %w", err)
	}
	return watch(cmd), ready, nil
}
