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

// process is a child that is watched until it ends.
type process struct {
	cmd  *exec.Cmd
	done chan struct{}
	err  error // valid after done
}

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

func watch(cmd *exec.Cmd) *process {
	p := &process{cmd: cmd, done: make(chan struct{})}
	go func() {
		p.err = cmd.Wait()
		close(p.done)
	}()
	return p
}

// stop asks the child to end, waits, and ends it.
func (p *process) stop() {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.done:
	case <-time.After(stopTime):
		_ = p.cmd.Process.Kill()
		<-p.done
	}
}

// token is one API token of the simulator.
type token struct {
	ID     string `json:"id"`
	Secret string `json:"secret"`
}

// simulator is the line that pvesim prints when it is ready.
type simulator struct {
	URL         string           `json:"url"`
	Fingerprint string           `json:"fingerprint"`
	Tokens      map[string]token `json:"tokens"`
	AdminToken  token            `json:"admin_token"`
	Control     string           `json:"control"`
}

// rebootTime is how long a node that reboots is away: who tries it out sees it go and come back.
const rebootTime = 20 * time.Second

// startSimulator starts a cluster whose nodes are at addresses of their own, as machines are.
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
