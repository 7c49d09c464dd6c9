package schedule

import (
	"context"
	"errors"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/idempotency"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/core/problem"
)

// RunNow starts the schedule's jobs once more, also if the schedule is off. It
// is an extra run: the schedule and its last run do not change. The jobs belong
// to the caller and have the rights of the schedule's writer. RunNow returns
// all of them, by ID. Problems: not_found, forbidden for an API key without the
// scope, and everything that keeps the schedule from running when it is due.
func (s *Store) RunNow(ctx context.Context, id int64) ([]*job.Job, error) {
	for range 5 {
		row, err := s.read(ctx, s.db.Pool, id)
		if err != nil {
			return nil, err
		}
		describe(ctx, row, map[string]any{"job_kind": row.JobKind, "writer": s.entry(row, "", nil).Details["writer"]})
		if err := s.inScope(ctx, s.kinds[row.JobKind]); err != nil {
			return nil, err
		}
		enqueue, err := s.prepare(ctx, row)
		if err != nil {
			return nil, err
		}
		s.hook(id)
		made, err := s.startNow(ctx, row, enqueue)
		if made != nil || err != nil && !errors.Is(err, errPrepareAgain) {
			return made, err
		}
	}
	return nil, problem.New(problem.CodeConflict, "someone else is changing the schedule; try again")
}

// startNow is nil without an error when the schedule was written since.
func (s *Store) startNow(ctx context.Context, was *Schedule, enqueue Enqueue) (made []*job.Job, err error) {
	err = s.db.Tx(ctx, func(tx *db.Tx) error {
		made = nil
		row, err := one(ctx, tx.Pgx, "id = $1 AND updated_at = $2 FOR UPDATE", was.ID, was.UpdatedAt)
		if err != nil || row == nil {
			return err
		}
		started, err := enqueue(job.WithSchedule(ctx, row.ID), tx)
		if err != nil {
			return err
		}
		audit.Describe(ctx, func(e *audit.Entry) { e.JobID, e.TeamID, e.HostID = &started.ID, started.TeamID, started.HostID })
		if made, err = job.EnqueuedWith(ctx, tx, started); err != nil {
			return err
		}
		if err := idempotency.SaveData(ctx, job.Views(made)); err != nil {
			return err
		}
		return audit.Write(ctx, tx)
	})
	if err != nil {
		return nil, err
	}
	return made, nil
}
