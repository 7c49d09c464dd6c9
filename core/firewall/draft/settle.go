package draft

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/job"
)

// Settings of the search for abandoned drafts.
const (
	// settleEvery is the time between two looks for drafts that their jobs have left.
	settleEvery = 30 * time.Second
	// mostJobs bounds the jobs that go on with a draft that one after the other
	// leaves, and mostCrashed those that do after the service has crashed while
	// it ran one.
	mostJobs, mostCrashed = 3, 1
)

// Run settles drafts that their jobs have left, until the context ends. Every
// instance runs it.
func (s *Store) Run(ctx context.Context) {
	for ctx.Err() == nil {
		s.Heartbeat.Beat(settleEvery)
		if err := s.Settle(ctx); err != nil && ctx.Err() == nil && s.Logger != nil {
			s.Logger.Warn("could not settle drafts that their jobs left behind; trying again", "error", err)
		}
		timer := time.NewTimer(settleEvery)
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
		timer.Stop()
	}
}

// Settle ends the drafts whose job ended without ending them: a job that was
// canceled before it began, that crashed, or that was given up. If nothing was
// changed the draft is open again; else another job restores everything, or
// keeps it if that was confirmed.
func (s *Store) Settle(ctx context.Context) error {
	rows, err := s.DB.Pool.Query(ctx, "SELECT d.id FROM firewall_drafts d WHERE "+left+" ORDER BY d.id")
	if err != nil {
		return fmt.Errorf("reading drafts without a job: %w", err)
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return fmt.Errorf("reading drafts without a job: %w", err)
	}
	var errs []error
	for _, id := range ids {
		errs = append(errs, s.settle(ctx, id))
	}
	return errors.Join(errs...)
}

// gone is a job that left its draft.
type gone struct {
	status job.Status // empty where it was deleted
	params params
	at     progress
	// crashed says that the service has crashed while it ran the job, again and again.
	crashed bool
}

// settle ends one draft that its job has left, or enqueues another job for it.
// The lock on the row keeps two instances from doing both.
func (s *Store) settle(ctx context.Context, id int64) error {
	// The job is the service's own, whoever's request comes upon the draft.
	ctx, _ = audit.Begin(identity.WithCaller(ctx, nil), audit.Entry{})
	return s.DB.Tx(ctx, func(tx *db.Tx) error {
		rows, err := tx.Pgx.Query(ctx, "SELECT "+columns+" WHERE d.id = $1 AND "+left+" FOR UPDATE OF d", id)
		if err != nil {
			return fmt.Errorf("reading a draft: %w", err)
		}
		r, err := pgx.CollectExactlyOneRow(rows, scan)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil // another instance was quicker
		}
		if err != nil {
			return fmt.Errorf("reading a draft: %w", err)
		}
		was, err := readGone(ctx, tx, &r)
		if err != nil {
			return err
		}
		ended := "has ended: " + string(was.status)
		if was.status == "" {
			ended = "no longer exists"
		}
		switch {
		case r.Status == committing && was.status != "" && was.at.From == nil:
			return r.settled(ctx, tx, open, fmt.Sprintf("its job %s; nothing was changed", ended))
		case was.params.Again >= mostJobs, was.crashed && was.params.Again >= mostCrashed:
			return r.settled(ctx, tx, unknown, fmt.Sprintf("%s; %d jobs in a row did not finish the draft, and the last one %s: it is "+
				"unknown which of the changes are in effect", cmp.Or(r.Outcome, "everything was to be undone"), was.params.Again+1, ended))
		}
		return s.goOn(ctx, tx, &r, was, ended)
	})
}

// readGone reads what the draft's job has left behind.
func readGone(ctx context.Context, tx *db.Tx, r *record) (was gone, err error) {
	var asked, work []byte
	err = tx.Pgx.QueryRow(ctx, "SELECT status, params, coalesce(progress->'work', '{}'), cardinality(crashed) >= $2 FROM jobs WHERE id = $1",
		r.JobID, job.MaxCrashes).Scan(&was.status, &asked, &work, &was.crashed)
	if errors.Is(err, pgx.ErrNoRows) {
		return was, nil
	}
	if err == nil {
		err = errors.Join(json.Unmarshal(asked, &was.params), json.Unmarshal(work, &was.at))
	}
	if err != nil {
		return was, fmt.Errorf("reading the job of a draft: %w", err)
	}
	if was.at.From == nil && was.params.Went != nil { // it was over before it had begun
		was.at = *was.params.Went
	}
	return was, nil
}

// settled ends a draft and releases its scopes.
func (r *record) settled(ctx context.Context, tx *db.Tx, to, outcome string) error {
	_, err := tx.Pgx.Exec(ctx, "UPDATE firewall_drafts SET status = $2, outcome = $3, deadline = NULL, updated_at = now() WHERE id = $1",
		r.ID, to, outcome)
	if err == nil {
		_, err = tx.Pgx.Exec(ctx, "DELETE FROM firewall_draft_locks WHERE draft_id = $1", r.ID)
	}
	if err != nil {
		return fmt.Errorf("settling a draft: %w", err)
	}
	return nil
}

// goOn enqueues another job that restores everything, or keeps it if that was
// confirmed. The job gets the progress of the old one, without which it could
// not tell its own changes from those of others.
func (s *Store) goOn(ctx context.Context, tx *db.Tx, r *record, was gone, ended string) error {
	if was.at.From == nil {
		for i := range r.Scopes {
			was.at.From = append(was.at.From, r.Scopes[i].Before)
		}
	}
	was.at.Status = job.Failed
	p := params{DraftID: r.ID, Self: was.params.Self, Went: &was.at, Again: was.params.Again + 1}
	window := 0
	if r.Window != nil {
		window = *r.Window
	}
	made, err := s.Actor.Queue.Enqueue(ctx, tx, r.spec(p, window))
	if err != nil {
		return err
	}
	status, outcome := undoing, r.Outcome
	switch {
	case r.Status == waiting && r.ConfirmedAt != nil:
		status = waiting
	case r.Status != undoing:
		outcome = "the job that applied the draft " + ended
	}
	_, err = tx.Pgx.Exec(ctx, "UPDATE firewall_drafts SET status = $2, job_id = $3, outcome = $4, updated_at = now() WHERE id = $1", r.ID,
		status, made.ID, outcome)
	if err != nil {
		return fmt.Errorf("settling a draft: %w", err)
	}
	return nil
}
