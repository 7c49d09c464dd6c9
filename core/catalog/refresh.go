package catalog

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/core/schedule"
	sdk "github.com/hostler/hostler/sdk/catalog"
	"github.com/hostler/hostler/sdk/plugin"
)

// RefreshKind is the kind of job that asks all sources for their entries.
const RefreshKind = "catalog.refresh"

// Register makes the store the worker of refreshes.
func (s *Store) Register() { s.Queue.Register(RefreshKind, job.WorkerFunc(s.refresh)) }

// Kinds returns the job kinds that a schedule may use. The caller must be an
// admin of the instance.
func (s *Store) Kinds() []schedule.Kind {
	return []schedule.Kind{schedule.NewKind(RefreshKind, "Refresh the catalog",
		func(ctx context.Context, _ struct{}) (schedule.Enqueue, error) {
			if caller := identity.FromContext(ctx); caller != nil && caller.Instance() < identity.Admin {
				return nil, problem.New(problem.CodeForbidden, "this requires the role %s",
					identity.Admin).With("role", identity.Admin.String())
			}
			return s.enqueue, nil
		})}
}

// enqueue enqueues a refresh, unless one is queued or running.
func (s *Store) enqueue(ctx context.Context, tx *db.Tx) (*job.Job, error) {
	made, err := s.Queue.Enqueue(ctx, tx, job.Spec{Kind: RefreshKind, Target: job.Target{Kind: "instance", Name: "Hostler"},
		Exclusive: RefreshKind})
	if problem.CodeOf(err) == problem.CodeGuestBusy {
		return nil, problem.New(problem.CodeConflict, "the catalog is already being refreshed")
	}
	return made, err
}

// RefreshResult is the answer to a request for a refresh.
type RefreshResult struct {
	Job job.View `json:"job"`
}

// Refresh starts a job that asks all sources that are switched on, or returns
// the one that is running.
func (s *Store) Refresh(ctx context.Context) (*RefreshResult, error) {
	var made *job.Job
	var under *int64
	err := s.DB.Tx(ctx, func(tx *db.Tx) error {
		err := tx.Pgx.QueryRow(ctx, "SELECT max(id) FROM jobs WHERE kind = $1 AND status IN ('queued', 'running')", RefreshKind).Scan(&under)
		if err != nil {
			return fmt.Errorf("reading the refresh: %w", err)
		}
		if under != nil {
			audit.Describe(ctx, func(e *audit.Entry) { e.JobID = under })
		} else if made, err = s.enqueue(ctx, tx); err != nil {
			return err
		}
		return audit.Write(ctx, tx)
	})
	if err != nil {
		return nil, err
	}
	if under != nil {
		return s.ReplayRefresh(ctx, *under)
	}
	return &RefreshResult{Job: made.View()}, nil
}

// ReplayRefresh returns the answer again, with the present state of the job.
func (s *Store) ReplayRefresh(ctx context.Context, jobID int64) (*RefreshResult, error) {
	visible := identity.VisibleTeams{All: true} // of the service itself
	if caller := identity.FromContext(ctx); caller != nil {
		visible = caller.Visible()
	}
	j, err := s.Queue.Get(ctx, jobID, visible)
	if err != nil {
		return nil, err
	}
	return &RefreshResult{Job: j.View()}, nil
}

// refresh asks one source after the other. A failure of one is reported and
// does not stop the others. After a restart it begins again; what was taken
// already is found unchanged.
func (s *Store) refresh(ctx context.Context, run *job.Run) error {
	rows, err := s.rows(ctx)
	if err != nil {
		return err
	}
	on := rows[:0]
	for _, r := range rows {
		if r.Enabled {
			on = append(on, r)
		}
	}
	if len(on) == 0 {
		run.Note("no source is enabled")
		return nil
	}
	var failed []string
	for i, r := range on {
		options, err := s.open(r)
		if err != nil {
			return err // of the key, which another instance may have
		}
		if err := s.refreshSource(ctx, run, r, options); err != nil {
			if ctx.Err() != nil {
				return err
			}
			failed = append(failed, r.Name)
		}
		run.SetProgress(float64(i+1) / float64(len(on)))
	}
	if len(failed) > 0 {
		return job.Fail("not refreshed: %s; see the transcript and the status of the catalog for the reasons", strings.Join(failed, ", "))
	}
	return nil
}

