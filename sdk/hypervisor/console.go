package hypervisor

import (
	"context"
	"io"

	"github.com/hostler/hostler/sdk/plugin"
)

// ConsoleKind is what a console carries.
type ConsoleKind string

// The kinds of consoles.
const (
	// ConsoleTerminal carries what a terminal does: bytes, and sizes.
	ConsoleTerminal ConsoleKind = "terminal"
	// ConsoleGraphical carries the RFB protocol (RFC 6143).
	ConsoleGraphical ConsoleKind = "graphical"
)

// OperationConsole is what a task does that is there for an open console, where the hypervisor has such tasks. Its failure means that
// nobody came to the console, or how it was left: nothing that anybody has to look after.
const OperationConsole Operation = "console"

// ConsoleSpec is a console to open.
type ConsoleSpec struct {
	// Guest is whose console it is. Nil asks for a shell of Node.
	Guest *GuestRef
	// Node is the node of the shell; empty with a Guest.
	Node string
	// Kind is what it shall carry. Empty takes a terminal where the guest has one, else the graphical console. A node has terminals only.
	Kind ConsoleKind
	// Columns and Rows are the first size of a terminal; zero leaves them to the hypervisor.
	Columns, Rows int
}

// MaxConsoleSize is how many columns or rows a terminal has at most.
const MaxConsoleSize = 4096

// Check refuses what no driver could open, as Invalid with its field: guest and node both or neither, a kind that there is not, a node's
// graphical console, half a size or one out of bounds. Drivers call it first; over a connection that was done.
func (s ConsoleSpec) Check() error {
	refuse := func(field, format string, args ...any) error {
		err := plugin.Errorf(plugin.Invalid, format, args...)
		err.Field = field
		return err
	}
	switch {
	case s.Guest == nil && s.Node == "":
		return refuse("node", "a console is of a guest or of a node")
	case s.Guest != nil && s.Node != "":
		return refuse("node", "a console is of a guest or of a node, not of both")
	case s.Kind != "" && s.Kind != ConsoleTerminal && s.Kind != ConsoleGraphical:
		return refuse("kind", "there is no console of kind %.40q", s.Kind)
	case s.Guest == nil && s.Kind == ConsoleGraphical:
		return refuse("kind", "a node has terminals only")
	case s.Columns == 0 && s.Rows == 0:
		return nil
	}
	return CheckConsoleSize(s.Columns, s.Rows)
}

// CheckConsoleSize refuses a size that no terminal has, as Invalid with its field.
func CheckConsoleSize(columns, rows int) error {
	for _, side := range []struct {
		field string
		n     int
	}{{"columns", columns}, {"rows", rows}} {
		if side.n < 1 || side.n > MaxConsoleSize {
			err := plugin.Errorf(plugin.Invalid, "a terminal has 1 to %d %s", MaxConsoleSize, side.field)
			err.Field = side.field
			return err
		}
	}
	return nil
}

// Console is an open console. Read and Write carry what the person sees and types, without any framing of the hypervisor. They may be
// called at the same time, each by one goroutine. Read ends with io.EOF when the other side has ended it, with net.ErrClosed after Close,
// and with an error of a kind of the SDK else; a Write that comes too late fails for the same reason. Close ends it at once, also a
// Read or a Write that waits, and may be called more than once; the caller closes.
type Console interface {
	io.ReadWriteCloser
	// Kind is what it carries.
	Kind() ConsoleKind
	// Password is what a client of RFB answers the server's challenge with; empty where none is asked for, and for terminals.
	Password() string
	// Resize tells a terminal its size. A graphical console ignores it.
	Resize(ctx context.Context, columns, rows int) error
}

// ConsoleLimit is a console that cannot be opened on this release of the hypervisor with a token, whatever its privileges.
type ConsoleLimit struct {
	// Of is what it is about: the GuestKind ("vm", "container"), or "node".
	Of   string
	Kind ConsoleKind
	// Reason says in a sentence for people which release of what is missing, and which is there.
	Reason string
}

// Consoler is satisfied by hosts that give consoles. It needs the Console capability.
type Consoler interface {
	// OpenConsole opens one and returns when bytes can flow, at the latest with ctx, which bounds the opening only. NotFound: the guest
	// or node is not there. Conflict: the guest does not run. Invalid with the field "kind": it has no such console. Unsupported:
	// this release cannot give it to tokens. Denied, Busy (no port or slot is free), Unreachable, Timeout as everywhere.
	OpenConsole(ctx context.Context, spec ConsoleSpec) (Console, error)
	// ConsoleLimits says what this release cannot do; none where everything works, and where it cannot be told.
	ConsoleLimits(ctx context.Context) ([]ConsoleLimit, error)
}
