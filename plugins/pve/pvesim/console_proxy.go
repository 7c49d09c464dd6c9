package pvesim

import (
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"
)

// Settings of consoles, as the original has them.
const (
	firstConsolePort = 5900
	lastConsolePort  = 5999
	// consoleWait is how long a console waits for its client.
	consoleWait = 10 * time.Second
	// consolePasswordLength is that of RFB.
	consolePasswordLength = 8
)

// Programs behind the port of a console.
const (
	programTerminal = "termproxy"
	programScreen   = "vncproxy"
)

// console is what listens at a port of a node: it waits for one client, and
// ends with it. The cluster's mutex guards it.
type console struct {
	port     int
	node     *node // where it listens
	on       *node // of whose guest it is, or whose shell
	program  string
	kind     string // of the guest, empty for a node
	vmid     int
	who      identity
	path     string // of the privileges
	password string // of RFB
	task     *task
	// begun says that the program shows something.
	begun bool
	// conn is the client's, nil while it is waited for.
	conn net.Conn
}

// consoleEndpoints serves the opening of consoles.
func consoleEndpoints() []*endpoint {
	const vm, ct, node = "/nodes/{node}/qemu/{vmid}/", "/nodes/{node}/lxc/{vmid}/", "/nodes/{node}/"
	return []*endpoint{
		serve("POST", vm+"termproxy", openGuestConsole(programTerminal)),
		serve("POST", vm+"vncproxy", openGuestConsole(programScreen)),
		serve("GET", vm+"vncwebsocket", connectConsole),
		serve("POST", ct+"termproxy", openGuestConsole(programTerminal)),
		serve("POST", ct+"vncproxy", openGuestConsole(programScreen)),
		serve("GET", ct+"vncwebsocket", connectConsole),
		serve("POST", node+"termproxy", openShell),
		serve("GET", node+"vncwebsocket", connectConsole),
	}
}

// openGuestConsole answers also for a guest that does not run: the program finds that out.
func openGuestConsole(program string) handlerFunc {
	return func(r *request) (result, *apiError) {
		on, err := r.consoleNode()
		if err != nil {
			return fail(err)
		}
		vmid := r.vmid()
		if r.c.guestOn(on.name, r.kind, vmid) == nil {
			return fail(failure("%s", noConfig(on.name, r.kind, vmid)))
		}
		con := &console{on: on, program: program, kind: r.kind, vmid: vmid, path: fmt.Sprintf("/vms/%d", vmid)}
		return r.openConsole(con, "vncproxy", strconv.Itoa(vmid))
	}
}

// openShell refuses tokens as long as the release takes only what looks like a user for one.
func openShell(r *request) (result, *apiError) {
	on, err := r.consoleNode()
	if err != nil {
		return fail(err)
	}
	if r.who.token != "" && r.c.consoleRelease().before(shellsForTokens) {
		return fail(failure("value '%s' does not look like a valid user name", r.who.id()))
	}
	con := &console{on: on, program: programTerminal, path: "/nodes/" + on.name}
	return r.openConsole(con, "vncshell", "")
}

// consoleNode is the node of the path. The one that was called listens in any
// case, and reaches others by SSH.
func (r *request) consoleNode() (*node, *apiError) {
	name := r.values.text("node")
	if name == "localhost" {
		return r.entry, nil
	}
	on := r.c.nodeByName(name)
	if on == nil {
		return nil, failure("hostname lookup '%s' failed - failed to get address info for: %s: Name or service not known", name, name)
	}
	return on, nil
}

// openConsole reserves a port and starts the task of a console. What the answer
// contains depends on the release: newer ones bind the ticket to the port,
// return the port as text, and give a VM's screen a password of its own.
func (r *request) openConsole(con *console, kind, id string) (result, *apiError) {
	c := r.c
	con.node, con.who = r.entry, r.who
	for con.port = firstConsolePort; c.consoleAt(consoleKey{con.node.name, con.port}) != nil; con.port++ {
		if con.port == lastConsolePort {
			return fail(failure("unable to find free port (%d-%d)", firstConsolePort, lastConsolePort))
		}
	}
	bound := !c.consoleRelease().before(boundTickets)
	answer := map[string]any{"user": r.who.id(), "port": strconv.Itoa(con.port)}
	if !bound {
		answer["port"] = con.port
	}
	ticket := c.consoleTicket(con, r.now)
	if con.program == programScreen {
		answer["cert"] = string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: con.node.cert.der()}))
		con.password = ticket
		if bound && r.kind == QEMU || r.values.boolean("generate-password", false) {
			con.password = c.consolePassword()
			answer["password"] = con.password
		}
		if bound && r.kind == QEMU {
			ticket = con.password + ":" + ticket
		}
	}
	answer["ticket"] = ticket
	con.task = con.work(c)
	c.consoles[consoleKey{con.node.name, con.port}] = con
	answer["upid"] = c.startTask(con.node, r.who, kind, id, con.task)
	return ok(answer)
}

// consoleKey is where a console listens.
type consoleKey struct {
	node string
	port int
}

// consoleAt is what listens at a port; one that went down with its node is not
// there any more. It needs the mutex.
func (c *Cluster) consoleAt(at consoleKey) *console {
	con := c.consoles[at]
	if con != nil && con.conn == nil && con.task.ended {
		delete(c.consoles, at)
		return nil
	}
	return con
}

// work is the task of a console: it ends when no client comes, or when the one that came is gone.
func (con *console) work(c *Cluster) *task {
	return &task{
		begin: func(t *task, now time.Time) (time.Duration, error) {
			t.say(now, "starting %s %s", con.program, con.path)
			return consoleWait, nil
		},
		finish: func(t *task, now time.Time) error {
			delete(c.consoles, consoleKey{con.node.name, con.port})
			if con.program == programScreen {
				return errors.New("connection timed out")
			}
			t.say(now, "failed waiting for client: timed out")
			return fmt.Errorf("command '/usr/bin/termproxy %d --path %s --perm %s -- %s' failed: exit code 1",
				con.port, con.path, con.privilege(), con.command())
		},
		interrupted: func(*task, time.Time) { con.hangUp(c) },
	}
}

// command is what a terminal shows.
func (con *console) command() string {
	switch con.kind {
	case QEMU:
		return fmt.Sprintf("/usr/sbin/qm terminal %d -escape 0", con.vmid)
	case LXC:
		return fmt.Sprintf("/usr/bin/dtach -A /var/run/dtach/vzctlconsole%[1]d -r winch -z lxc-console -n %[1]d -e -1", con.vmid)
	}
	return "/bin/login -f root"
}

// privilege returns the privilege that a console needs.
func (con *console) privilege() string {
	if con.kind == "" {
		return "Sys.Console"
	}
	return "VM.Console"
}

// hangUp frees the port and lets the client go. It needs the cluster's mutex.
func (con *console) hangUp(c *Cluster) {
	delete(c.consoles, consoleKey{con.node.name, con.port})
	if con.conn != nil {
		_ = con.conn.Close()
	}
}

// end is the end of the program, with an error as the task has it.
func (con *console) end(c *Cluster, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	con.hangUp(c)
	if !con.task.ended {
		c.tasks.close(c, con.task, c.clock.now(), err)
	}
}

// Consoles counts those that wait for a client, or have one.
func (c *Cluster) Consoles() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.settle()
	return len(c.consoles)
}

// EndConsoles ends all consoles as if their programs were killed.
func (c *Cluster) EndConsoles() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, con := range c.consoles {
		con.hangUp(c)
	}
}
