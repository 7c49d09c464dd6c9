// Package consoles is the HTTP resource of consoles of VMs and apps, of shells
// of nodes, and of the recordings of both. A console takes two requests: POST
// …/tickets returns a ticket, and GET …/ws connects with it and opens a
// WebSocket. A ticket is valid once.
package consoles

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/console"
	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/core/proxy"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// Guests finds the VM or the app that a path names. Package vm and package app
// implement it.
type Guests interface {
	Request(ctx context.Context, id, team int64, confirm *string) (guest.Request, error)
}

// Deps has what the operations of this package need.
type Deps struct {
	Consoles  *console.Store
	VMs, Apps Guests
}

// handlers has the operations on one kind of thing: VMs, apps or hosts.
type handlers struct {
	consoles *console.Store
	// path is that of the thing, with a %d for its id, up to tickets and ws.
	path string
	find func(ctx context.Context, node string) (console.Target, error)
}

// maxMessage is the maximum size in bytes of one message of a socket. What a
// user pastes is one message.
const maxMessage = 2 << 20

const (
	ticketText = "Takes no body. The console is opened on the hypervisor before the response, so problems are " +
		"reported here: a missing guest (404 `not_found`), a guest that is not running (409 `invalid_state`), no " +
		"free port (409 `console_unavailable`), a hypervisor release that offers no such console to tokens (501 " +
		"`unsupported`, with the requirement), a missing privilege (502 `hypervisor_error` with the reason " +
		"`permission` and the command that grants it), or a node that is off (502, `unreachable`). The ticket is " +
		"valid once, for 30 seconds, and only for the same session or API key and the same target; a user can have " +
		"eight unused tickets (429). Connect to `path` with the ticket as the query parameter `ticket`."
	socketText = "Requires the `ticket` of %s, which is used up even if the connection fails: 403 `ticket_invalid` " +
		"if it is invalid or absent. Errors before the socket opens are returned as a problem document. Binary " +
		"messages carry the output of the terminal and the keyboard input, unchanged; the text message " +
		`{"resize":{"columns":80,"rows":24}} sets its size. If the console is recorded, a text message ` +
		`{"recorded":true,"notice":"…"} comes first. A graphical console carries RFB (RFC 6143) in binary ` +
		"messages and asks for the `password` of the ticket. The console closes within a second after the user " +
		"loses access. Close codes: 1000 if the console ended, otherwise 4000 plus the status of the problem, with " +
		"its text as the reason. Pings are sent every 15 seconds; the console closes after `console.idle_s` " +
		"without activity."
)

// Register declares the operations of this package: the same two for VMs, apps
// and hosts, and those on recordings.
func Register(a *op.API, deps Deps) {
	for _, s := range []struct {
		kind, one, tag string
		on             op.On
		guests         Guests
		besides        string
	}{
		{"vm", "a VM", "VMs", op.VM, deps.VMs,
			" Without `kind`, a VM gets a text console if it has a serial port, and otherwise the graphical console."},
		{"app", "an app", "Apps", op.App, deps.Apps, " An app has a text console only."},
	} {
		id, path := s.kind+"_id", "/api/v1/"+s.kind+"s/:"+s.kind+"_id/console/"
		h := handlers{deps.Consoles, "/api/v1/" + s.kind + "s/%d/console/ws", func(ctx context.Context, _ string) (console.Target, error) {
			found := op.ResourceOf(ctx)
			r, err := s.guests.Request(ctx, found.ID, found.TeamID, nil)
			if err != nil {
				return console.Target{}, err
			}
			return console.Target{Kind: s.kind, ID: found.ID, Name: r.Target.Name, TeamID: found.TeamID, HostID: r.Guest.HostID,
				Guest: r.Guest}, nil
		}}
		op.Post(a, path+"tickets", h.ticket, op.Spec{
			ID: "create_" + s.kind + "_console_ticket", Summary: "Open a console of " + s.one, Tag: s.tag, Role: identity.Operator, On: s.on,
			Needs: endpoint.Console, Calls: true, Secret: true, Audit: op.Audit{Action: s.kind + ".console_ticket"},
			Description: ticketText + s.besides,
		})
		op.PreparedSocket(a, path+"ws", h.socket, op.Spec{
			ID: "connect_" + s.kind + "_console", Summary: "Connect to a console of " + s.one, Tag: s.tag, Role: identity.Operator, On: s.on,
			Needs: endpoint.Console, Calls: true, MaxBody: maxMessage,
			Audit:       op.Audit{Action: s.kind + ".console_open", End: s.kind + ".console_close"},
			Description: fmt.Sprintf(socketText, "`POST /"+s.kind+"s/{"+id+"}/console/tickets`"),
		})
	}
	h := handlers{deps.Consoles, "/api/v1/hosts/%d/shell/ws", func(ctx context.Context, node string) (console.Target, error) {
		return deps.Consoles.Shell(ctx, op.ResourceOf(ctx).ID, node)
	}}
	op.Post(a, "/api/v1/hosts/:host_id/shell/tickets", h.shellTicket, op.Spec{
		ID: "create_node_shell_ticket", Summary: "Open a node shell", Tag: "Hosts", Role: identity.Admin, On: op.Host,
		Needs: endpoint.Console, Calls: true, Secret: true, Audit: op.Audit{Action: "host.shell_ticket"},
		Description: ticketText +
			" The shell opens on `node`, or on the node that responds at the host's address; it starts with " +
			"the log-in of the node. It requires `node_shell_enabled` of the host (409 `node_shell_disabled`).",
	})
	op.PreparedSocket(a, "/api/v1/hosts/:host_id/shell/ws", h.socket, op.Spec{
		ID: "connect_node_shell", Summary: "Connect to a node shell", Tag: "Hosts", Role: identity.Admin, On: op.Host,
		Needs: endpoint.Console, Calls: true, MaxBody: maxMessage, Audit: op.Audit{Action: "host.shell_open", End: "host.shell_close"},
		Description: fmt.Sprintf(socketText, "`POST /hosts/{host_id}/shell/tickets`") +
			" It also closes when node shells are disabled.",
	})
	registerRecordings(a, deps.Consoles)
}

