package catalog

import (
	"context"
	"fmt"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/core/problem"
)

// Accept accepts the loss of entries with which a source waits, named by its
// digest, and starts a refresh. Only these entries may go then; a larger loss
// waits again. Problems: not_found for an unknown source, invalid_state if
// nothing waits, plan_stale if another loss waits now, conflict during a
// refresh.
func (s *Store) Accept(ctx context.Context, name, digest string) (*RefreshResult, error) {
	var made *job.Job
	err := s.DB.Tx(ctx, func(tx *db.Tx) error {
		r, err := stored(ctx, tx.Pgx, name, "FOR UPDATE OF s")
		if err != nil {
			return err
		}
		if err := s.known(r); err != nil {
			return err
		}
		switch {
		case r.HeldAt == nil:
			return problem.New(problem.CodeInvalidState, "no loss of entries is waiting for acceptance at this "+
				"source").With("reason", "nothing_held")
		case digest != heldDigest(r.HeldPin, r.Held):
			return problem.New(problem.CodePlanStale, "a different loss is waiting for acceptance; review the source again").
				With("digest", heldDigest(r.HeldPin, r.Held))
		}
		if _, err := tx.Pgx.Exec(ctx, "UPDATE catalog_sources SET accepted = held WHERE name = $1", name); err != nil {
			return fmt.Errorf("accepting a loss: %w", err)
		}
		if made, err = s.enqueue(ctx, tx); err != nil {
			return err
		}
		audit.Describe(ctx, func(e *audit.Entry) {
			e.TargetKind, e.TargetID, e.TargetName = "catalog_source", name, name
			e.Detail("removed", len(r.Held))
			e.Detail("of", r.HeldOf)
			e.Detail("pin", r.HeldPin)
		})
		return audit.Write(ctx, tx)
	})
	if err != nil {
		return nil, err
	}
	return &RefreshResult{Job: made.View()}, nil
}
