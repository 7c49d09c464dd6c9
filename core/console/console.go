// Package console opens the consoles of guests and the shells of nodes: text
// terminals, and graphical consoles that carry RFB (RFC 6143), the protocol of
// VNC.
//
// A client opens a console in two requests. The first one asks for a ticket
// (Issue), the second one opens a WebSocket with the ticket (Redeem, then
// Session.Serve):
//
//	Issue   opens the console at the hypervisor, holds it, returns a ticket
//	Redeem  uses the ticket up and takes the held console
//	Serve   copies between the socket and the console until one side ends
//
// The console is opened for the ticket already, so that an ordinary response
// reports everything that can fail: a guest that does not exist, no free port,
// a node that is off, a missing privilege, an old release. The process that
// issued the ticket holds the console until the socket arrives. If the socket
// arrives at another instance, or the held console has ended, Redeem opens the
// console again before it accepts the socket. Instances therefore share nothing
// but the row of the ticket.
//
// Hypervisors give each graphical console its own password, which another
// instance would not know. The service therefore answers the hypervisor's
// challenge itself and asks the client for a password that is derived from the
// ticket. Whoever has the ticket can compute it, nobody else can, and it is
// stored nowhere.
//
// Terminals can be recorded, depending on the settings; see recorder.
package console

import (
	"context"
	"crypto/rand"
	"sync"
	"time"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/secret"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// Store opens consoles. It is safe for concurrent use. DB, Hosts and Keys are
// required.
type Store struct {
	DB    *db.DB
	Hosts host.Opener
	// Keys encrypt the data keys of recordings.
	Keys secret.Keys
	// TicketLifetime is how long a ticket is valid, and how long its console is
	// held; 0 means 30 s.
	TicketLifetime time.Duration
	// IdleUnit is the unit of the setting console.idle_s; 0 means 1 s. Tests
	// make it shorter.
	IdleUnit time.Duration

	begin sync.Once
	// instance is a random name of this process. A ticket names the instance
	// that holds its console.
	instance string
	// mu protects held and closed. held has the open consoles by ticket ID.
	mu     sync.Mutex
	held   map[int64]*link
	closed bool
}

// Target is the object whose console is opened.
type Target struct {
	// Kind is "vm", "app" or "host". ID and Name are those of the API.
	Kind   string
	ID     int64
	Name   string
	TeamID int64
	HostID int64
	// Guest is nil for the shell of a node. Node is then the name of the node.
	Guest *guest.Guest
	Node  string
}

// Request describes the wanted console.
type Request struct {
	// Kind is empty for the default: a terminal if the target has one,
	// otherwise the graphical console.
	Kind hypervisor.ConsoleKind
	// Columns and Rows are the initial size of a terminal; 0 leaves it to the
	// hypervisor.
	Columns, Rows int
}

// hold returns how long a ticket is valid.
func (s *Store) hold() time.Duration {
	if s.TicketLifetime <= 0 {
		return 30 * time.Second
	}
	return s.TicketLifetime
}

// channelTickets is the PostgreSQL channel that announces the ID of a ticket
// that was used at an instance other than the one that holds its console. The
// holder then closes the console, because some guests allow only one at a time.
const channelTickets = "console_tickets"

// start gives the process its name, and subscribes to the announcements about
// consoles that it holds.
func (s *Store) start() {
	s.begin.Do(func() {
		s.instance, s.held = rand.Text(), map[int64]*link{}
		s.DB.Listener().Listen(db.Subscriber{Channels: []string{channelTickets}, OnNotify: func(_, payload string) { s.release(payload) },
			OnReconnect: func() { go s.releaseUsed() }})
	})
}

// Close ends the consoles for which no socket has come, and makes the store
// hold no more. Open sockets end by themselves.
func (s *Store) Close() {
	s.start()
	s.mu.Lock()
	held := s.held
	s.held, s.closed = map[int64]*link{}, true
	s.mu.Unlock()
	for _, l := range held {
		l.Close()
	}
}

// Prune deletes one batch of old tickets and recordings, and returns their
// number.
func (s *Store) Prune(ctx context.Context) (int64, error) {
	tickets, err := s.pruneTickets(ctx)
	if err != nil {
		return 0, err
	}
	recordings, err := s.pruneRecordings(ctx)
	return tickets + recordings, err
}