// SizeInput is the size of the terminal at the beginning.
type SizeInput struct {
	Columns int `query:"columns" minimum:"1" maximum:"1000" example:"120" doc:"Initial number of columns of a terminal; the hypervisor's default if absent"`
	Rows    int `query:"rows" minimum:"1" maximum:"1000" example:"40"`
}

type ticketInput struct {
	SizeInput
	Kind string `query:"kind" enum:"terminal,graphical" example:"terminal" doc:"Kind of the console; if absent, a text console if available, otherwise the graphical console"`
}

type shellInput struct {
	SizeInput
	Node string `query:"node" minLength:"1" maxLength:"253" example:"pve1" doc:"Name of the node; if absent, the node that responds at the host's address"`
}

// Ticket is the right to connect to a console once.
type Ticket struct {
	Ticket    string    `json:"ticket" example:"cXVpdGUgYSByYW5kb20gdGV4dCwgdGhpcyBvbmUgaXM" doc:"Ticket, shown only once"`
	Path      string    `json:"path" example:"/api/v1/vms/3/console/ws" doc:"Path to connect to, including the path of HOSTLER_BASE_URL"`
	Kind      string    `json:"kind" enum:"terminal,graphical" example:"terminal" doc:"Data of the console: bytes of a terminal, or RFB"`
	ExpiresAt time.Time `json:"expires_at" example:"2026-01-31T12:00:30Z"`
	Password  *string   `json:"password" example:"q3kX_0aB" doc:"Password for the RFB client, shown only once; null for a terminal"`
	Recorded  bool      `json:"recorded" example:"false" doc:"true if the output of the terminal is recorded"`
}

// check returns a fault if only one of the two numbers of the size is set.
func (in SizeInput) check() error {
	switch {
	case in.Columns > 0 && in.Rows == 0:
		return problem.InvalidField("is required with columns", "missing", "query", "rows")
	case in.Rows > 0 && in.Columns == 0:
		return problem.InvalidField("is required with rows", "missing", "query", "columns")
	}
	return nil
}

func (h handlers) ticket(ctx context.Context, in *ticketInput) (*op.Body[Ticket], error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	return h.issue(ctx, "", console.Request{Kind: hypervisor.ConsoleKind(in.Kind), Columns: in.Columns, Rows: in.Rows})
}

func (h handlers) shellTicket(ctx context.Context, in *shellInput) (*op.Body[Ticket], error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	return h.issue(ctx, in.Node, console.Request{Kind: hypervisor.ConsoleTerminal, Columns: in.Columns, Rows: in.Rows})
}

func (h handlers) issue(ctx context.Context, node string, order console.Request) (*op.Body[Ticket], error) {
	target, err := h.find(ctx, node)
	if err != nil {
		return nil, err
	}
	made, err := h.consoles.Issue(ctx, target, order)
	if err != nil {
		return nil, err
	}
	below := strings.TrimSuffix(proxy.SiteOf(ctx, nil).Path, "/")
	shown := Ticket{Ticket: made.Ticket, Path: below + fmt.Sprintf(h.path, target.ID), Kind: string(made.Kind), ExpiresAt: made.Expires,
		Recorded: made.Recorded}
	if made.Password != "" {
		shown.Password = &made.Password
	}
	return &op.Body[Ticket]{Body: shown}, nil
}

type socketInput struct {
	Ticket string `query:"ticket" minLength:"43" maxLength:"43" pattern:"^[A-Za-z0-9_-]+$" example:"cXVpdGUgYSByYW5kb20gdGV4dCwgdGhpcyBvbmUgaXM"`
}

func (h handlers) socket(ctx context.Context, in *socketInput, open op.SocketOpener) error {
	session, err := h.consoles.Redeem(ctx, op.ResourceOf(ctx).Kind, op.ResourceOf(ctx).ID, in.Ticket, h.find)
	if err != nil {
		return err
	}
	defer session.Close()
	c, err := open(session.Idle)
	if err != nil {
		return err
	}
	return session.Serve(ctx, c)
}