// refreshSource asks one source and stores the result. Its error was reported
// already.
func (s *Store) refreshSource(ctx context.Context, run *job.Run, r *row, options map[string]string) error {
	outcome, info, err := s.syncSource(ctx, r, options)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		reason, text := because(err, info, options)
		run.Note("%s: not refreshed: %s", r.Name, text)
		s.Logger.Warn("a source of the catalog was not refreshed", "source", r.Name, "reason", reason, "error", err)
		return errors.Join(err, s.fail(ctx, r, reason, text))
	}
	outcome.note(run, r.Name)
	return s.decorate(ctx, run, r, options)
}

// decorate fetches pictures and ranks. Its failures do not fail a refresh,
// because nothing is decided by them.
func (s *Store) decorate(ctx context.Context, run *job.Run, r *row, options map[string]string) error {
	opened, err := s.openSource(ctx, r, options)
	if err != nil {
		run.Note("%s: no icons: the source can no longer be opened", r.Name)
		return nil
	}
	defer func() { _ = opened.Close() }()
	if err := s.fetchIcons(ctx, run, r, opened); err != nil {
		if ctx.Err() != nil {
			return err
		}
		run.Note("%s: icons could not be stored", r.Name)
		s.Logger.Warn("icons could not be stored", "source", r.Name, "error", err)
	}
	if r.Popularity {
		if err := s.rank(ctx, r, opened); err != nil {
			run.Note("%s: could not read how often entries are installed", r.Name)
			s.Logger.Warn("could not read the popularity of entries", "source", r.Name, "error", err)
		}
	}
	return context.Cause(ctx)
}

// These are the reasons for not taking a sync, besides the kinds of errors of
// plugins.
const (
	reasonGone    = "not_installed"
	reasonTrust   = "trust"
	reasonChanged = "changed"
	reasonFailed  = "internal"
)

// refusal is a sync that the service itself does not take.
type refusal struct{ reason, text string }

// Error implements error.
func (r *refusal) Error() string { return r.reason + ": " + r.text }

// because returns why a sync was not taken, as a word and as a sentence without
// secrets.
func because(err error, info sdk.Info, options map[string]string) (reason, text string) {
	var own *refusal
	var said *plugin.Error
	var known *problem.Error
	switch {
	case errors.As(err, &own):
		return own.reason, own.text
	case errors.Is(err, plugin.ErrGone):
		return reasonGone, "the source's plugin is not running on the instance that queried it"
	case errors.As(err, &said) && said.Kind != plugin.Internal:
		return string(said.Kind), plain(err, info, options)
	case errors.Is(err, context.DeadlineExceeded):
		return string(plugin.Timeout), "the source did not answer in time"
	case errors.As(err, &known) && known.Code != problem.CodeInternal:
		return string(known.Code), known.Detail
	}
	return reasonFailed, "an error occurred in the source or the service; see the service's log for details"
}

// fail stores why a sync was not taken.
func (s *Store) fail(ctx context.Context, r *row, reason, text string) error {
	_, err := s.DB.Pool.Exec(ctx, `UPDATE catalog_sources SET failure = $3, failure_kind = $4, failed_at = now(), tried_at = now(),
		failures = failures + 1 WHERE name = $1 AND version = $2`, r.Name, r.Version, text, reason)
	if err != nil {
		return db.Problem(fmt.Errorf("storing a source's failure: %w", err))
	}
	return nil
}
