package memdriver

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"net"
	"slices"
	"sync"

	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/hypervisor/consoletest"
	"github.com/hostler/hostler/sdk/plugin"
)

// console is an open console. Its other side is a consoletest.Shell, or a
// consoletest.RFBServer with its own password.
type console struct {
	net.Conn
	kind     hypervisor.ConsoleKind
	password string
	// guest is whose it is, nil of a node's.
	guest *guest
	shell *consoletest.Shell
	// typed is called before the first bytes are.
	typed func()
	once  sync.Once

	mu    sync.Mutex
	ended error
}

// Consoles returns the number of open consoles.
func (c *Cluster) Consoles() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.consoles)
}

// EndConsoles ends all open consoles. A nil reason is a normal end.
func (c *Cluster) EndConsoles(reason error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for open := range c.consoles {
		open.end(reason)
	}
}

// LimitConsoles sets the consoles that the cluster cannot open.
func (c *Cluster) LimitConsoles(limits ...hypervisor.ConsoleLimit) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.limits = limits
}

// AttachSerialPort gives a VM a serial port, and with it a terminal. It reports whether
// the guest exists.
func (c *Cluster) AttachSerialPort(id hypervisor.GuestID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	g, ok := c.guests[id]
	if ok {
		g.serial = true
	}
	return ok
}

// ConsoleLimits implements hypervisor.ConsoleOpener.
func (h *Host) ConsoleLimits(ctx context.Context) ([]hypervisor.ConsoleLimit, error) {
	c, _, err := h.begin(ctx, "consolelimits")
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.limits), nil
}

// OpenConsole implements hypervisor.ConsoleOpener. A late fault acts when something
// is typed, and its error ends the console.
func (h *Host) OpenConsole(ctx context.Context, spec hypervisor.ConsoleSpec) (hypervisor.Console, error) {
	if err := spec.Check(); err != nil {
		return nil, err
	}
	c, privileges, err := h.begin(ctx, "openconsole")
	if err != nil {
		return nil, err
	}
	fault := c.fault("openconsole")
	c.mu.Lock()
	defer c.mu.Unlock()
	open := &console{kind: hypervisor.ConsoleTerminal}
	of, name := "node", spec.Node
	if spec.Guest != nil {
		if err := require(privileges, GuestConsole, guestPath(spec.Guest.ID)); err != nil {
			return nil, err
		}
		if open.guest, err = c.find(*spec.Guest); err != nil {
			return nil, err
		}
		of, name = string(spec.Guest.Kind), open.guest.Name
		if open.kind, err = c.consoleKind(open.guest, spec.Kind); err != nil {
			return nil, err
		}
	} else if err := c.checkShell(privileges, spec.Node); err != nil {
		return nil, err
	}
	for _, l := range c.limits {
		if l.Of == of && l.Kind == open.kind {
			return nil, plugin.Errorf(plugin.Unsupported, "%s", l.Reason)
		}
	}
	if open.guest != nil && !open.guest.up() {
		return nil, plugin.Errorf(plugin.Conflict, "guest %s is %s", spec.Guest.ID, open.guest.Status)
	}
	if fault.Late {
		open.typed = func() {
			if err := fault.apply(context.WithoutCancel(ctx), h.target); err != nil {
				open.end(err)
			}
		}
	}
	near, far, err := consoletest.Pair()
	if err != nil {
		return nil, err
	}
	open.Conn = near
	serve := func() { open.shell.Serve() }
	if open.kind == hypervisor.ConsoleGraphical {
		open.password = rand.Text()[:8]
		server := consoletest.RFBServer{Name: name, Password: open.password}
		serve = func() { _ = server.Serve(far) }
	} else {
		open.shell = consoletest.NewShell(far, name)
		if spec.Columns > 0 {
			open.shell.Resize(spec.Columns, spec.Rows)
		}
	}
	c.consoles[open] = true
	go func() {
		serve()
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.consoles, open)
	}()
	return open, nil
}

// checkShell refuses shells of nodes. The caller holds the lock.
func (c *Cluster) checkShell(privileges []string, node string) error {
	switch {
	case c.certified:
		return plugin.Errorf(plugin.Unsupported, "nodes have no shells here")
	case !slices.Contains(c.nodes, node):
		return plugin.Errorf(plugin.NotFound, "node %.80q not found", node)
	case c.away(node):
		return plugin.Errorf(plugin.Unreachable, "node %s is offline", node)
	}
	return require(privileges, NodeShell, "/nodes/"+node)
}

// consoleKind returns the kind of console that a guest has for a request. VMs
// of a CertificateDriver have only a terminal; those of other clusters have a screen,
// and a terminal if they have a serial port. The caller holds the lock.
func (c *Cluster) consoleKind(g *guest, asked hypervisor.ConsoleKind) (hypervisor.ConsoleKind, error) {
	terminal := c.certified || g.serial || g.Kind == hypervisor.Container
	graphical := !c.certified && g.Kind == hypervisor.VM
	switch {
	case asked != hypervisor.ConsoleGraphical && terminal:
		return hypervisor.ConsoleTerminal, nil
	case asked != hypervisor.ConsoleTerminal && graphical:
		return hypervisor.ConsoleGraphical, nil
	}
	return "", invalid("kind", "%s %s has no %s console", g.Kind, g.ID, asked)
}

// hangUp ends the consoles of guests that are gone or do not run. The caller
// holds the lock.
func (c *Cluster) hangUp() {
	for open := range c.consoles {
		switch {
		case open.guest == nil:
		case c.guests[open.guest.ID] != open.guest:
			open.end(plugin.Errorf(plugin.NotFound, "the guest no longer exists"))
		case !open.guest.up():
			open.end(nil)
		}
	}
}

// end ends a console, for a reason or nil.
func (c *console) end(reason error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended == nil {
		c.ended = reason
	}
	if c.ended == nil {
		c.ended = io.EOF
	}
	_ = c.Conn.Close()
}

// Kind implements hypervisor.Console.
func (c *console) Kind() hypervisor.ConsoleKind { return c.kind }

// Password implements hypervisor.Console.
func (c *console) Password() string { return c.password }

// Read implements hypervisor.Console.
func (c *console) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	return n, c.why(err)
}

// Write implements hypervisor.Console.
func (c *console) Write(p []byte) (int, error) {
	if c.typed != nil {
		c.once.Do(c.typed)
	}
	n, err := c.Conn.Write(p)
	return n, c.why(err)
}

// why returns the reason of the end for an error of the connection.
func (c *console) why(err error) error {
	if err == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended == nil {
		c.ended = io.EOF // the other side has closed the pipe
	}
	return c.ended
}

// Resize implements hypervisor.Console.
func (c *console) Resize(ctx context.Context, columns, rows int) error {
	if err := errors.Join(ctx.Err(), hypervisor.CheckConsoleSize(columns, rows)); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended != nil {
		return c.ended
	}
	if c.shell != nil {
		c.shell.Resize(columns, rows)
	}
	return nil
}

// Close implements hypervisor.Console.
func (c *console) Close() error {
	c.end(net.ErrClosed)
	return nil
}
