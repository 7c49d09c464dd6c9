package appscript

import (
	"context"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/core/schedule"
	"github.com/hostler/hostler/core/scope"
)

// updateParams are the parameters of schedules for updates.
type updateParams struct {
	AppID     *int64 `json:"app_id,omitempty" minimum:"1" example:"2" doc:"ID of the app; if absent, all apps with an update"`
	StopAfter *int   `json:"stop_after,omitempty" minimum:"1" maximum:"100" example:"2" doc:"For all apps: number of failures after which no further update starts; 2 if absent"`
}

// Kinds returns the job kinds that a schedule may use: app.update. A schedule
// cannot agree to anything, so it runs only bundles that somebody has agreed to
// before.
func (s *Store) Kinds() []schedule.Kind {
	kind := schedule.NewKind(UpdateKind, "Update an app, or all apps with an available update, using bundles that were consented to",
		func(ctx context.Context, p updateParams) (schedule.Enqueue, error) {
			if p.AppID != nil {
				return s.scheduledOne(ctx, *p.AppID)
			}
			stopAfter := StopAfter
			if p.StopAfter != nil {
				stopAfter = *p.StopAfter
			}
			return s.scheduledAll(ctx, stopAfter)
		})
	kind.Scope = "apps"
	return []schedule.Kind{kind}
}

// scheduledOne prepares the update of one app for a schedule.
func (s *Store) scheduledOne(ctx context.Context, appID int64) (schedule.Enqueue, error) {
	found, err := schedule.Require(ctx, s.DB, scope.App, appID, identity.Operator)
	if err != nil {
		return nil, err
	}
	o, err := s.check(ctx, appID, found.TeamID, false)
	if err == nil && o.base() == nil {
		err = refuse(ReasonNoScript)
	}
	if err == nil {
		err = o.agreed()
	}
	if err != nil {
		return later(err)
	}
	return func(ctx context.Context, tx *db.Tx) (*job.Job, error) { return s.enqueue(ctx, tx, o, batch{}) }, nil
}

// later marks a refusal as one of this run only: the obstacle may be gone at
// the next run, so the schedule stays enabled.
func later(err error) (schedule.Enqueue, error) {
	switch problem.CodeOf(err) {
	case problem.CodeInvalidState, problem.CodeConsentRequired, problem.CodeSSHNotEnrolled, problem.CodeCatalogSourceError:
		return func(context.Context, *db.Tx) (*job.Job, error) { return nil, err }, nil
	}
	return nil, err
}

// scheduledAll prepares the updates of all apps that have one.
func (s *Store) scheduledAll(ctx context.Context, stopAfter int) (schedule.Enqueue, error) {
	a, err := s.stale(ctx, false, stopAfter)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, tx *db.Tx) (first *job.Job, err error) {
		together := batch{stopAfter: a.stopAfter}
		var refused error = problem.New(problem.CodeInvalidState, "no app has an update that was consented to")
		for _, o := range a.ready {
			if first == nil {
				made, err := s.enqueue(ctx, tx, o, together)
				switch {
				case problem.CodeOf(err) == problem.CodeGuestBusy, problem.CodeOf(err) == problem.CodeConflict:
					refused = err
				case err != nil:
					return nil, err
				default:
					first, together.id = made, made.ID
				}
				continue
			}
			if err := s.enqueueFurther(ctx, tx, o, together); err != nil {
				return nil, err
			}
		}
		if first == nil {
			return nil, refused
		}
		return first, nil
	}, nil
}

// enqueueFurther enqueues one of the jobs after the first. The first one
// belongs to the schedule's run; each further one has its own audit entry.
func (s *Store) enqueueFurther(ctx context.Context, tx *db.Tx, o *order, together batch) error {
	about := o.about
	own := audit.BeginAnother(ctx, about)
	made, err := s.enqueue(own, tx, o, together)
	if err != nil {
		if code := problem.CodeOf(err); code == problem.CodeGuestBusy || code == problem.CodeConflict {
			return nil
		}
		return err
	}
	entry := audit.Entry{ActorType: audit.ActorSystem}
	if attempt := audit.FromContext(own); attempt != nil {
		entry = attempt.Entry()
	}
	about(&entry)
	entry.JobID, entry.Result = &made.ID, audit.ResultOK
	if made.ScheduleID != nil {
		entry.Detail("schedule", *made.ScheduleID)
	}
	return audit.WriteEntry(tx, entry)
}
