package schedule

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/plan"
)

// Retarget lets the schedules that name a VM name another one, which it has become, with a row in the audit log for each. Where the other
// one is not known (to is zero) they do not name it any more: one that finds nothing else is switched off, and why says so. It gives the
// names of those that follow and of those that do not. A second call changes nothing more.
func Retarget(ctx context.Context, d *db.DB, from, to int64, why string) (follow, left []string, err error) {
	err = d.Tx(ctx, func(tx *db.Tx) error {
		follow, left = nil, nil
		rows, err := tx.Pgx.Query(ctx, "SELECT "+columns+` FROM schedules WHERE (enabled OR $2::bigint <> 0)
			AND (params->'vm_id' = to_jsonb($1::bigint) OR params->'targets' @> jsonb_build_array(jsonb_build_object('vm', $1::bigint)))
			ORDER BY id FOR UPDATE`, from, to)
		if err != nil {
			return fmt.Errorf("reading the schedules of a VM: %w", err)
		}
		named, err := pgx.CollectRows(rows, scan)
		if err != nil {
			return fmt.Errorf("reading the schedules of a VM: %w", err)
		}
		for _, s := range named {
			params, ends, err := renamed(s.Params, from, to)
			details := map[string]any{"job_kind": s.JobKind, "reason": why}
			switch {
			case err != nil:
				return err
			case ends:
				left = append(left, s.Name)
				if err := disable(ctx, tx, s.ID, why); err != nil {
					return fmt.Errorf("disabling a schedule: %w", err)
				}
				if err := tell(tx, "schedule.disable", s.ID, s.Name, details); err != nil {
					return err
				}
				continue
			case to == 0:
				left = append(left, s.Name)
			default:
				follow = append(follow, s.Name)
			}
			// Who has read it before reads it again: it would act on the VM that was left.
			if _, err := tx.Pgx.Exec(ctx, "UPDATE schedules SET params = $2, updated_at = clock_timestamp() WHERE id = $1", s.ID,
				params); err != nil {
				return fmt.Errorf("moving a schedule to the new VM: %w", err)
			}
			details["changed"] = []string{"params"}
			if err := tell(tx, "schedule.update", s.ID, s.Name, details); err != nil {
				return err
			}
		}
		return nil
	})
	return follow, left, err
}

// renamed are a schedule's parameters with another VM, or without it where to is zero; ends says that they name nothing then.
func renamed(params json.RawMessage, from, to int64) (changed json.RawMessage, ends bool, err error) {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(params, &all); err != nil {
		return nil, false, fmt.Errorf("reading a schedule's parameters: %w", err)
	}
	targets, given := all["targets"]
	if !given {
		if to == 0 {
			return params, true, nil
		}
		all["vm_id"] = fmt.Append(nil, to)
		changed, err = json.Marshal(all)
		return changed, false, err
	}
	var named []map[string]int64
	if err := json.Unmarshal(targets, &named); err != nil {
		return nil, false, fmt.Errorf("reading a schedule's parameters: %w", err)
	}
	kept, there := []map[string]int64{}, false // a target comes once
	for _, t := range named {
		if t["vm"] == from {
			t["vm"] = to
		}
		if vm, is := t["vm"]; is && (vm == 0 || vm == to && there) {
			continue
		} else if is && vm == to {
			there = true
		}
		kept = append(kept, t)
	}
	if len(kept) == 0 {
		return params, true, nil
	}
	if all["targets"], err = json.Marshal(kept); err == nil {
		changed, err = json.Marshal(all)
	}
	return changed, false, err
}

// PlanRetarget writes into a plan which schedules name what moves, and go with it. Who may not see schedules is told how many there are.
func PlanRetarget(ctx context.Context, d *db.DB, p *plan.Plan, moves RemovedObjects) error {
	rows, err := d.Pool.Query(ctx, "SELECT name FROM ("+namedGone+") n", moves.VMs, moves.Apps, moves.HostID)
	if err != nil {
		return db.Problem(fmt.Errorf("reading schedules: %w", err))
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return db.Problem(fmt.Errorf("reading schedules: %w", err))
	}
	if caller := identity.FromContext(ctx); caller != nil && caller.Instance() < identity.Viewer {
		if len(names) > 0 {
			p.Add(plan.KindSchedule, "", "%s to the new guest.", plan.Plural(len(names), "1 schedule moves", "%d schedules move"))
		}
		return nil
	}
	for _, name := range names {
		p.Add(plan.KindSchedule, name, "The schedule %s moves to the new guest.", name)
	}
	return nil
}
