package hypervisor

import "context"

// SocketLister is satisfied by hosts that can tell at which ports the programs
// of a container listen. Like GuestExecutor it needs a target that logs in to
// the machine, and its guests are refused alike.
type SocketLister interface {
	// Sockets reads the kernel's own tables of the container's network. A
	// container that uses its machine's network is Unsupported: what listens
	// there is not its own.
	Sockets(ctx context.Context, guest GuestRef) (SocketList, error)
}

// MaxSockets is how many sockets are told of one container.
const MaxSockets = 1000

// SocketList is the answer of SocketLister.Sockets.
type SocketList struct {
	// Sockets are sorted by protocol, port and address, at most MaxSockets.
	Sockets []Socket
	// More is true when there are more than these.
	More bool
}

// The protocols of a Socket.
const (
	TCP = "tcp"
	UDP = "udp"
)

// Socket is one that a program listens at, or that takes datagrams from anybody.
type Socket struct {
	Protocol string
	// Address is the local one. An unspecified one is all addresses: that of
	// IPv6 mostly takes IPv4, too. An IPv4 address is never told in its form of
	// IPv6, and none with a zone.
	Address string
	// Port is 1 to 65535.
	Port int
	// Program is the name of a process that has it, at most 64 bytes in one
	// line, as the process calls itself; empty where none is known.
	Program string
	// UserID is the owner's id as the container counts; nil where it has none there.
	UserID *int64
}
