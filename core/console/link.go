package console

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/console/rfb"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/plugin"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	sdk "github.com/hostler/hostler/sdk/plugin"
)

const (
	// openLimit bounds opening a console at the hypervisor. Closing unused ones
	// after a lost connection to the database uses it, too.
	openLimit = 20 * time.Second
	// mostHeld is how many consoles a process holds. Further ones are closed at
	// once, and Redeem opens them again.
	mostHeld = 256
	// pieceSize is how many bytes one Read or Write of a console transfers at
	// most.
	pieceSize = 32 << 10
)

// link is an open console at a hypervisor. While it is held for a socket, a
// little of its output is read ahead, because only a reader notices the end of
// a console.
type link struct {
	console hypervisor.Console
	host    io.Closer
	once    sync.Once
	closed  chan struct{}
	expiry  *time.Timer
	// ahead has what is read ahead, until it is closed; early is what was taken from it already, and taken ends the reading ahead.
	ahead chan piece
	early []piece
	taken atomic.Bool
}

// piece is the result of one Read of a console.
type piece struct {
	data []byte
	err  error
}

// mostAhead is how many pieces are read ahead, at most 256 KiB per held
// console. When they are full, the hypervisor has to wait.
const mostAhead = 8

// readAhead reads until the console is taken or ends.
func (l *link) readAhead() {
	defer close(l.ahead)
	buffer := make([]byte, pieceSize)
	for {
		n, err := l.console.Read(buffer)
		select {
		case l.ahead <- piece{bytes.Clone(buffer[:n]), err}:
		case <-l.closed:
			return
		}
		if err != nil || l.taken.Load() {
			return
		}
	}
}

// Close ends the console. It may be called more than once.
func (l *link) Close() {
	l.once.Do(func() {
		close(l.closed)
		_ = l.console.Close()
		_ = l.host.Close()
	})
}

// dial opens a console at the hypervisor. Errors are those of Issue.
func (s *Store) dial(ctx context.Context, t Target, o Request) (*link, error) {
	limited, cancel := context.WithTimeout(ctx, openLimit)
	defer cancel()
	l, err := s.open(limited, t, o)
	if err != nil {
		if limited.Err() != nil && ctx.Err() == nil {
			err = sdk.Errorf(sdk.Timeout, "the hypervisor did not open the console within %s: %w", openLimit, err)
		}
		return nil, problemOf(err)
	}
	go l.readAhead()
	return l, nil
}

// open connects to the object's own node if it can. Another member of the
// cluster would forward every byte.
func (s *Store) open(ctx context.Context, t Target, o Request) (*link, error) {
	by, err := s.by(ctx, t)
	if err != nil {
		return nil, err
	}
	l, err := s.openBy(ctx, by, t, o)
	if by != t.HostID && sdk.KindOf(err) == sdk.Unreachable && ctx.Err() == nil {
		return s.openBy(ctx, t.HostID, t, o)
	}
	return l, err
}

// by returns the host through which a console is opened.
func (s *Store) by(ctx context.Context, t Target) (int64, error) {
	if t.Guest != nil {
		return host.ByNode(ctx, s.DB, t.HostID, t.Guest.Node, endpoint.Console)
	}
	id, err := host.ByNode(ctx, s.DB, t.HostID, t.Node, endpoint.Console)
	if err != nil || id == t.HostID {
		return t.HostID, err
	}
	var enabled bool
	err = s.DB.Pool.QueryRow(ctx, "SELECT EXISTS (SELECT FROM hosts WHERE id = $1 AND node_shell_enabled)", id).Scan(&enabled)
	if err != nil || !enabled {
		return t.HostID, db.Problem(err)
	}
	return id, nil
}

