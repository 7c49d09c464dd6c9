package schedule

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/problem"
)

// retryAfter is how long the ticker waits after an error of the database, and
// before it looks again at a schedule that another instance holds.
const retryAfter = time.Second

// Run starts the jobs of due schedules until the context ends. Every instance
// runs it.
func (s *Store) Run(ctx context.Context) {
	s.cfg.Heartbeat.Beat(0)
	for ctx.Err() == nil {
		wait, err := s.Sweep(ctx)
		if err != nil && ctx.Err() == nil {
			s.log.Warn("could not read the schedules; trying again", "error", err)
			wait = 5 * retryAfter
		}
		wait = min(wait, s.cfg.CheckInterval)
		s.cfg.Heartbeat.Beat(wait)
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
		case <-s.woken:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// Sweep starts the jobs of all due schedules, one after another, and returns
// the time until the next one.
func (s *Store) Sweep(ctx context.Context) (time.Duration, error) {
	passed := []int64{} // another instance is at these
	for {
		row, now, err := s.first(ctx, passed)
		if err != nil {
			return 0, err
		}
		switch {
		case row == nil && len(passed) > 0:
			return retryAfter, nil
		case row == nil:
			return s.cfg.CheckInterval, nil
		case row.NextRunAt == nil:
			err = s.begin(ctx, row)
		case row.NextRunAt.After(now):
			wait := max(row.NextRunAt.Sub(now), 0)
			if len(passed) > 0 {
				wait = min(wait, retryAfter)
			}
			return wait, nil
		default:
			var handled bool
			if handled, err = s.fire(ctx, row); !handled {
				passed = append(passed, row.ID)
			}
		}
		if ctx.Err() != nil {
			return 0, ctx.Err()
		}
		if err != nil {
			// A schedule that fails must not delay the others.
			s.log.Warn("could not serve a schedule; trying again", "schedule", row.ID, "error", err)
			passed = append(passed, row.ID)
		}
	}
}

// first returns the schedule that is due first; those without a computed time
// come before all others. It returns nil if there is none.
func (s *Store) first(ctx context.Context, but []int64) (*Schedule, time.Time, error) {
	now, err := s.now(ctx, s.db.Pool)
	if err != nil {
		return nil, now, err
	}
	row, err := one(ctx, s.db.Pool, "enabled AND id <> ALL($1) ORDER BY next_run_at NULLS FIRST, id LIMIT 1", but)
	return row, now, err
}

// begin computes the first time of a schedule that came with the service.
func (s *Store) begin(ctx context.Context, was *Schedule) error {
	return s.db.Tx(ctx, func(tx *db.Tx) error {
		row, err := lock(ctx, tx, was)
		if err != nil || row == nil {
			return err
		}
		now, err := s.now(ctx, tx.Pgx)
		if err != nil {
			return err
		}
		next, err := s.following(row, now)
		var unreadable *problem.Error
		if errors.As(err, &unreadable) {
			if err := disable(ctx, tx, row.ID, told(unreadable)); err != nil {
				return fmt.Errorf("disabling a schedule: %w", err)
			}
			return audit.WriteEntry(tx, s.entry(row, "schedule.disable", map[string]any{"reason": told(unreadable)}))
		}
		if err != nil {
			return err
		}
		if _, err := tx.Pgx.Exec(ctx, "UPDATE schedules SET next_run_at = $2 WHERE id = $1", row.ID, next); err != nil {
			return fmt.Errorf("recording when a schedule is due: %w", err)
		}
		return nil
	})
}
