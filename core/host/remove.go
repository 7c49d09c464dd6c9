package host

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/plan"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/core/setting"
)

// App is an app that keeps a host from being removed.
type App struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
}

// Remove forgets a host with its tokens, its apps and the cache of its guests;
// other hosts of the cluster take over the guests that they see. Nothing
// changes on the hypervisor. confirm must be the host's name.
//
// Problems: host_has_apps unless forgetApps is set, conflict if jobs of the
// host are not finished, confirm_required.
func (s *Store) Remove(ctx context.Context, id int64, confirm string, forgetApps bool) error {
	h, err := s.Get(ctx, id)
	if err != nil {
		return err
	}
	draft := plan.Begin(ctx)
	if err := s.refuseRemoval(ctx, id, forgetApps, draft); err != nil {
		return err
	}
	err = draft.Finish(ctx, plan.Confirmation{
		Code: problem.CodeConfirmRequired, Phrase: h.Name, Why: "type the host's name to remove it", Given: confirm == h.Name,
	}, func(ctx context.Context, p *plan.Plan) error { return s.writePlan(ctx, h, p) })
	if err != nil {
		return err
	}
	return s.db.Tx(ctx, func(tx *db.Tx) error {
		if err := lock(ctx, tx, id); err != nil {
			return err
		}
		if err := checkIdle(ctx, tx, id); err != nil {
			return err
		}
		if err := dropApps(ctx, tx, id, forgetApps); err != nil {
			return err
		}
		if err := s.drop(ctx, tx, id); err != nil {
			return err
		}
		return audit.Write(ctx, tx)
	})
}

// checkIdle returns the problem conflict if unfinished jobs work on the host, with
// up to 50 of their ids. The caller holds the host's lock, for which the foreign
// key of a new job waits, so that none can come in between.
func checkIdle(ctx context.Context, tx *db.Tx, id int64) error {
	rows, err := tx.Pgx.Query(ctx, "SELECT id FROM jobs WHERE host_id = $1 AND status IN ('queued', 'running') ORDER BY id LIMIT 50", id)
	if err != nil {
		return fmt.Errorf("reading jobs: %w", err)
	}
	jobs, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return fmt.Errorf("reading jobs: %w", err)
	}
	if len(jobs) > 0 {
		return problem.New(problem.CodeConflict, "jobs on this host have not finished yet; wait for them or cancel "+
			"them").With("jobs", jobs)
	}
	return nil
}

const selectApps = "SELECT id, name FROM apps WHERE host_id = $1 ORDER BY name, id"

// hasApps is the problem of a host that still has apps.
func hasApps(apps []App) error {
	return problem.New(problem.CodeHostHasApps,
		"the host still has apps; set forget_apps to remove them from Hostler (their containers stay as they are)").With("apps", apps)
}

// dropApps forgets the apps of a host, or returns the problem host_has_apps
// unless forget is set.
func dropApps(ctx context.Context, tx *db.Tx, id int64, forget bool) error {
	rows, err := tx.Pgx.Query(ctx, selectApps, id)
	if err != nil {
		return fmt.Errorf("reading apps: %w", err)
	}
	apps, err := pgx.CollectRows(rows, pgx.RowToStructByPos[App])
	if err != nil {
		return fmt.Errorf("reading apps: %w", err)
	}
	if len(apps) > 0 && !forget {
		return hasApps(apps)
	}
	if _, err := tx.Pgx.Exec(ctx, "DELETE FROM apps WHERE host_id = $1", id); err != nil {
		return fmt.Errorf("removing apps: %w", err)
	}
	audit.Describe(ctx, func(entry *audit.Entry) { entry.Details = map[string]any{"forgotten_apps": len(apps)} })
	return nil
}

// drop deletes the host, and its cluster if no other host belongs to it. Tokens
// and the cache go by foreign keys.
func (s *Store) drop(ctx context.Context, tx *db.Tx, id int64) error {
	var cluster *int64
	var others bool
	err := tx.Pgx.QueryRow(ctx, "SELECT cluster_id, EXISTS (SELECT FROM hosts o WHERE o.cluster_id = h.cluster_id AND o.id <> h.id) FROM "+
		"hosts h WHERE id = $1", id).Scan(&cluster, &others)
	if err != nil {
		return fmt.Errorf("reading the host's cluster: %w", err)
	}
	if others {
		if err := Reattribute(ctx, tx.Pgx, id, *cluster); err != nil {
			return err
		}
	}
	// Tokens go with the host; so does the cluster's cache with the cluster.
	if _, err := tx.Pgx.Exec(ctx, "DELETE FROM hosts WHERE id = $1", id); err != nil {
		return fmt.Errorf("removing the host: %w", err)
	}
	if cluster != nil && !others {
		if _, err := tx.Pgx.Exec(ctx, "DELETE FROM clusters WHERE id = $1", *cluster); err != nil {
			return fmt.Errorf("removing the cluster: %w", err)
		}
	}
	return setting.ClearIf(ctx, tx, setting.SelfHost, &id)
}