// openBy opens a console through one host. On failure it closes the connection
// to the host; on success link.Close does.
func (s *Store) openBy(ctx context.Context, hostID int64, t Target, o Request) (_ *link, err error) {
	at, err := s.Hosts.Open(ctx, hostID, endpoint.Console)
	if err != nil {
		return nil, err
	}
	l := &link{host: at, ahead: make(chan piece, mostAhead), closed: make(chan struct{})}
	defer func() {
		if err != nil && l.console == nil {
			_ = at.Close()
		}
	}()
	able, err := host.AsAbility[hypervisor.ConsoleOpener](at)
	if err != nil {
		return nil, err
	}
	spec := hypervisor.ConsoleSpec{Kind: o.Kind, Columns: o.Columns, Rows: o.Rows, Node: t.shell()}
	if t.Guest == nil {
		l.console, err = able.OpenConsole(ctx, spec)
	} else {
		l.console, err = guest.CallAtNode(ctx, s.Hosts, t.Guest, func(ref hypervisor.GuestRef) (hypervisor.Console, error) {
			spec.Guest = &ref
			return able.OpenConsole(ctx, spec)
		})
	}
	if err != nil {
		l.console = nil
		return nil, err
	}
	if l.console.Kind() != hypervisor.ConsoleGraphical {
		return l, nil
	}
	if err := authenticate(ctx, l.console); err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

// authenticate answers the hypervisor's challenge with the password of the
// console. Closing the console is the only way to interrupt it when ctx ends.
func authenticate(ctx context.Context, c hypervisor.Console) error {
	stop := context.AfterFunc(ctx, func() { _ = c.Close() })
	err := rfb.Authenticate(c, c.Password())
	if !stop() {
		return context.Cause(ctx)
	}
	var known *sdk.Error
	if err != nil && !errors.As(err, &known) {
		err = sdk.Errorf(sdk.Protocol, "the graphical console rejected the service: %s", err)
	}
	return err
}

// problemOf is plugin.Problem for errors of opening a console. The fault of the
// field kind becomes one of the query parameter, and Busy becomes
// console_unavailable with the advice to retry after 10 s.
func problemOf(err error) error {
	var e *sdk.Error
	if !errors.As(err, &e) {
		return plugin.Problem(err)
	}
	switch {
	case e.Kind == sdk.Invalid && e.Field == "kind":
		return problem.InvalidField(host.Clean(e.Message), "value_error", "query", "kind").WithCause(err)
	case e.Kind == sdk.Busy:
		full := problem.New(problem.CodeConsoleUnavailable, "%s", host.Clean(sdk.HideSecrets(e.Message)))
		full.RetryAfter = 10
		return full.WithCause(err)
	}
	return plugin.Problem(err)
}

// keep holds a console for a socket, as long as its ticket is valid.
func (s *Store) keep(id int64, l *link) {
	s.mu.Lock()
	room := !s.closed && len(s.held) < mostHeld
	if room {
		s.held[id] = l
		l.expiry = time.AfterFunc(s.hold(), func() { s.release(strconv.FormatInt(id, 10)) })
	}
	s.mu.Unlock()
	if !room {
		l.Close() // the socket opens it anew
	}
}

// take returns the console that is held for a ticket. It returns nil if there
// is none, or if the console has ended meanwhile, which the output that was
// read ahead shows.
func (s *Store) take(id int64) *link {
	s.mu.Lock()
	l := s.held[id]
	delete(s.held, id)
	s.mu.Unlock()
	if l == nil {
		return nil
	}
	l.expiry.Stop()
	for {
		select {
		case p, open := <-l.ahead:
			if !open || p.err != nil {
				l.Close()
				return nil
			}
			l.early = append(l.early, p)
		default:
			return l
		}
	}
}

// release closes the console that is held for a ticket.
func (s *Store) release(number string) {
	id, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		return
	}
	s.mu.Lock()
	l := s.held[id]
	delete(s.held, id)
	s.mu.Unlock()
	if l != nil {
		l.expiry.Stop()
		l.Close()
	}
}

// releaseUsed closes the consoles whose tickets were used while this instance
// received no announcements.
func (s *Store) releaseUsed() {
	s.mu.Lock()
	ids := slices.Collect(maps.Keys(s.held))
	s.mu.Unlock()
	if len(ids) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), openLimit)
	defer cancel()
	rows, err := s.DB.Pool.Query(ctx, `SELECT id::text FROM unnest($1::bigint[]) AS id WHERE NOT EXISTS (
		SELECT FROM console_tickets t WHERE t.id = id.id)`, ids)
	if err != nil {
		return // each is held for half a minute only
	}
	used, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return
	}
	for _, id := range used {
		s.release(id)
	}
}

// read returns the next output of the console. The slice is either what was
// read ahead or a part of buffer; it is valid until the next call. The first
// call ends the reading ahead.
func (l *link) read(buffer []byte) ([]byte, error) {
	l.taken.Store(true)
	if len(l.early) > 0 {
		p := l.early[0]
		l.early = l.early[1:]
		return p.data, p.err
	}
	if p, open := <-l.ahead; open {
		return p.data, p.err
	}
	n, err := l.console.Read(buffer)
	return buffer[:n], err
}

// write sends input, in pieces that every hypervisor accepts.
func (l *link) write(data []byte) error {
	for len(data) > 0 {
		n := min(len(data), pieceSize)
		if _, err := l.console.Write(data[:n]); err != nil {
			return err
		}
		data = data[n:]
	}
	return nil
}
