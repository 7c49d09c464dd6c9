package schedule

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/plan"
)

// RemovedObjects lists the objects that an operation removes. HostID is zero if no host
// goes.
type RemovedObjects struct {
	VMs, Apps []int64
	HostID    int64
}

// namedGone finds schedules that name such objects. A schedule ends if all of
// its targets go, and also if it selects the guests of a host that goes.
const namedGone = `SELECT s.name, COALESCE(s.vm = ANY($1), false) OR COALESCE(s.app = ANY($2), false)
		OR t.gone > 0 AND t.gone = t.named AS ends, COALESCE(s.host = NULLIF($3, 0::bigint), false) AS selects
	FROM (SELECT id, name, (params->>'vm_id')::bigint AS vm, (params->>'app_id')::bigint AS app,
			(params->'select'->>'host_id')::bigint AS host,
			CASE jsonb_typeof(params->'targets') WHEN 'array' THEN params->'targets' ELSE '[]'::jsonb END AS targets FROM schedules) s
	CROSS JOIN LATERAL (SELECT count(*) AS named,
			count(*) FILTER (WHERE (e->>'vm')::bigint = ANY($1) OR (e->>'app')::bigint = ANY($2)) AS gone
		FROM jsonb_array_elements(s.targets) e) t
	WHERE s.vm = ANY($1) OR s.app = ANY($2) OR t.gone > 0 OR s.host = NULLIF($3, 0::bigint)
	ORDER BY s.name, s.id`

// PlanRemoval writes into a plan which schedules name the removed objects. A caller
// who may not see schedules gets their number.
func PlanRemoval(ctx context.Context, d *db.DB, p *plan.Plan, gone RemovedObjects) error {
	rows, err := d.Pool.Query(ctx, namedGone, gone.VMs, gone.Apps, gone.HostID)
	if err != nil {
		return db.Problem(fmt.Errorf("reading schedules: %w", err))
	}
	named, err := pgx.CollectRows(rows, pgx.RowToStructByPos[struct {
		Name          string
		Ends, Selects bool
	}])
	if err != nil {
		return db.Problem(fmt.Errorf("reading schedules: %w", err))
	}
	caller := identity.FromContext(ctx)
	hidden := caller != nil && caller.Instance() < identity.Viewer
	ends, goOn := 0, 0
	for _, s := range named {
		switch {
		case hidden && (s.Ends || s.Selects):
			ends++
		case hidden:
			goOn++
		case s.Ends:
			p.Add(plan.KindSchedule, s.Name, "The schedule %s has no targets left and is disabled.", s.Name)
		case s.Selects:
			p.Add(plan.KindSchedule, s.Name, "The schedule %s selects guests of the host, and will select none.", s.Name)
		default:
			p.Add(plan.KindSchedule, s.Name, "The schedule %s continues with its other targets.", s.Name)
		}
	}
	if ends > 0 {
		p.Add(plan.KindSchedule, "", "%s no targets left.", plan.Plural(ends, "1 schedule has", "%d schedules have"))
	}
	if goOn > 0 {
		p.Add(plan.KindSchedule, "", "%s.",
			plan.Plural(goOn, "1 schedule continues with its other targets", "%d schedules continue with their other targets"))
	}
	return nil
}
