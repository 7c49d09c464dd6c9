package schedule

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/plan"
)

// Tell writes into a plan which schedules name VMs or apps that go. Who may not see schedules is told how many there are.
func Tell(ctx context.Context, d *db.DB, p *plan.Plan, vms, apps []int64) error {
	rows, err := d.Pool.Query(ctx, `SELECT name FROM schedules
		WHERE (params->>'vm_id')::bigint = ANY($1) OR (params->>'app_id')::bigint = ANY($2) ORDER BY name, id`, vms, apps)
	if err != nil {
		return db.Problem(fmt.Errorf("looking for schedules: %w", err))
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return db.Problem(fmt.Errorf("looking for schedules: %w", err))
	}
	caller := identity.FromContext(ctx)
	if caller != nil && caller.Instance() < identity.Viewer && len(names) > 0 {
		p.Add(plan.KindSchedule, "", "%d schedules find nothing any more to act on, and are switched off.", len(names))
		return nil
	}
	for _, name := range names {
		p.Add(plan.KindSchedule, name, "The schedule %s finds nothing any more to act on, and is switched off.", name)
	}
	return nil
}
