package hypervisor

import (
	"context"
	"io"

	"github.com/hostler/hostler/sdk/plugin"
)

// GuestExecutor is satisfied by hosts that run programs inside of their containers. Like NodeExecutor it needs no capability, but a
// target that logs in to the machine; only containers of that machine are reached. Everything that NodeExecutor says of commands, streams,
// files, connections and errors holds: no text of the caller's is ever part of a command that a shell reads, and values of variables stand
// in no process's arguments, on neither side.
//
// The program runs as the container's root, in all of its namespaces, with the environment that the command has, a PATH of the usual
// folders and HOME; nothing of the machine's own environment gets there. A guest that is not on this machine is NotFound, one that does
// not run Conflict, a VM Unsupported. A container without a shell and the program timeout is Unsupported, too.
//
// Containers are not trusted: what runs inside may lie in all that it says.
type GuestExecutor interface {
	// RunInGuest is RunOnNode inside of a container. That a signal has ended a program may be told by an ExitCode of 128 and more alone. A
	// program that does not end in time is killed with all that it has started and not put
	// into a session of its own.
	RunInGuest(ctx context.Context, guest GuestRef, command NodeCommand, streams NodeStreams) (NodeResult, error)
	// CopyToGuest is CopyToNode inside of a container. The file belongs to the container's root.
	CopyToGuest(ctx context.Context, guest GuestRef, file NodeFile, content io.Reader) (sha256 string, err error)
	// CopyFromGuest is CopyFromNode inside of a container.
	CopyFromGuest(ctx context.Context, guest GuestRef, path string, limit int64, content io.Writer) (NodeFile, error)
}

// CheckContainer refuses a guest that is a VM as Unsupported, and one whose id can be no guest's as NotFound. Drivers call it first; over
// a connection that was done.
func CheckContainer(guest GuestRef) error {
	switch {
	case guest.Kind != Container:
		return plugin.Errorf(plugin.Unsupported, "programs are run inside of containers, and sockets are told of these, not of VMs")
	case !guest.ID.Valid():
		return plugin.Errorf(plugin.NotFound, "there is no guest of this id")
	}
	return nil
}
