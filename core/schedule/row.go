package schedule

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/problem"
)

// columns are the columns of scan, in its order.
const columns = `id, name, cron, timezone, job_kind, params, enabled, next_run_at, last_run_at, last_job_id, last_error,
	disabled_reason, writer_id, writer_email, seeded, created_at, updated_at`

func scan(row pgx.CollectableRow) (*Schedule, error) {
	var s Schedule
	var w Writer
	err := row.Scan(&s.ID, &s.Name, &s.Cron, &s.Timezone, &s.JobKind, &s.Params, &s.Enabled, &s.NextRunAt, &s.LastRunAt, &s.LastJobID,
		&s.LastError, &s.DisabledReason, &w.ID, &w.Email, &s.Seeded, &s.CreatedAt, &s.UpdatedAt)
	if err != nil {
		return nil, fmt.Errorf("reading a schedule: %w", err)
	}
	for _, at := range []*time.Time{s.NextRunAt, s.LastRunAt, &s.CreatedAt, &s.UpdatedAt} {
		if at != nil {
			*at = at.UTC()
		}
	}
	if !s.Seeded {
		s.Writer = &w
	}
	return &s, nil
}

// querier is the pool or a transaction.
type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// one returns the only row that meets the condition, or nil.
func one(ctx context.Context, q querier, where string, args ...any) (*Schedule, error) {
	rows, err := q.Query(ctx, "SELECT "+columns+" FROM schedules WHERE "+where, args...)
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading a schedule: %w", err))
	}
	s, err := pgx.CollectExactlyOneRow(rows, scan)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	return s, db.Problem(err)
}

// Get returns one schedule. The problem is not_found.
func (s *Store) Get(ctx context.Context, id int64) (*Schedule, error) {
	return s.read(ctx, s.db.Pool, id)
}

func (s *Store) read(ctx context.Context, q querier, id int64) (*Schedule, error) {
	found, err := one(ctx, q, "id = $1", id)
	if err == nil && found == nil {
		err = problem.New(problem.CodeNotFound, "schedule not found")
	}
	return found, err
}

// lock reads and locks the schedule. It returns nil if the schedule was written
// or ran since it was read as was.
func lock(ctx context.Context, tx *db.Tx, was *Schedule) (*Schedule, error) {
	return one(ctx, tx.Pgx, "id = $1 AND updated_at = $2 AND next_run_at IS NOT DISTINCT FROM $3 AND enabled = $4 FOR UPDATE", was.ID,
		was.UpdatedAt, was.NextRunAt, was.Enabled)
}
