package pvesim

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/hostler/hostler/sdk/hypervisor/consoletest"
)

// textInvalidTicket is the same whatever is wrong with a console's ticket.
const textInvalidTicket = "permission denied - invalid PVEVNC ticket"

// connectConsole checks the ticket. A request that does not want to become a
// WebSocket is told the port.
func connectConsole(r *request) (result, *apiError) {
	path := "/nodes/" + r.values.text("node")
	if r.kind != "" {
		path = fmt.Sprintf("/vms/%d", r.vmid())
	}
	port := int(r.values.integer("port", 0))
	if !r.c.verifyConsoleTicket(r.values.text("vncticket"), r.who, path, port, r.now) {
		return fail(&apiError{status: 401, text: textInvalidTicket, delay: true})
	}
	return result{data: map[string]any{"port": r.values.text("port")}, console: &consoleKey{r.entry.name, port}}, nil
}

// wantsSocket reports whether a request is one for a WebSocket.
func wantsSocket(r *http.Request) bool {
	return strings.EqualFold(r.Header.Get("Upgrade"), "websocket")
}

// serveConsole lets a client through to a console. Where none listens, or one
// that has a client, the connection ends without a word.
func (c *Cluster) serveConsole(w http.ResponseWriter, r *http.Request, at consoleKey) {
	protocol, err := checkUpgrade(r)
	if err != nil {
		c.sendError(w, failure("%s", err))
		return
	}
	c.mu.Lock()
	c.settle()
	con := c.consoleAt(at)
	if con == nil || con.conn != nil {
		c.mu.Unlock()
		cutConnection(w)
		return
	}
	conn, rw, ok := takeOver(w)
	if !ok {
		c.mu.Unlock()
		return
	}
	con.conn, con.task.end = conn, c.clock.now().Add(forEver)
	c.mu.Unlock()
	socket, err := upgrade(conn, rw, r.Header.Get("Sec-WebSocket-Key"), protocol)
	if err == nil {
		ended := make(chan struct{})
		go con.watch(c, ended)
		err = con.run(c, socket)
		close(ended)
	}
	con.end(c, err)
}

// watch ends the console with what it is of.
func (con *console) watch(c *Cluster, ended <-chan struct{}) {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ended:
			return
		case <-c.server.quit:
			_ = con.conn.Close()
			return
		case <-tick.C:
		}
		c.mu.Lock()
		if con.begun && con.missing(c) != "" {
			_ = con.conn.Close()
		}
		c.mu.Unlock()
	}
}

// missing is what the program says when there is nothing to show; empty where
// there is. It needs the mutex.
func (con *console) missing(c *Cluster) string {
	g := c.guestOn(con.on.name, con.kind, con.vmid)
	switch {
	case !con.on.online.Load():
		return fmt.Sprintf("ssh: connect to host %s port 22: No route to host", con.on.ip)
	case con.kind == "":
		return ""
	case con.kind == LXC && (g == nil || !g.running()):
		return fmt.Sprintf("lxc-console: %[1]d: ../src/lxc/tools/lxc_console.c: lxc_console_main: 129 %[1]d is not running", con.vmid)
	case g == nil || !g.running():
		return fmt.Sprintf("VM %d not running", con.vmid)
	case con.program == programTerminal && con.kind == QEMU && !g.hasSerial():
		return "unable to find a serial interface"
	}
	return ""
}

// hasSerial reports whether a machine has a port for a terminal.
func (g *guest) hasSerial() bool {
	cfg := g.config()
	for i := range 4 {
		if text, _ := cfg[fmt.Sprint("serial", i)].(string); text == "socket" {
			return true
		}
	}
	return false
}

// run is the program behind the port. Its error is the task's.
func (con *console) run(c *Cluster, socket *consoleSocket) error {
	in := &frameReader{socket: socket}
	if con.program == programTerminal {
		if err := con.login(c, in); err != nil {
			return err
		}
	}
	c.mu.Lock()
	missing := con.missing(c)
	con.begun = missing == ""
	name := con.on.name
	if g := c.guests[con.vmid]; con.kind != "" && g != nil {
		name = g.Name
	}
	c.mu.Unlock()
	if con.program == programScreen {
		if missing != "" {
			c.mu.Lock()
			con.task.say(c.clock.now(), "%s", missing)
			c.mu.Unlock()
			//lint:ignore ST1005 so the hypervisor words the end of the task
			return errors.New("Failed to run vncproxy.")
		}
		server := consoletest.RFBServer{Password: con.password, Name: "QEMU (" + name + ")"}
		err := server.Serve(struct {
			io.Reader
			io.Writer
			io.Closer
		}{in, frameWriter{socket}, socket.conn})
		if errors.Is(err, consoletest.ErrRFBPassword) {
			return errors.New("connection closed")
		}
		return nil // however the client went
	}
	if missing != "" {
		con.sayMissing(socket, in, missing)
		return errors.New(missing)
	}
	return con.terminal(c, socket, in, name)
}

