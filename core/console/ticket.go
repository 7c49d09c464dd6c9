package console

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// mostTickets limits the unused tickets of a user over all instances: each
// holds a console open at a hypervisor.
const mostTickets = 8

// Ticket is the right to open one console once. It is bound to the user, the
// session or API key, and the target for which it was issued.
type Ticket struct {
	// Ticket is the secret of 43 characters. It is returned once; only its hash
	// is stored.
	Ticket  string
	Kind    hypervisor.ConsoleKind
	Expires time.Time
	// Password is the password for an RFB client; empty for terminals.
	Password string
	// Recorded says that the output of the terminal will be recorded.
	Recorded bool
}

// Issue opens a console at the hypervisor and returns a ticket for it, with the
// audit entry of the request. Problems: rate_limited while the caller has too
// many unused ones; capability_missing; unsupported if the driver or this
// release of the hypervisor has no such console; not_found, invalid_state,
// invalid for the query parameter kind, console_unavailable if nothing is free,
// hypervisor_error with the remedy, timeout.
func (s *Store) Issue(ctx context.Context, t Target, o Request) (Ticket, error) {
	s.start()
	text := newTicket()
	id, err := s.reserve(ctx, t, o, text)
	if err != nil {
		return Ticket{}, err
	}
	made, l, err := s.issue(ctx, id, t, o, text)
	if err != nil {
		// Otherwise the row would count as one of the caller's until it
		// expires.
		_, undone := s.DB.Pool.Exec(context.WithoutCancel(ctx), "DELETE FROM console_tickets WHERE id = $1", id)
		return Ticket{}, errors.Join(err, db.Problem(undone))
	}
	s.keep(id, l)
	return made, nil
}

// issue opens the console and makes the reserved ticket valid, together with
// the entry of the audit log.
func (s *Store) issue(ctx context.Context, id int64, t Target, o Request, text string) (made Ticket, l *link, err error) {
	if l, err = s.dial(ctx, t, o); err != nil {
		return made, nil, err
	}
	made = Ticket{Ticket: text, Kind: l.console.Kind()}
	if made.Kind == hypervisor.ConsoleGraphical {
		made.Password = password(text)
	}
	if made.Recorded, err = s.recorded(ctx, t, made.Kind); err == nil {
		audit.Describe(ctx, func(e *audit.Entry) { e.Detail("kind", string(made.Kind)) })
		err = s.DB.Tx(ctx, func(tx *db.Tx) error {
			err := tx.Pgx.QueryRow(ctx, "UPDATE console_tickets SET kind = $2, expires_at = now() + $3::interval WHERE id = $1 "+
				"RETURNING expires_at",
				id, string(made.Kind), s.hold()).Scan(&made.Expires)
			if errors.Is(err, pgx.ErrNoRows) { // with the session
				return problem.New(problem.CodeUnauthenticated, "log in first")
			}
			if err != nil {
				return fmt.Errorf("storing a ticket: %w", err)
			}
			return audit.Write(ctx, tx)
		})
	}
	if err != nil {
		l.Close()
		return made, nil, err
	}
	made.Expires = made.Expires.UTC()
	return made, l, nil
}

// reserve makes the row of a ticket that is not valid yet, unless the caller
// has too many.
func (s *Store) reserve(ctx context.Context, t Target, o Request, text string) (id int64, err error) {
	caller := identity.FromContext(ctx)
	if caller == nil {
		return 0, problem.New(problem.CodeUnauthenticated, "log in first")
	}
	err = s.DB.Tx(ctx, func(tx *db.Tx) error {
		// Requests of one user wait here for each other, so that the tickets
		// can be counted.
		if _, err := tx.Pgx.Exec(ctx, "SELECT FROM users WHERE id = $1 FOR NO KEY UPDATE", caller.UserID); err != nil {
			return fmt.Errorf("counting tickets: %w", err)
		}
		var unused int
		if err := tx.Pgx.QueryRow(ctx, `WITH gone AS (DELETE FROM console_tickets WHERE user_id = $1 AND expires_at <= now())
			SELECT count(*) FROM console_tickets WHERE user_id = $1 AND expires_at > now()`, caller.UserID).Scan(&unused); err != nil {
			return fmt.Errorf("counting tickets: %w", err)
		}
		if unused >= mostTickets {
			many := problem.New(problem.CodeRateLimited, "you have %d unused tickets; use one, or wait until one expires", unused)
			many.RetryAfter = 5
			return many
		}
		err := tx.Pgx.QueryRow(ctx, `INSERT INTO console_tickets (hash, user_id, session_id, key_id, target_kind, target_id, node, columns, rows,
				instance, expires_at)
			VALUES ($1, $2, NULLIF($3, 0), NULLIF($4, 0), $5, $6, $7, $8, $9, $10, now() + $11::interval) RETURNING id`,
			hash(text), caller.UserID, caller.SessionID, caller.KeyID, t.Kind, t.ID, t.shell(), o.Columns, o.Rows, s.instance,
			openLimit+s.hold()).Scan(&id)
		if err != nil {
			return fmt.Errorf("creating a ticket: %w", err)
		}
		return nil
	})
	return id, err
}

