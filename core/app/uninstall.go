package app

import (
	"context"
	"fmt"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/core/plan"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/core/schedule"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// UninstallResult is the result of Uninstall: either Removed is true, or Job is
// the job that will remove the app.
type UninstallResult struct {
	Removed bool `json:"removed" doc:"true if the app was removed; false while a job removes it"`
	CTKept  bool `json:"ct_kept" doc:"true if the container was kept"`
	// Job is nil when nothing is left to do.
	Job *job.View `json:"job" doc:"The job that destroys the container; null if the container was kept"`
}

// Uninstall starts a job that destroys an app's container and then deletes the
// app's row. With keep it deletes the row at once and leaves the container as
// it is.
//
// confirm must be the app's name. Problems in addition to those of guest.Work:
// not_found, confirm_required, guest_busy, and invalid_state for an app whose
// container does not exist unless keep is set.
func (s *Store) Uninstall(ctx context.Context, id, team int64, confirm *string, keep bool) (UninstallResult, error) {
	if keep {
		return s.forget(ctx, id, confirm)
	}
	r, err := s.Request(ctx, id, team, confirm)
	if err != nil {
		return UninstallResult{}, err
	}
	started, err := guest.Uninstall.Start(ctx, s.Actor, r, hypervisor.DestroySpec{Purge: true})
	if err != nil {
		return UninstallResult{}, err
	}
	return UninstallResult{Job: &started.Job}, nil
}

// forget deletes the app's row and leaves its container as it is, whether or
// not it exists. The DELETE compares the name again, so that a rename between
// the plan and the confirmation is a conflict.
func (s *Store) forget(ctx context.Context, id int64, confirm *string) (UninstallResult, error) {
	a, err := s.Get(ctx, id)
	if err != nil {
		return UninstallResult{}, err
	}
	draft := plan.Begin(ctx)
	if a.JobID != nil {
		busy := problem.New(problem.CodeGuestBusy, "job %d has not finished yet; wait for it or cancel it", *a.JobID).With("job", *a.JobID)
		if err := draft.Refuse(busy); err != nil {
			return UninstallResult{}, err
		}
	}
	err = draft.Finish(ctx, plan.Confirmation{
		Code: problem.CodeConfirmRequired, Phrase: a.Name, Given: confirm != nil && *confirm == a.Name,
		Why: fmt.Sprintf("the app is removed from Hostler with all its settings; to proceed, send the name %s as confirm", a.Name),
	}, func(ctx context.Context, p *plan.Plan) error {
		p.Add(plan.KindApp, a.Name, "The app %s is removed from Hostler; its container stays as it is.", a.Name)
		return schedule.PlanRemoval(ctx, s.Guests.DB, p, schedule.RemovedObjects{Apps: []int64{a.ID}})
	})
	if err != nil {
		return UninstallResult{}, err
	}
	err = s.Guests.DB.Tx(ctx, func(tx *db.Tx) error {
		tag, err := tx.Pgx.Exec(ctx, "DELETE FROM apps WHERE id = $1 AND name = $2", a.ID, a.Name)
		if err != nil {
			return fmt.Errorf("deleting an app: %w", err)
		}
		if tag.RowsAffected() == 0 {
			return problem.New(problem.CodeConflict, "someone else changed the app")
		}
		return audit.Write(ctx, tx)
	})
	if err != nil {
		return UninstallResult{}, err
	}
	return UninstallResult{Removed: true, CTKept: true}, nil
}
