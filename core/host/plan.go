package host

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/plan"
	"github.com/hostler/hostler/core/schedule"
)

// writePlan writes into the plan of a removal everything that goes with the host:
// tokens, apps, guests with their measurements, and schedules. Guests that
// another host of the cluster sees stay.
func (s *Store) writePlan(ctx context.Context, h Host, p *plan.Plan) error {
	var tokens, guests int
	var others, self bool
	err := s.db.Pool.QueryRow(ctx, `SELECT (SELECT count(*) FROM host_credentials WHERE host_id = h.id),
			(SELECT count(*) FROM guests WHERE host_id = h.id),
			EXISTS (SELECT FROM hosts o WHERE o.cluster_id = h.cluster_id AND o.id <> h.id),
			EXISTS (SELECT FROM settings WHERE key = 'self.host_id' AND value = to_jsonb(h.id))
		FROM hosts h WHERE h.id = $1`, h.ID).Scan(&tokens, &guests, &others, &self)
	if err != nil {
		return db.Problem(fmt.Errorf("planning a host's removal: %w", err))
	}
	p.Add(plan.KindCredential, h.Name, "%s on the hypervisor.",
		plan.Plural(tokens, "1 token of the host is deleted in Hostler; it stays valid", "%d tokens of the host are deleted in Hostler; "+
			"they stay valid"))
	if h.SSH.PublicKey != nil || h.SSH.Pending != nil {
		p.Add(plan.KindCredential, h.Name, "The SSH key of the host is deleted in Hostler; its line stays in %s on the machine. If you "+
			"delete the key ssh_key first, Hostler shows the command that removes the line.", authorizedKeys)
	}
	apps, err := s.appsOf(ctx, h.ID)
	if err != nil {
		return err
	}
	var ids []int64
	for _, app := range apps {
		p.Add(plan.KindApp, app.Name, "The app %s is removed from Hostler; its container stays as it is.", app.Name)
		ids = append(ids, app.ID)
	}
	var vms []int64
	switch {
	case guests > 0 && others:
		p.Warn("From then on, %s through the other hosts of its cluster.", plan.Plural(guests, "its guest is seen", "its %d guests are "+
			"seen"))
	case guests > 0:
		p.Add(plan.KindGuest, "", "%s on the hypervisor, and all measurements are deleted.",
			plan.Plural(guests, "1 guest is no longer shown; it stays", "%d guests are no longer shown; they stay"))
		rows, err := s.db.Pool.Query(ctx, "SELECT id FROM guests WHERE host_id = $1 AND kind = 'vm'", h.ID)
		if err != nil {
			return db.Problem(fmt.Errorf("planning a host's removal: %w", err))
		}
		if vms, err = pgx.CollectRows(rows, pgx.RowTo[int64]); err != nil {
			return db.Problem(fmt.Errorf("planning a host's removal: %w", err))
		}
	}
	if self {
		p.Warn("The service itself runs on this host, which it will no longer manage.")
	}
	return schedule.PlanRemoval(ctx, s.db, p, schedule.RemovedObjects{VMs: vms, Apps: ids, HostID: h.ID})
}

// appsOf returns the apps of a host, by name.
func (s *Store) appsOf(ctx context.Context, id int64) ([]App, error) {
	rows, err := s.db.Pool.Query(ctx, selectApps, id)
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading apps: %w", err))
	}
	apps, err := pgx.CollectRows(rows, pgx.RowToStructByPos[App])
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading apps: %w", err))
	}
	return apps, nil
}

// refuseRemoval finds the reasons against a removal for a caller who only asks
// for the plan: draft collects them, and the plan shows them. It does nothing
// for a real removal, which checks the same under the lock of the host.
func (s *Store) refuseRemoval(ctx context.Context, id int64, forgetApps bool, draft *plan.Builder) error {
	if !draft.PlanOnly() {
		return nil // the removal itself looks, under its lock
	}
	err := s.db.Tx(ctx, func(tx *db.Tx) error { return draft.Refuse(checkIdle(ctx, tx, id)) })
	if err != nil || forgetApps {
		return err
	}
	apps, err := s.appsOf(ctx, id)
	if err != nil || len(apps) == 0 {
		return err
	}
	return draft.Refuse(hasApps(apps))
}