// shell returns the node of a shell.
func (t Target) shell() string {
	if t.Guest != nil {
		return ""
	}
	return t.Node
}

// redeemed is a used ticket.
type redeemed struct {
	id    int64
	node  string
	order Request
}

// redeem uses a ticket. It is used up by whoever shows it, wherever and
// whenever, so that a ticket that somebody else has seen is worthless.
func (s *Store) redeem(ctx context.Context, kind string, targetID int64, text string) (redeemed, error) {
	s.start()
	caller := identity.FromContext(ctx)
	if caller == nil {
		return redeemed{}, problem.New(problem.CodeUnauthenticated, "log in first")
	}
	var r redeemed
	var carries, holder string
	var good bool
	err := s.DB.Pool.QueryRow(ctx, `DELETE FROM console_tickets WHERE hash = $1
		RETURNING id, node, kind, columns, rows, instance, kind <> '' AND expires_at > now() AND user_id = $2
			AND COALESCE(session_id, 0) = $3 AND COALESCE(key_id, 0) = $4 AND target_kind = $5 AND target_id = $6`,
		hash(text), caller.UserID, caller.SessionID, caller.KeyID, kind, targetID).
		Scan(&r.id, &r.node, &carries, &r.order.Columns, &r.order.Rows, &holder, &good)
	if errors.Is(err, pgx.ErrNoRows) {
		return r, notGood()
	}
	if err != nil {
		return r, db.Problem(fmt.Errorf("reading a ticket: %w", err))
	}
	if holder != s.instance || !good {
		// The console that is held for it may be the only one that its guest
		// provides at a time.
		s.release(strconv.FormatInt(r.id, 10))
		if _, err := s.DB.Pool.Exec(ctx, "SELECT pg_notify($1, $2)", channelTickets, strconv.FormatInt(r.id, 10)); err != nil {
			return r, db.Problem(fmt.Errorf("announcing a ticket: %w", err))
		}
	}
	if !good {
		return r, notGood()
	}
	r.order.Kind = hypervisor.ConsoleKind(carries)
	return r, nil
}

// notGood is the same problem for every fault, so that it says nothing about
// other users' tickets.
func notGood() error {
	return problem.New(problem.CodeTicketInvalid,
		"the ticket is not valid here: it was used, has expired, or belongs to another user, session or target; request a new one")
}

func (s *Store) pruneTickets(ctx context.Context) (int64, error) {
	tag, err := s.DB.Pool.Exec(ctx, `DELETE FROM console_tickets WHERE id IN (
		SELECT id FROM console_tickets WHERE expires_at <= now() ORDER BY expires_at LIMIT 1000 FOR UPDATE SKIP LOCKED)`)
	if err != nil {
		return 0, db.Problem(fmt.Errorf("deleting tickets: %w", err))
	}
	return tag.RowsAffected(), nil
}

// newTicket returns 256 random bits in URL-safe text.
func newTicket() string {
	bits := make([]byte, sha256.Size)
	_, _ = rand.Read(bits) // never fails
	return base64.RawURLEncoding.EncodeToString(bits)
}

// hash returns the stored form of a ticket. The ticket is long and random, so
// that nobody can find it from a plain SHA-256.
func hash(ticket string) []byte {
	sum := sha256.Sum256([]byte(ticket))
	return sum[:]
}

// passwordSize is how many bytes of a password RFB uses (RFC 6143, section
// 7.2.2).
const passwordSize = 8

// password returns the password that a graphical console asks its client for.
// It reveals neither the ticket nor its hash.
func password(ticket string) string {
	sum := sha256.Sum256([]byte("the password of a graphical console\x00" + ticket))
	return base64.RawURLEncoding.EncodeToString(sum[:])[:passwordSize]
}
