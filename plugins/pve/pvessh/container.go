package pvessh

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// How scripts end that look for a container.
const (
	// These are the exit codes of scripts that did not find a usable container.
	containerNone    = 20 // it is not on this node
	containerIsVM    = 21
	containerStopped = 22
	containerShares  = 23 // the node's network
)

// findContainer is the part of a script that looks for the container $1.
// Proxmox VE keeps the configurations of the guests of the node itself in
// /etc/pve/lxc and /etc/pve/qemu-server, so a guest of another node is not
// found.
const findContainer = `[ -e "/etc/pve/lxc/$1.conf" ] || { [ ! -e "/etc/pve/qemu-server/$1.conf" ] || exit 21; exit 20; }
[ "$(lxc-info -H -s -n "$1" 2>/dev/null)" = RUNNING ] || exit 22
`

// enter is the script that runs a command in the container $1; $2 is the reader
// of the command's lines (see frame.go). It calls lxc-attach instead of "pct
// exec": pct takes half a second to start, and passes the node's environment on
// (pve-container before 5.1 cannot do otherwise). The shell in between turns a
// death by a signal into an exit code, because lxc-attach does not report the
// signal.
const enter = findContainer + `exec lxc-attach -n "$1" --clear-env -- /bin/sh -c '/bin/sh -c "$1" hostler; exit "$?"' hostler "$2"
`

// end is the script that kills the process group $2 in the container $1. $2 is
// a process ID as the container counts them.
const end = `exec lxc-attach -n "$1" --clear-env -- /bin/sh -c 'kill -9 "-$1"' hostler "$2"
`

// afterInner is how much longer than the program in the container lxc-attach
// may run, so that the limit inside ends first.
const afterInner = 3 * time.Second

// RunInContainer runs a program in a container of this node, as
// hypervisor.GuestExecutor describes. id consists of digits; the caller has
// checked it. The lines of the command and the program's input travel together
// on standard input. If the call ends with an error, the program in the
// container is killed as far as its process is known, since it does not end
// with lxc-attach.
//
// The errors are NotFound for a container that is not on this node, Unsupported
// for a VM or a container without /bin/sh, Conflict for a stopped container,
// and Timeout for a program that was killed at its limit.
func (m *Machine) RunInContainer(ctx context.Context, id string, command hypervisor.NodeCommand, streams hypervisor.NodeStreams) (
	hypervisor.NodeResult, error) {
	if err := command.Check(); err != nil {
		return hypervisor.NodeResult{}, err
	}
	limit := limitOf(ctx, command.Limit)
	seconds := int64((limit + time.Second - 1) / time.Second)
	lines, word := frame(homed(command), seconds)
	output, failures := newGate(word, streams.Output), newGate(word, streams.Errors)
	input := io.Reader(bytes.NewReader(lines))
	if streams.Input != nil {
		input = io.MultiReader(input, streams.Input)
	}
	began := time.Now()
	result, err := m.RunOnNode(ctx, hypervisor.NodeCommand{
		Program: "/bin/sh", Arguments: []string{"-c", enter, "hostler-enter", id, reader},
		Limit: time.Duration(seconds)*time.Second + afterInner,
	}, hypervisor.NodeStreams{Input: input, Output: output, Errors: failures})
	if write, ok := errors.AsType[writeError](err); ok { // of a gate
		err = write.error
	}
	late := plugin.Errorf(plugin.Timeout, "the program did not finish within %d s and was killed", seconds)
	switch {
	case err != nil:
		m.endInContainer(ctx, id, output.process())
		return hypervisor.NodeResult{}, err
	case output.open():
		if killedAt(result, time.Since(began), time.Duration(seconds)*time.Second) {
			return hypervisor.NodeResult{}, late
		}
		return result, nil
	case result.ExitCode == 126 || result.ExitCode == 127:
		return hypervisor.NodeResult{}, plugin.Errorf(plugin.Unsupported, "the container has no /bin/sh, or the node has no lxc-attach")
	}
	if err := containerError(result); err != nil {
		return hypervisor.NodeResult{}, err
	}
	return hypervisor.NodeResult{}, unstarted(result, failures)
}

