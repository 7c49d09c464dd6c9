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
	"github.com/hostler/hostler/core/problem"
)

// finish cleans up, stores the result of the update and ends the job.
func (u *update) finish(ctx context.Context) error {
	v, w := u.progress.Verdict, u.progress.Way
	if err := u.cleanUp(ctx, v, w); err != nil {
		return err
	}
	if err := u.record(ctx, v, w); err != nil {
		return err
	}
	text := v.Text
	if v.Outcome == OutcomeUpdated || v.Outcome == OutcomeNeedsHuman && w != nil && !w.Deleted {
		text += "; " + w.left()
	}
	switch {
	case v.Unknown:
		return job.Undetermined("%s", text)
	case v.Canceled && v.Outcome == OutcomeRolledBack:
		return job.Stopped("%s", text)
	case v.Outcome == OutcomeRolledBack, v.Outcome == OutcomeNeedsHuman:
		return job.Fail("%s", text)
	}
	u.run.Note("%s", text)
	return nil
}

// cleanUpLimit limits how long the removal of a run's files in a container may
// take.
const cleanUpLimit = 2 * time.Minute

// cleanUp removes what nobody needs any more: the run's files in the container,
// unless it was set back, and snapshots: the one of this update if nothing
// changed, and the one of the previous update if this one succeeded. The
// previous snapshot is kept until then, because it may be the only good state.
func (u *update) cleanUp(ctx context.Context, v *outcome, w *restorePoint) error {
	if v.Outcome != OutcomeRolledBack && !u.progress.Ran.Gone {
		node := nodeunit.InGuest(u.container(askLimit))
		limited, cancel := context.WithTimeout(ctx, cleanUpLimit)
		err := u.run.RetryUnreachable(limited, func(ctx context.Context) error { return nodeunit.Remove(ctx, node, u.runName()) })
		cancel()
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			u.run.Note("the folder of the run is left in the container: %s", job.Explain(err))
		}
	}
	same := v.Outcome == OutcomeUnchanged || v.Outcome == OutcomeRolledBack || v.Outcome == OutcomeNeedsHuman && !u.progress.Ran.Begun ||
		v.Outcome == OutcomeNeedsHuman && u.progress.After != nil && u.progress.Ran.Begun && u.refused()
	if same && w.Snapshot != "" && !w.Deleted {
		gone, err := u.forget(ctx, "forget", w.Snapshot)
		if err != nil {
			return err
		}
		w.Deleted = gone
		if err := u.save(ctx); err != nil {
			return err
		}
	}
	if v.Outcome != OutcomeUpdated {
		return nil
	}
	var job int64
	var earlier string
	err := u.DB.Pool.QueryRow(ctx, `SELECT job_id, snapshot FROM app_updates WHERE app_id = $1 AND job_id < $2 AND snapshot IS NOT NULL
		AND outcome = 'updated' ORDER BY job_id DESC LIMIT 1`, u.params.AppID, u.run.Job().ID).Scan(&job, &earlier)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return db.Problem(fmt.Errorf("reading the last update: %w", err))
	}
	gone, err := u.forget(ctx, "forget-earlier", earlier)
	if err == nil && gone {
		_, err = u.DB.Pool.Exec(ctx, "UPDATE app_updates SET snapshot = NULL WHERE job_id = $1", job)
	}
	return err
}

// refused reports whether the script said that it did not begin, and nothing
// was changed.
func (u *update) refused() bool {
	_, exit := u.failure(u.progress.Ran)
	return exit != nil && u.progress.After.same(u.progress.Before) && u.progress.Parts["roll-back"] == nil &&
		u.progress.Parts["stop"] == nil
}

// record stores the result of the update, and the version of the script that
// has run.
func (u *update) record(ctx context.Context, v *outcome, w *restorePoint) error {
	p, r := &u.params, u.progress.Ran
	var after *string
	if u.progress.After != nil {
		after = orNil(u.progress.After.Version)
	}
	var code *int
	if r.Phase == nodeunit.Ended && r.Signal == "" && !r.TimedOut && !r.Gone {
		code = &r.ExitCode
	}
	var snapshot *string
	if !w.Deleted {
		snapshot = orNil(w.Snapshot)
	}
	return u.DB.Tx(ctx, func(tx *db.Tx) error {
		err := lock(ctx, tx, p.AppID)
		if problem.CodeOf(err) == problem.CodeNotFound {
			return nil // it was forgotten meanwhile, and all that is known of it with it
		}
		if err != nil {
			return err
		}
		tag, err := tx.Pgx.Exec(ctx, `UPDATE app_updates SET outcome = $2, text = $3, version_before = $4, version_after = $5, exit_code = $6,
			snapshot = $7, ended_at = now() WHERE job_id = $1 AND outcome IS NULL`, u.run.Job().ID, v.Outcome, v.Text,
			orNil(u.progress.Before.Version), after, code, snapshot)
		if err != nil {
			return fmt.Errorf("recording the result of an update: %w", err)
		}
		if tag.RowsAffected() == 0 || v.Outcome != OutcomeUpdated && v.Outcome != OutcomeUnchanged {
			return nil // an earlier run of the job did so, or the app is what it was
		}
		return u.advance(ctx, tx)
	})
}

// advance adds the version of the script that has run, unless the newest
// version is of the same bundle.
func (u *update) advance(ctx context.Context, tx *db.Tx) error {
	p := &u.params
	newest, err := version(ctx, tx.Pgx, p.AppID, 0)
	if err != nil {
		return err
	}
	if newest != nil && newest.Bundle != nil && *newest.Bundle == p.Sum && *newest.Commit == p.Commit {
		return nil
	}
	key, err := p.key()
	if err != nil {
		return err
	}
	return start(ctx, tx, Installation{AppID: p.AppID, JobID: u.run.Job().ID, By: p.By, Key: key, Sum: p.Sum, Program: p.Launch.Program,
		Commit: p.Commit}, "update")
}

// orNil returns nil for an empty text.
func orNil(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
