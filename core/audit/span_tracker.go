package audit

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/problem"
)

// Settings of the signs of life.
const (
	// defaultSignEvery is the time between two signs of life of what is under
	// way, and lostAfter how many of these times without one show that its
	// process has ended.
	defaultSignEvery = 15 * time.Second
	lostAfter        = 4
	// signLimit bounds one turn, and maxLost is how many ends it writes.
	signLimit = 10 * time.Second
	maxLost   = 200
)

// Span connects the two rows of something that lasts, such as a console.
type Span struct {
	// Key is the same for both rows, and no other's.
	Key string
	// End is the action of the row of the end, given in that of the beginning;
	// "" in all that come after it.
	End string
}

// SpanTracker makes sure that everything that lasts gets a row for its end,
// whatever becomes of its process. A process gives signs of life; if they stop,
// another instance, or the next start, writes the row of the end as far as it
// is known. It is safe for concurrent use.
type SpanTracker struct {
	DB     *db.DB
	Logger hclog.Logger
	// Every is the time between two signs of life, the same on all instances; 15 s when zero.
	Every time.Duration

	mu   sync.Mutex
	mine map[string]bool
	// believe is from when on the silence of others tells that they have ended:
	// nobody could give a sign while the database was away.
	believe time.Time
}

// every returns the time between two signs of life.
func (u *SpanTracker) every() time.Duration {
	if u.Every <= 0 {
		return defaultSignEvery
	}
	return u.Every
}

// Run gives the signs of life, and writes the missing rows of other processes,
// until the context ends.
func (u *SpanTracker) Run(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	failing := false
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		err := u.turn(ctx)
		if err != nil && ctx.Err() == nil && !failing && u.Logger != nil {
			u.Logger.Warn("could not record running operations in the database", "error", err)
		}
		failing = err != nil
		timer.Reset(u.every())
	}
}

// turn writes signs of life, and looks for processes that have stopped doing
// so.
func (u *SpanTracker) turn(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, signLimit)
	defer cancel()
	err := u.sign(ctx)
	if err == nil && !time.Now().Before(u.believe) {
		err = u.endLost(ctx)
	}
	if err != nil {
		u.believe = time.Now().Add(lostAfter * u.every())
	}
	return err
}

// sign gives a sign of life for everything in this process.
func (u *SpanTracker) sign(ctx context.Context) error {
	u.mu.Lock()
	keys := slices.Collect(maps.Keys(u.mine))
	u.mu.Unlock()
	if len(keys) == 0 {
		return nil
	}
	_, err := u.DB.Pool.Exec(ctx, "UPDATE audit_underway SET seen_at = clock_timestamp() WHERE key = ANY ($1)", keys)
	if err != nil {
		return db.Problem(fmt.Errorf("recording running operations: %w", err))
	}
	return nil
}

// lost is something whose process has ended.
type lost struct {
	action      string
	entry       []byte
	begun, seen time.Time
}

// endLost writes the rows for the ends of everything that no process has any
// more. Result and error say that the end is unknown.
func (u *SpanTracker) endLost(ctx context.Context) error {
	return u.DB.Tx(ctx, func(tx *db.Tx) error {
		rows, err := tx.Pgx.Query(ctx, `DELETE FROM audit_underway WHERE key IN (SELECT key FROM audit_underway
			WHERE seen_at < clock_timestamp() - $1::interval ORDER BY seen_at LIMIT $2 FOR UPDATE SKIP LOCKED)
			RETURNING action, entry, begun_at, seen_at`, lostAfter*u.every(), maxLost)
		if err != nil {
			return fmt.Errorf("reading ended operations: %w", err)
		}
		all, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (l lost, err error) {
			return l, row.Scan(&l.action, &l.entry, &l.begun, &l.seen)
		})
		if err != nil {
			return fmt.Errorf("reading ended operations: %w", err)
		}
		for _, l := range all {
			if err := l.write(tx); err != nil {
				return err
			}
		}
		return nil
	})
}

// write writes the row of an operation whose process has ended before it could.
func (l lost) write(tx *db.Tx) error {
	row := &Row{}
	details := map[string]any{}
	if err := json.Unmarshal(l.entry, row); err != nil {
		return fmt.Errorf("reading interrupted operations: %w", err)
	}
	if err := json.Unmarshal(row.Details, &details); err != nil {
		return fmt.Errorf("reading interrupted operations: %w", err)
	}
	details["reason"] = "the service ended first: when this ended and how much data it transferred is unknown"
	details["begun_at"], details["last_seen_at"] = l.begun.UTC().Format(time.RFC3339), l.seen.UTC().Format(time.RFC3339)
	told, err := json.Marshal(details)
	if err != nil {
		return fmt.Errorf("encoding audit details: %w", err)
	}
	row.Action, row.Result, row.Error, row.Details = l.action, ResultFailed, string(problem.CodeOutcomeUnknown), told
	if err := tx.Create(row).Error; err != nil {
		return fmt.Errorf("writing the audit row: %w", err)
	}
	return nil
}

// note stores, in the transaction of an entry's row, that something has begun
// or has ended. Something that has ended gets no more signs of life even if its
// row could not be written; then the row is written as a missing one.
func (u *SpanTracker) note(ctx context.Context, tx *db.Tx, entry Entry) error {
	if entry.Span.End == "" {
		u.have(entry.Span.Key, false)
		if _, err := tx.Pgx.Exec(ctx, "DELETE FROM audit_underway WHERE key = $1", entry.Span.Key); err != nil {
			return fmt.Errorf("ending a recorded operation: %w", err)
		}
		return nil
	}
	row, err := rowOf(entry)
	if err != nil {
		return err
	}
	kept, err := json.Marshal(row)
	if err != nil {
		return fmt.Errorf("encoding a running operation: %w", err)
	}
	_, err = tx.Pgx.Exec(ctx, "INSERT INTO audit_underway (key, action, entry) VALUES ($1, $2, $3)", entry.Span.Key, entry.Span.End,
		kept)
	if err != nil {
		return fmt.Errorf("storing a running operation: %w", err)
	}
	tx.OnCommit(func() { u.have(entry.Span.Key, true) })
	return nil
}

// have records whether this process has an operation under way.
func (u *SpanTracker) have(key string, has bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.mine == nil {
		u.mine = map[string]bool{}
	}
	if has {
		u.mine[key] = true
	} else {
		delete(u.mine, key)
	}
}
