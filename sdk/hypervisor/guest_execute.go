package hypervisor

import (
	"context"
	"io"

	"github.com/hostler/hostler/sdk/plugin"
)

// GuestExecutor is implemented by hosts that run programs inside containers. Like
// NodeExecutor it needs no capability, but a target with a login to the machine.
// Only containers of that machine can be reached.
//
// The rules of NodeExecutor for commands, streams, files, connections and errors
// apply: no text of the caller becomes part of a command that a shell reads, and
// the values of variables do not appear in the arguments of any process, inside or
// outside the container.
//
// The program runs as root of the container, in all of the container's namespaces.
// Its environment has the variables of the command, a PATH of the usual folders and
// HOME, and nothing of the machine's environment. A guest that is not on this
// machine is NotFound, one that is not running is Conflict, and a VM is
// Unsupported. A container without a shell or without the program timeout is
// Unsupported too.
//
// Containers are not trusted: the program in the container may return false output,
// exit codes and files.
type GuestExecutor interface {
	// RunInGuest is RunOnNode inside a container. A program that was ended by a
	// signal may be reported by an ExitCode of 128 or more alone. A program that
	// exceeds its limit is killed with all of its children, except those that moved
	// to their own session.
	RunInGuest(ctx context.Context, guest GuestRef, command NodeCommand, streams NodeStreams) (NodeResult, error)
	// CopyToGuest is CopyToNode inside a container. The file belongs to the
	// container's root.
	CopyToGuest(ctx context.Context, guest GuestRef, file NodeFile, content io.Reader) (sha256 string, err error)
	// CopyFromGuest is CopyFromNode inside a container.
	CopyFromGuest(ctx context.Context, guest GuestRef, path string, limit int64, content io.Writer) (NodeFile, error)
}

// CheckContainer returns Unsupported for a VM and NotFound for a malformed ID.
// Drivers call it first. A ref that came over a plugin connection is already
// checked.
func CheckContainer(guest GuestRef) error {
	switch {
	case guest.Kind != Container:
		return plugin.Errorf(plugin.Unsupported, "running programs and listing sockets is only possible in containers, not in VMs")
	case !guest.ID.Valid():
		return plugin.Errorf(plugin.NotFound, "the guest does not exist")
	}
	return nil
}
