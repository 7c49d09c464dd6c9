package job

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/hostler/hostler/core/db"
)

// Kinds of events.
const (
	EventLog    = "log"    // a line of the hypervisor's task log
	EventNote   = "note"   // a line of ours
	EventStatus = "status" // the job's status became the text
)

// Event is one line of a job's transcript.
type Event struct {
	// Seq counts from 1 within the job, without gaps.
	Seq  int
	At   time.Time
	Kind string
	Text string
}

// MaxEvents is the largest number of events that one call of Events returns.
const MaxEvents = 1000

// Events returns the transcript in order, after the event with number after (0
// for all): at most limit events, and never more than MaxEvents. The caller
// checks who may see the job.
func (q *Queue) Events(ctx context.Context, jobID int64, after, limit int) ([]Event, error) {
	rows, err := q.db.Pool.Query(ctx, `SELECT seq, at, kind, text FROM job_events WHERE job_id = $1 AND seq > $2 ORDER BY seq LIMIT $3`,
		jobID, after, min(limit, MaxEvents))
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading the transcript: %w", err))
	}
	events, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Event])
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading the transcript: %w", err))
	}
	return events, nil
}

// executor is a pool, a connection or a transaction.
type executor interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
}

// appendStatus adds the event of a changed status, in the transaction that
// changes it.
func appendStatus(ctx context.Context, tx executor, jobID int64, status Status) error {
	return appendEvent(ctx, tx, jobID, EventStatus, string(status))
}

// appendEvent adds one line to the transcript. The counter in the job's row
// gives the number, and its row lock orders parallel writers.
func appendEvent(ctx context.Context, tx executor, jobID int64, kind, text string) error {
	_, err := tx.Exec(ctx, `
		WITH counted AS (UPDATE jobs SET event_count = event_count + 1 WHERE id = $1 RETURNING event_count)
		INSERT INTO job_events (job_id, seq, kind, text) SELECT $1, event_count, $2, $3 FROM counted`,
		jobID, kind, text)
	if err != nil {
		return fmt.Errorf("adding to the transcript: %w", err)
	}
	return signal(ctx, tx, channelEvents, jobID)
}

// signal notifies the listeners of a channel when the transaction commits.
func signal(ctx context.Context, tx executor, channel string, jobID int64) error {
	if _, err := tx.Exec(ctx, "SELECT pg_notify($1, $2::bigint::text)", channel, jobID); err != nil {
		return fmt.Errorf("notifying: %w", err)
	}
	return nil
}
