package hypervisor

import (
	"context"
	"io"

	"github.com/hostler/hostler/sdk/plugin"
)

// ConsoleKind is the protocol that a console carries.
type ConsoleKind string

// The kinds of consoles.
const (
	// ConsoleTerminal carries what a terminal does: bytes, and sizes.
	ConsoleTerminal ConsoleKind = "terminal"
	// ConsoleGraphical carries the RFB protocol (RFC 6143).
	ConsoleGraphical ConsoleKind = "graphical"
)

// OperationConsole is the operation of the task that exists while a console is
// open, at hypervisors that have such tasks. Its failure means that nobody
// connected to the console, or only how the connection ended. Nobody needs to act
// on it.
const OperationConsole Operation = "console"

// ConsoleSpec describes a console to open.
type ConsoleSpec struct {
	// Guest is the guest of the console. Nil requests a shell of Node.
	Guest *GuestRef
	// Node is the node of the shell. It is empty if Guest is set.
	Node string
	// Kind is the requested protocol. An empty value selects a terminal if the
	// guest has one, and the graphical console otherwise. A node has terminals
	// only.
	Kind ConsoleKind
	// Columns and Rows are the initial size of a terminal in characters. Zero
	// leaves them to the hypervisor.
	Columns, Rows int
}

// MaxConsoleSize is the largest number of columns and of rows of a terminal.
const MaxConsoleSize = 4096

// Check returns Invalid, with the field, for a spec that no driver can open: guest
// and node both set or both empty, an unknown kind, the graphical console of a
// node, or a size that is incomplete or out of bounds. Drivers call it first. A
// spec that came over a plugin connection is already checked.
func (s ConsoleSpec) Check() error {
	refuse := func(field, format string, args ...any) error {
		err := plugin.Errorf(plugin.Invalid, format, args...)
		err.Field = field
		return err
	}
	switch {
	case s.Guest == nil && s.Node == "":
		return refuse("node", "a console needs a guest or a node")
	case s.Guest != nil && s.Node != "":
		return refuse("node", "a console needs either a guest or a node, not both")
	case s.Kind != "" && s.Kind != ConsoleTerminal && s.Kind != ConsoleGraphical:
		return refuse("kind", "unknown console kind %.40q", s.Kind)
	case s.Guest == nil && s.Kind == ConsoleGraphical:
		return refuse("kind", "a node has only text consoles")
	case s.Columns == 0 && s.Rows == 0:
		return nil
	}
	return CheckConsoleSize(s.Columns, s.Rows)
}

// CheckConsoleSize returns Invalid, with the field "columns" or "rows", for a size
// outside 1 to MaxConsoleSize.
func CheckConsoleSize(columns, rows int) error {
	for _, side := range []struct {
		field string
		n     int
	}{{"columns", columns}, {"rows", rows}} {
		if side.n < 1 || side.n > MaxConsoleSize {
			err := plugin.Errorf(plugin.Invalid, "a terminal must have 1 to %d %s", MaxConsoleSize, side.field)
			err.Field = side.field
			return err
		}
	}
	return nil
}

// Console is an open console. Read and Write carry the bytes of the protocol
// without any framing of the hypervisor. One goroutine may read while another one
// writes.
//
// Read returns io.EOF after the other side has ended the console, net.ErrClosed
// after Close, and otherwise a *plugin.Error. A Write after the end fails for the
// same reason. Close ends the console at once and unblocks a waiting Read or Write.
// It may be called more than once. The caller of OpenConsole closes the console.
type Console interface {
	io.ReadWriteCloser
	// Kind returns the protocol of the console.
	Kind() ConsoleKind
	// Password returns the password with which an RFB client answers the server's
	// challenge (RFC 6143 section 7.2.2). It is empty for terminals and if the
	// server asks for none.
	Password() string
	// Resize sets the size of a terminal, in characters. A graphical console
	// ignores it.
	Resize(ctx context.Context, columns, rows int) error
}

// ConsoleLimit describes consoles that this release of the hypervisor cannot open
// with an API token, whatever its privileges.
type ConsoleLimit struct {
	// Of is the GuestKind ("vm", "container") or "node".
	Of string
	// Kind is the protocol that is unavailable.
	Kind ConsoleKind
	// Reason is a sentence for people. It names the release that would be needed
	// and the one that is installed.
	Reason string
}

// ConsoleOpener is implemented by hosts that open consoles. It needs the Console
// capability.
type ConsoleOpener interface {
	// OpenConsole opens a console and returns when bytes can flow. The context
	// bounds the opening only, not the life of the console. A guest or node that
	// does not exist is NotFound. A guest that is not running is Conflict. A kind
	// of console that the guest does not have is Invalid with the field "kind". A
	// release that cannot open it with a token is Unsupported. Busy means that the
	// hypervisor has no free port or slot.
	OpenConsole(ctx context.Context, spec ConsoleSpec) (Console, error)
	// ConsoleLimits returns what this release cannot do. The list is empty if
	// everything works, and if the driver cannot know.
	ConsoleLimits(ctx context.Context) ([]ConsoleLimit, error)
}
