// Package console gives people the consoles of guests and the shells of nodes: terminals, and graphical ones that carry RFB.
//
// A console is opened at the hypervisor when its ticket is made, so that whatever stands in the way is told before any socket: no such
// guest, no free port, a node that is off, a privilege that lacks, an old release. It is held by that process until the socket comes. A
// socket that comes to another instance, or after what was held has ended, has the console opened anew before it is accepted. So no state
// but the row of the ticket is needed by more than one instance.
//
// Hypervisors give each graphical console a password of its own, which another instance would not know. Therefore the service answers the
// hypervisor's challenge itself and asks the person's client for a password that is made of the ticket: whoever has the ticket can compute
// it, nobody else can, and it is stored nowhere.
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

// Store opens consoles. It is safe for concurrent use.
type Store struct {
	DB    *db.DB
	Hosts host.Opener
	// Keys seal what recordings are encrypted with.
	Keys secret.Keys
	// TicketLifetime is how long a ticket is good; 30 s when zero.
	TicketLifetime time.Duration
	// IdleUnit is what the setting console.idle_s counts; 1 s when zero. For tests.
	IdleUnit time.Duration

	begin sync.Once
	// instance names this process among those on the database.
	instance string
	mu       sync.Mutex
	held     map[int64]*link
	closed   bool
}

// Target is the object of a console.
type Target struct {
	// Kind is "vm", "app" or "host", and ID and Name are those of the API.
	Kind   string
	ID     int64
	Name   string
	TeamID int64
	HostID int64
	// Guest is nil for a shell of Node.
	Guest *guest.Guest
	Node  string
}

// Request describes the wanted console.
type Request struct {
	// Kind is empty for a terminal where there is one, else the graphical console.
	Kind hypervisor.ConsoleKind
	// Columns and Rows are the first size of a terminal; zero for the hypervisor's.
	Columns, Rows int
}

func (s *Store) hold() time.Duration {
	if s.TicketLifetime <= 0 {
		return 30 * time.Second
	}
	return s.TicketLifetime
}

// channelTickets announces the number of a ticket that was redeemed by another
// instance than the one that holds its console.
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
