package selfupdate

import (
	"context"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/core/schedule"
)

// CheckKind is the kind of jobs that check for releases.
const CheckKind = "update.check"

// Register makes the store the worker of jobs that check for releases. Call it
// before the queue starts.
func (s *Store) Register() {
	s.cfg.Queue.Register(CheckKind, job.WorkerFunc(func(ctx context.Context, run *job.Run) error {
		m, err := s.Check(ctx)
		if err != nil {
			return err
		}
		c, err := s.following()
		if err != nil {
			return err
		}
		if unfit := s.fits(m, c.Channel); unfit != nil {
			run.Note("the newest release of %s is %s, and it cannot be installed: %s", c.Channel, m.Version, plain(unfit))
		} else {
			run.Note("release %s of %s can replace %s", m.Version, c.Channel, s.version)
		}
		return nil
	}))
}

// Kinds returns what a schedule may request: update.check. The author of the
// schedule must be an admin of the instance. Only one check is queued at a
// time.
func (s *Store) Kinds() []schedule.Kind {
	return []schedule.Kind{schedule.NewKind(CheckKind, "Check for a new release of Hostler",
		func(ctx context.Context, _ struct{}) (schedule.Enqueue, error) {
			if caller := identity.FromContext(ctx); caller != nil && caller.Instance() < identity.Admin {
				return nil, problem.New(problem.CodeForbidden, "this requires the role %s",
					identity.Admin).With("role", identity.Admin.String())
			}
			return func(ctx context.Context, tx *db.Tx) (*job.Job, error) {
				return s.cfg.Queue.Enqueue(ctx, tx,
					job.Spec{Kind: CheckKind, Target: job.Target{Kind: "instance", Name: "Hostler"}, Exclusive: CheckKind})
			}, nil
		})}
}
