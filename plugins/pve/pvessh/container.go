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
	containerNone    = 20 // it is not on this node
	containerIsVM    = 21
	containerStopped = 22
	containerShares  = 23 // the node's network
)

// findContainer is the script's part that looks for the container $1: its configuration is where Proxmox VE keeps those of its own node.
const findContainer = `[ -e "/etc/pve/lxc/$1.conf" ] || { [ ! -e "/etc/pve/qemu-server/$1.conf" ] || exit 21; exit 20; }
[ "$(lxc-info -H -s -n "$1" 2>/dev/null)" = RUNNING ] || exit 22
`

// enter is the script that runs a command in the container $1: $2 is the reader of the command's lines. It is lxc-attach that is called,
// and not "pct exec": pct calls that itself, after a start of half a second, and hands the node's environment on (pve-container before 5.1
// knows no other way). The shell between the two turns a death by a signal into a number, which lxc-attach does not tell.
const enter = findContainer + `exec lxc-attach -n "$1" --clear-env -- /bin/sh -c '/bin/sh -c "$1" hostler; exit "$?"' hostler "$2"
`

// end is the script that kills the group of processes $2 in the container $1, as the container counts them.
const end = `exec lxc-attach -n "$1" --clear-env -- /bin/sh -c 'kill -9 "-$1"' hostler "$2"
`

// afterInner is how much longer than a program inside of the container lxc-attach may run.
const afterInner = 3 * time.Second

// RunInContainer runs a program in a container of this node: see hypervisor.GuestExecutor. The id is digits.
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

// homed is a command with the variables of a login as root.
func homed(command hypervisor.NodeCommand) hypervisor.NodeCommand {
	for _, v := range command.Environment {
		if v.Name == "HOME" {
			return command
		}
	}
	command.Environment = append([]hypervisor.NodeVariable{{Name: "HOME", Value: "/root"}}, command.Environment...)
	return command
}

// containerError is the error of a script that did not get to a container; nil for other ends.
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

// endInContainer kills what a caller who has gone had started, as far as it is known. The program leads a group of its own in there, which
// does not end with lxc-attach.
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

func (m *Machine) in(id string) runner {
	return func(ctx context.Context, command hypervisor.NodeCommand, streams hypervisor.NodeStreams) (hypervisor.NodeResult, error) {
		return m.RunInContainer(ctx, id, command, streams)
	}
}

// Sockets tells where the programs of a container listen: see hypervisor.SocketLister.
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

// bounded fails when more comes than is left.
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