// homed adds HOME=/root to a command that does not set HOME, like a login
// would; lxc-attach --clear-env removes it.
func homed(command hypervisor.NodeCommand) hypervisor.NodeCommand {
	for _, v := range command.Environment {
		if v.Name == "HOME" {
			return command
		}
	}
	command.Environment = append([]hypervisor.NodeVariable{{Name: "HOME", Value: "/root"}}, command.Environment...)
	return command
}

// containerError returns the error for the exit codes of findContainer, or nil
// for other ends.
func containerError(result hypervisor.NodeResult) error {
	switch result.ExitCode {
	case containerNone:
		return plugin.Errorf(plugin.NotFound, "the container is not on this node")
	case containerIsVM:
		return plugin.Errorf(plugin.Unsupported, "the guest is a VM")
	case containerStopped:
		return plugin.Errorf(plugin.Conflict, "the container is not running")
	case containerShares:
		return plugin.Errorf(plugin.Unsupported, "the container shares the network of its node, so its listening sockets cannot be told "+
			"apart")
	}
	return nil
}

// endInContainer kills the process group of a program whose caller gave up. It
// uses its own context, because the caller's has ended. Errors are ignored: a
// program that cannot be reached ends at its limit.
func (m *Machine) endInContainer(ctx context.Context, id, leader string) {
	if leader == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), m.waits.Kill)
	defer cancel()
	_, _ = m.RunOnNode(ctx, hypervisor.NodeCommand{Program: "/bin/sh", Arguments: []string{"-c", end, "hostler-end", id, leader},
		Limit: m.waits.Kill}, hypervisor.NodeStreams{}) // what cannot be reached ends at its limit
}

// CopyToContainer stores a file in a container: see hypervisor.GuestExecutor.
func (m *Machine) CopyToContainer(ctx context.Context, id string, file hypervisor.NodeFile, content io.Reader) (string, error) {
	return copyTo(ctx, m.in(id), file, content)
}

// CopyFromContainer reads a file of a container: see hypervisor.GuestExecutor.
func (m *Machine) CopyFromContainer(ctx context.Context, id, path string, limit int64, content io.Writer) (hypervisor.NodeFile, error) {
	return copyFrom(ctx, m.in(id), path, limit, content)
}

// in returns a runner for programs in a container.
func (m *Machine) in(id string) runner {
	return func(ctx context.Context, command hypervisor.NodeCommand, streams hypervisor.NodeStreams) (hypervisor.NodeResult, error) {
		return m.RunInContainer(ctx, id, command, streams)
	}
}

// Sockets lists where the programs of a container listen, as
// hypervisor.SocketLister describes. It reads the kernel's tables on the node:
// nothing of the container is run and none of its paths are followed, so it
// also works for containers without tools. Only the names of the programs are
// the container's own word.
func (m *Machine) Sockets(ctx context.Context, id string) (hypervisor.SocketList, error) {
	var read, words bytes.Buffer
	result, err := m.RunOnNode(ctx, hypervisor.NodeCommand{
		Program: "/bin/sh", Arguments: []string{"-c", readSockets, "hostler-sockets", id}, Limit: 20 * time.Second,
	}, hypervisor.NodeStreams{Output: &bounded{to: &read, left: maxSocketText}, Errors: limited{&words}})
	if err != nil {
		return hypervisor.SocketList{}, err
	}
	if err := containerError(result); err != nil {
		return hypervisor.SocketList{}, err
	}
	if !result.OK() {
		return hypervisor.SocketList{}, failed("the script that reads the sockets", result, words.String())
	}
	return parseSockets(strings.ToValidUTF8(read.String(), "?"))
}

// bounded is a buffer that fails when more than left bytes are written.
type bounded struct {
	to   *bytes.Buffer
	left int
}

func (b *bounded) Write(p []byte) (int, error) {
	if b.left -= len(p); b.left < 0 {
		return 0, plugin.Errorf(plugin.Protocol, "the list of the container's sockets is too long")
	}
	return b.to.Write(p)
}
