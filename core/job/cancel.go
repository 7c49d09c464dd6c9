package job

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/problem"
)

// Cancel requests, in the caller's transaction, that a job be canceled. A job
// that has not begun is canceled at once. A running job is notified, stops the
// hypervisor's task if it has one, and ends when the task has ended: as
// canceled, or with the result that the task had before it could be stopped. A
// second request is not an error. A finished job is the problem job_finished,
// one that the caller may not see is not_found.
func (q *Queue) Cancel(ctx context.Context, tx *db.Tx, id int64, visible identity.VisibleTeams) (*Job, error) {
	j, err := one(tx.Pgx.Query(ctx, "SELECT "+columns+" FROM jobs WHERE id = $1 AND ($2 OR team_id = ANY($3)) FOR UPDATE",
		id, visible.All, visible.Teams))
	if err != nil {
		return nil, fmt.Errorf("reading the job: %w", err)
	}
	switch {
	case j == nil:
		return nil, notFound(id)
	case j.Status.Finished():
		return nil, problem.New(problem.CodeJobFinished, "job %d has already ended: it %s", id, ended(j.Status))
	case j.CancelRequestedAt != nil:
		return j, nil
	}
	by := ""
	if caller := identity.FromContext(ctx); caller != nil {
		by = " by " + clean(caller.Email, 256)
	}
	if err := appendEvent(ctx, tx.Pgx, id, EventNote, "cancel requested"+by); err != nil {
		return nil, err
	}
	// Nobody works on a queued job, so it can end here.
	if j.Status == Queued {
		if err := appendStatus(ctx, tx.Pgx, id, Canceled); err != nil {
			return nil, err
		}
	}
	j, err = one(tx.Pgx.Query(ctx, `UPDATE jobs SET cancel_requested_at = now(),
			status = CASE status WHEN 'queued' THEN 'canceled' ELSE status END,
			finished_at = CASE status WHEN 'queued' THEN now() END
		WHERE id = $1 RETURNING `+columns, id))
	if err != nil {
		return nil, fmt.Errorf("recording the cancel request: %w", err)
	}
	// The notification is sent when the transaction commits. An instance that
	// misses it finds the request within two seconds.
	if err := signal(ctx, tx.Pgx, channelCancel, id); err != nil {
		return nil, err
	}
	// Jobs behind a canceled one may move up.
	if err := signal(ctx, tx.Pgx, channelSlots, id); err != nil {
		return nil, err
	}
	return j, nil
}

// RequestCancel is Cancel in its own transaction, with the audit row of the
// context.
func (q *Queue) RequestCancel(ctx context.Context, id int64, visible identity.VisibleTeams) (*Job, error) {
	var canceled *Job
	err := q.db.Tx(ctx, func(tx *db.Tx) (err error) {
		if canceled, err = q.Cancel(ctx, tx, id, visible); err != nil {
			return err
		}
		return audit.Write(ctx, tx)
	})
	return canceled, err
}

// ended describes a final state for an error.
func ended(s Status) string {
	switch s {
	case Canceled:
		return "was canceled"
	case Unknown:
		return "ended with an unknown result"
	default:
		return string(s)
	}
}

// notFound returns the problem of a job that does not exist or that the caller
// may not see.
func notFound(id int64) error { return problem.New(problem.CodeNotFound, "job %d not found", id) }

// watchCancels notifies the runs of this instance about requests to cancel
// their jobs. It also looks every two seconds, because a notification may be
// lost with its connection.
func (q *Queue) watchCancels(ctx context.Context) {
	for {
		select {
		case <-q.hub.cancels:
		case <-time.After(2 * time.Second):
		case <-ctx.Done():
			return
		}
		if err := q.readCancels(ctx); err != nil && ctx.Err() == nil {
			q.log.Debug("finding jobs to cancel failed", "error", err)
		}
	}
}

// readCancels looks which of the running jobs should be canceled.
func (q *Queue) readCancels(ctx context.Context) error {
	q.mu.Lock()
	ids := make([]int64, 0, len(q.runs))
	for id := range q.runs {
		ids = append(ids, id)
	}
	q.mu.Unlock()
	if len(ids) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, statementLimit)
	defer cancel()
	rows, err := q.db.Pool.Query(ctx, "SELECT id FROM jobs WHERE id = ANY($1) AND cancel_requested_at IS NOT NULL", ids)
	if err != nil {
		return fmt.Errorf("reading: %w", err)
	}
	wanted, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return fmt.Errorf("reading: %w", err)
	}
	// The list was made without the lock. A run may have ended since.
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, id := range wanted {
		if run := q.runs[id]; run != nil {
			run.requestCancel()
		}
	}
	return nil
}