// Times of a terminal that has nothing to show.
const (
	// missingAfter is when a terminal says that there is nothing to show, and
	// missingFor how long it stays open then.
	missingAfter = 1100 * time.Millisecond
	missingFor   = 20 * time.Second
	// clearScreen and dtachEnd are what the program around the terminal of a
	// container shows by itself.
	clearScreen = "\x1b[H\x1b[J"
	dtachEnd    = "\r\n[EOF - dtach terminating]\r\n"
)

// sayMissing tells after a while what is missing, and waits until the client has left.
func (con *console) sayMissing(socket *consoleSocket, in io.Reader, missing string) {
	_ = socket.send(frameBinary, []byte("OK"))
	said := time.AfterFunc(missingAfter, func() { _ = socket.send(frameBinary, []byte(missing+"\r\n")) })
	defer said.Stop()
	left := time.AfterFunc(missingFor, func() { _ = socket.conn.Close() })
	defer left.Stop()
	_, _ = io.Copy(io.Discard, in)
}

// login reads the line with which a client of a terminal begins. Of a wrong one
// nothing is said: the connection ends.
func (con *console) login(c *Cluster, in *frameReader) error {
	refused := fmt.Errorf("command '/usr/bin/termproxy %d --path %s --perm %s -- %s' failed: exit code 1",
		con.port, con.path, con.privilege(), con.command())
	line, err := in.line(8 << 10)
	if err != nil {
		return refused
	}
	user, ticket, _ := strings.Cut(line, ":")
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case user != con.who.id(), !c.verifyConsoleTicket(ticket, con.who, con.path, con.port, c.clock.now()),
		!c.allowed(con.who, con.path, con.privilege()):
		return refused
	case con.kind != "" && con.who.token != "" && c.consoleRelease().before(terminalsForTokens):
		return refused
	}
	return nil
}

// terminal carries a shell. That of a container clears the screen first, and says when it ends.
func (con *console) terminal(c *Cluster, socket *consoleSocket, in *frameReader, name string) error {
	near, far, err := consoletest.Pair()
	if err != nil {
		return err
	}
	shell := consoletest.NewShell(far, name)
	go func() {
		if con.kind != "" || con.who.id() == rootUser || askName(far, con.on.name) == nil {
			shell.Serve()
		}
		_ = far.Close()
	}()
	said := make(chan struct{})
	go func() {
		defer close(said)
		defer func() { _ = socket.conn.Close() }()
		buffer := make([]byte, 32<<10)
		if socket.send(frameBinary, []byte("OK")) != nil {
			return
		}
		if con.kind == LXC {
			_ = socket.send(frameBinary, []byte(clearScreen))
			defer func() { _ = socket.send(frameBinary, []byte(dtachEnd)) }()
		}
		for {
			n, err := near.Read(buffer)
			if err != nil || socket.send(frameBinary, buffer[:n]) != nil {
				return
			}
		}
	}()
	err = in.terminal(near, shell.Resize, func() { c.keepAlives.Add(1) }) // which is why nothing more is read
	_ = near.Close()
	<-said
	if !errors.Is(err, io.EOF) && !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}

// askName asks for a user and a password, of which all are right. Nobody but
// root@pam himself is spared that.
func askName(conn net.Conn, node string) error {
	for _, prompt := range []string{node + " login: ", "Password: "} {
		if _, err := io.WriteString(conn, prompt); err != nil {
			return err
		}
		for one := make([]byte, 1); ; {
			if _, err := io.ReadFull(conn, one); err != nil {
				return err
			}
			if one[0] == '\r' || one[0] == '\n' {
				break
			}
			if prompt != "Password: " {
				if _, err := conn.Write(one); err != nil {
					return err
				}
			}
		}
		if _, err := io.WriteString(conn, "\r\n"); err != nil {
			return err
		}
	}
	return nil
}

// ConsoleKeepAlives counts the signs of life that clients of terminals have sent.
func (c *Cluster) ConsoleKeepAlives() int64 { return c.keepAlives.Load() }
