package job

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/problem"
)

// releaseTime bounds the release of a hold. A hold that is not released ends at
// its limit.
const releaseTime = 5 * time.Second

// Hold keeps jobs away from an object while a request changes the object
// directly.
type Hold struct {
	db *db.DB
	id int64
}

// AcquireHold writes a hold into the caller's transaction. After the commit, every
// instance refuses a job with the same Spec.Exclusive with guest_busy, until
// Release is called or the limit has passed. The change must be complete by
// then. If an unfinished job or another hold has the key, the problem is
// guest_busy and nothing was written.
func AcquireHold(ctx context.Context, d *db.DB, tx *db.Tx, exclusive string, limit time.Duration) (*Hold, error) {
	return acquireHold(ctx, d, tx, nil, exclusive, limit)
}

// Hold is AcquireHold for a job that works on a second object besides that of its
// Spec.Exclusive. It replaces a hold that an earlier run of the job left behind
// when its process died. The caller must call release. If that fails, the
// transcript says so and the hold ends at its limit.
func (r *Run) Hold(ctx context.Context, exclusive string, limit time.Duration) (release func(), err error) {
	var hold *Hold
	err = r.queue.db.Tx(ctx, func(tx *db.Tx) (err error) {
		hold, err = acquireHold(ctx, r.queue.db, tx, &r.job.ID, exclusive, limit)
		return err
	})
	if err != nil {
		return nil, err
	}
	return func() {
		if err := hold.Release(ctx); err != nil {
			r.Note("cannot release a lock: %s; other jobs on the same object are refused for up to %s", Explain(err), limit)
		}
	}, nil
}

// acquireHold writes a hold. The argument of is the job that it belongs to, or nil.
func acquireHold(ctx context.Context, d *db.DB, tx *db.Tx, of *int64, exclusive string, limit time.Duration) (*Hold, error) {
	// A transaction that enqueues a job has this lock shared until its commit.
	// If the lock is not available, a job may be about to appear that cannot be
	// seen yet. The lock is not waited for, so that two requests cannot
	// deadlock.
	var alone bool
	err := tx.Pgx.QueryRow(ctx, "SELECT pg_try_advisory_xact_lock($1, hashtext($2))", db.LockHold, exclusive).Scan(&alone)
	if err != nil {
		return nil, fmt.Errorf("taking the lock of holds: %w", err)
	}
	if !alone {
		return nil, problem.New(problem.CodeGuestBusy, "another request is starting a job or a change; try again")
	}
	if _, err := tx.Pgx.Exec(ctx, "DELETE FROM job_holds WHERE exclusive = $1 AND (until <= clock_timestamp() OR job_id = $2)", exclusive,
		of); err != nil {
		return nil, fmt.Errorf("ending an expired hold: %w", err)
	}
	var other int64
	var kind string
	err = tx.Pgx.QueryRow(ctx, "SELECT id, kind FROM jobs WHERE exclusive = $1 AND status IN ('queued', 'running')", exclusive).
		Scan(&other, &kind)
	if err == nil {
		return nil, busyProblem(other, kind)
	}
	if !errors.Is(err, pgx.ErrNoRows) {
		return nil, fmt.Errorf("reading running jobs: %w", err)
	}
	if err := checkFreeElsewhere(ctx, tx.Pgx, exclusive); err != nil {
		return nil, err
	}
	h := &Hold{db: d}
	err = tx.Pgx.QueryRow(ctx, `INSERT INTO job_holds (exclusive, until, job_id) VALUES ($1, clock_timestamp() + $2, $3)
		ON CONFLICT DO NOTHING RETURNING id`, exclusive, limit, of).Scan(&h.id)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, heldProblem()
	}
	if err != nil {
		return nil, fmt.Errorf("writing a hold: %w", err)
	}
	return h, nil
}

// Release ends the hold, even if the context has ended: a canceled request must
// not leave the object locked.
func (h *Hold) Release(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTime)
	defer cancel()
	if _, err := h.db.Pool.Exec(ctx, "DELETE FROM job_holds WHERE id = $1 OR until <= clock_timestamp()", h.id); err != nil {
		return db.Problem(fmt.Errorf("ending a hold: %w", err))
	}
	return nil
}

// checkNotHeld refuses a job on an object that is held, and prevents a new hold on
// it until the transaction has ended.
func checkNotHeld(ctx context.Context, tx pgx.Tx, exclusive string) error {
	if exclusive == "" {
		return nil
	}
	if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock_shared($1, hashtext($2))", db.LockHold, exclusive); err != nil {
		return fmt.Errorf("sharing the lock of holds: %w", err)
	}
	var is bool
	err := tx.QueryRow(ctx, "SELECT EXISTS (SELECT FROM job_holds WHERE exclusive = $1 AND until > clock_timestamp())", exclusive).Scan(&is)
	if err != nil {
		return fmt.Errorf("reading holds: %w", err)
	}
	if is {
		return heldProblem()
	}
	return nil
}

// checkFreeElsewhere refuses a job or a hold on an object of a cluster that another
// team has added too, while a job or hold of that team is on the same object.
// The two teams have different rows for the same guest, so their keys differ.
// Transactions of both teams wait here for each other.
func checkFreeElsewhere(ctx context.Context, tx pgx.Tx, exclusive string) error {
	if exclusive == "" {
		return nil
	}
	var twins []string
	err := tx.QueryRow(ctx, "SELECT COALESCE(array_agg(k ORDER BY k), '{}') FROM exclusive_twins($1) k", exclusive).Scan(&twins)
	if err != nil {
		return fmt.Errorf("reading other teams' clusters: %w", err)
	}
	if len(twins) == 0 {
		return nil
	}
	// Both teams compute the same lock: the smallest of all keys for the
	// object.
	if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock($1, hashtext($2))", db.LockSharedCluster, min(exclusive,
		slices.Min(twins))); err != nil {
		return fmt.Errorf("waiting for other teams: %w", err)
	}
	var busy bool
	err = tx.QueryRow(ctx, `SELECT EXISTS (SELECT FROM jobs WHERE exclusive = ANY ($1) AND status IN ('queued', 'running'))
		OR EXISTS (SELECT FROM job_holds WHERE exclusive = ANY ($1) AND until > clock_timestamp())`, twins).Scan(&busy)
	if err != nil {
		return fmt.Errorf("reading other teams' jobs: %w", err)
	}
	if !busy {
		return nil
	}
	p := problem.New(problem.CodeGuestBusy, "another team has enrolled the same cluster and is changing the same object; "+
		"try again later")
	p.RetryAfter = 5
	return p
}

// heldProblem returns the problem of an object that another request is changing.
func heldProblem() error {
	p := problem.New(problem.CodeGuestBusy, "another request is changing the same object; try again in a moment")
	p.RetryAfter = 5
	return p
}

// busyProblem returns the problem of an object that a job works on.
func busyProblem(id int64, kind string) error {
	return problem.New(problem.CodeGuestBusy, "job %d (%s) has not finished yet; wait for it or cancel it", id, kind).With("job", id)
}
