package appscript

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/core/nodeunit"
)

// turn waits until the job may begin. A job of a batch begins when those before
// it have ended, unless too many of them have failed.
func (u *update) turn(ctx context.Context) error {
	told := false
	for {
		ready, err := u.ready(ctx)
		if err != nil {
			return u.orStopped(ctx, err)
		}
		if ready {
			if ready, err = u.take(ctx); err != nil {
				return u.orStopped(ctx, err)
			}
		}
		if ready {
			return nil
		}
		if !told {
			u.run.Note("waiting for other scripts to end")
			told = true
		}
		if err := u.pause(ctx, u.Pauses.Turn, 3*time.Second); err != nil {
			return u.orStopped(ctx, err)
		}
	}
}

// take takes the lease of the machine, and reports whether the job has it. For
// a host that is gone it does not wait: the next step reports that.
func (u *update) take(ctx context.Context) (bool, error) {
	var cluster *int64
	var node string
	err := u.DB.Pool.QueryRow(ctx, "SELECT cluster_id, entry_node FROM hosts WHERE id = $1", u.params.HostID).Scan(&cluster, &node)
	if errors.Is(err, pgx.ErrNoRows) || err == nil && cluster == nil {
		return true, nil
	}
	if err != nil {
		return false, db.Problem(fmt.Errorf("reading a machine: %w", err))
	}
	holder, err := nodeunit.AcquireLease(ctx, u.DB, *cluster, node, u.run.Job().ID)
	return holder == 0, err
}

// wait is turn for a job that has begun already.
func (u *update) wait(ctx context.Context) error {
	for {
		ready, err := u.take(ctx)
		if err != nil || ready {
			return err
		}
		if err := u.pause(ctx, u.Pauses.Turn, 3*time.Second); err != nil {
			return err
		}
	}
}

// orStopped returns the end of a job that was canceled while it waited.
func (u *update) orStopped(ctx context.Context, err error) error {
	if u.canceled() && u.hold.Err() == nil && ctx.Err() != nil {
		return job.Stopped("canceled before anything was done")
	}
	return err
}

// ready reports whether the earlier jobs of the batch have ended.
func (u *update) ready(ctx context.Context) (bool, error) {
	var waits, failed int
	var most *int
	err := u.DB.Pool.QueryRow(ctx, `SELECT count(*) FILTER (WHERE j.status IN ('queued', 'running') AND j.id < me.job_id),
			count(*) FILTER (WHERE j.status IN ('failed', 'unknown')), me.stop_after
		FROM app_updates me JOIN app_updates u ON u.batch = me.batch JOIN jobs j ON j.id = u.job_id
		WHERE me.job_id = $1 GROUP BY me.stop_after`, u.run.Job().ID).Scan(&waits, &failed, &most)
	if errors.Is(err, pgx.ErrNoRows) {
		return true, nil // it is alone
	}
	if err != nil {
		return false, db.Problem(fmt.Errorf("reading other updates: %w", err))
	}
	if most != nil && failed >= *most {
		return false, job.Stopped("not started: %d of the updates that were requested together have failed", failed)
	}
	return waits == 0, nil
}
