package job

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
)

// resumeLoop searches for abandoned jobs at the start and then periodically.
func (q *Queue) resumeLoop(ctx context.Context) {
	q.cfg.Heartbeat.Beat(0)
	for ctx.Err() == nil {
		if err := errors.Join(q.registerPlace(ctx), q.resume(ctx), q.closeVoid(ctx)); err != nil && ctx.Err() == nil {
			q.log.Warn("finding abandoned jobs failed", "error", err)
		}
		q.cfg.Heartbeat.Beat(q.cfg.ResumeEvery)
		select {
		case <-time.After(q.cfg.ResumeEvery):
		case <-q.stopping:
			return
		case <-ctx.Done():
			return
		}
	}
}

// resume creates a new River row for every unfinished job that nobody runs and
// that River will not hand out. A row that River has just handed out gets two
// seconds to take the job's lock.
func (q *Queue) resume(ctx context.Context) error {
	if q.isSuspended() {
		return nil
	}
	s, ok := q.locks.current(ctx, q.stopping)
	if !ok {
		return nil
	}
	rows, err := q.db.Pool.Query(ctx, `
		SELECT j.id FROM jobs j LEFT JOIN river_job r ON r.id = j.river_id
		WHERE j.status IN ('queued', 'running') AND (
			r.id IS NULL OR r.state IN ('cancelled', 'completed', 'discarded')
			OR r.state = 'running' AND r.attempted_at < now() - interval '2 seconds')
		ORDER BY j.id LIMIT 500`)
	if err != nil {
		return fmt.Errorf("listing unfinished jobs: %w", err)
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return fmt.Errorf("listing unfinished jobs: %w", err)
	}
	for _, id := range ids {
		if q.running(id) {
			continue
		}
		// If the lock is taken, an instance is running the job.
		free, err := s.try(db.LockJob, id)
		if err != nil {
			return err
		}
		if !free {
			continue
		}
		err = q.revive(ctx, id)
		s.free(db.LockJob, id)
		if err != nil {
			return err
		}
	}
	return nil
}

// closeVoid closes River rows in state running that have no job any more: their
// process died before River recorded the end. Nobody is interrupted, because
// such a row is void for whoever still has it.
func (q *Queue) closeVoid(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	_, err := q.db.Pool.Exec(ctx, `
		UPDATE river_job r SET state = 'discarded', finalized_at = now()
		WHERE r.state = 'running' AND (r.queue IN ($1, $3) OR r.queue LIKE $2 || '%') AND r.attempted_at < now() - interval '1 minute'
			AND NOT EXISTS (SELECT FROM jobs j WHERE j.river_id = r.id AND j.status IN ('queued', 'running'))`, riverQueue, placePrefix,
		unslottedQueue)
	if err != nil {
		return fmt.Errorf("closing the queue's empty rows: %w", err)
	}
	return nil
}

// revive hands one job to River again. The caller holds the job's lock.
func (q *Queue) revive(ctx context.Context, id int64) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	tx, err := q.db.Pool.Begin(ctx)
	if err != nil {
		return fmt.Errorf("beginning a transaction: %w", err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	j, err := one(tx.Query(ctx, "SELECT "+columns+` FROM jobs WHERE id = $1 AND status IN ('queued', 'running')
		AND NOT EXISTS (SELECT FROM river_job r WHERE r.id = jobs.river_id AND r.state IN ('available', 'pending', 'scheduled', 'retryable'))
		FOR UPDATE`, id))
	if err != nil || j == nil {
		return err
	}
	void := j.riverID
	priority := priorityNew
	if j.Status == Running {
		priority = priorityResumed
	}
	if err := q.insertRiverRow(ctx, tx, j, priority); err != nil {
		return err
	}
	// River takes the row with the earliest time first, so the job keeps its
	// position.
	if _, err := tx.Exec(ctx, "UPDATE river_job SET scheduled_at = $2 WHERE id = $1", *j.riverID, j.CreatedAt); err != nil {
		return fmt.Errorf("keeping the job's place in the queue: %w", err)
	}
	if void != nil {
		// Nobody works on the old row any more. River would show it as running
		// for an hour.
		if _, err := tx.Exec(ctx, "UPDATE river_job SET state = 'discarded', finalized_at = now() WHERE id = $1 AND state = 'running'",
			*void); err != nil {
			return fmt.Errorf("closing the queue's old row: %w", err)
		}
	}
	if err := tx.Commit(ctx); err != nil {
		return fmt.Errorf("committing: %w", err)
	}
	q.log.Info("resuming an abandoned job", "job", id, "kind", j.Kind, "status", j.Status, "runs", j.Runs)
	return nil
}
