package db

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// Outcome is what became of a transaction whose commit was not answered.
type Outcome interface {
	// Settle asks the database until it says whether the transaction was
	// committed, or until ctx ends; known is false when that cannot be found
	// out (any more).
	Settle(ctx context.Context) (committed, known bool)
}

// UnsettledOutcome finds in err the transaction of DB.Tx of which nobody knows whether
// it was committed; nil when there is none.
func UnsettledOutcome(err error) Outcome {
	var open *unsettled
	if errors.As(err, &open) {
		return open
	}
	return nil
}

// unsettled is the error of such a transaction.
type unsettled struct {
	db *DB
	// change is PostgreSQL's number of the transaction.
	change string
	// timeline is the server's history in which the number was given.
	timeline string
	cause    error
}

var _ Outcome = (*unsettled)(nil)

// Error and Unwrap implement error.
func (u *unsettled) Error() string {
	return fmt.Sprintf("it is unknown whether transaction %s was committed: %v", u.change, u.cause)
}

func (u *unsettled) Unwrap() error { return u.cause }

// Settle implements Outcome.
func (u *unsettled) Settle(ctx context.Context) (committed, known bool) { return u.settle(ctx) }

// settle asks on connections of its own: those of the pool may all hang in commits.
func (u *unsettled) settle(ctx context.Context) (committed, known bool) {
	for pause := 20 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		status, err := u.ask(ctx)
		switch {
		case err == nil && status == "committed":
			return true, true
		case err == nil && status == "aborted":
			return false, true
		case errors.Is(err, errForgotten):
			return false, false
		}
		// "in progress": the server has not noticed yet that its client is
		// gone, or waits for a standby.
		select {
		case <-ctx.Done():
			return false, false
		case <-time.After(pause):
		}
	}
}

// errForgotten: the server cannot tell any more, or is not the one that gave the number.
var errForgotten = errors.New("the server does not know the transaction")

// ask is pg_xact_status (PostgreSQL's manual, section 9.28.7): "committed",
// "aborted" or "in progress".
func (u *unsettled) ask(ctx context.Context) (string, error) {
	conn, err := pgx.ConnectConfig(ctx, u.db.Pool.Config().ConnConfig)
	if err != nil {
		return "", err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	if now := readTimeline(ctx, conn); now != u.timeline {
		if now == "" {
			return "", errors.New("the server does not report its timeline")
		}
		// Another server took over. Where it lacks the transaction it may give
		// the number to another one.
		u.db.timeline.note(now)
		return "", errForgotten
	}
	var status *string
	err = conn.QueryRow(ctx, "SELECT pg_xact_status($1::text::xid8)", u.change).Scan(&status)
	switch {
	case state(err) == "22023": // a number of the future
		return "", errForgotten
	case err != nil:
		return "", err
	case status == nil: // too long ago
		return "", errForgotten
	}
	return *status, nil
}

// timeline is the number of the server's history, which a standby that takes over counts up.
type timeline struct {
	mu   sync.Mutex
	last string
}

// note remembers the time line of the server after a change, by which a
// restored database is recognised.
func (t *timeline) note(now string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last = now
}

// known returns the last known time line.
func (t *timeline) known() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.last
}

// readTimeline is the beginning of the name of the WAL file that is written. It
// is empty where the server does not tell, as in recovery.
func readTimeline(ctx context.Context, q interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}) string {
	var id string
	if err := q.QueryRow(ctx, "SELECT left(pg_walfile_name(pg_current_wal_lsn()), 8)").Scan(&id); err != nil {
		return ""
	}
	return id
}
