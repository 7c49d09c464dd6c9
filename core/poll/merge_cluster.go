package poll

import (
	"context"
	"fmt"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/schedule"
)

// ownFiguresAt is SQL for the time of the figures of a guest x that leaves the
// cluster $1, because the other cluster has its own time.
const ownFiguresAt = `COALESCE(x.figures_at, (SELECT c.figures_at FROM clusters c WHERE c.id = $1))`

// lockMerged locks the cluster $2 that is merged, so that its poll waits.
const lockMerged = "SELECT FROM clusters WHERE id = $2 AND id <> $1 FOR NO KEY UPDATE"

// mergeSteps move everything of the cluster $1 into the cluster $2 that is the
// same one. Guests and apps keep their ids unless both clusters have them; then
// the row of $2 stays, and jobs and schedules move to it.
var mergeSteps = []struct{ what, statement string }{
	{"moving the hosts", `UPDATE hosts SET cluster_id = $2 WHERE cluster_id = $1`},
	{"moving guests", `UPDATE guests x SET cluster_id = $2, figures_at = ` + ownFiguresAt + ` WHERE x.cluster_id = $1
		AND NOT EXISTS (SELECT FROM guests y WHERE y.cluster_id = $2 AND y.identity = x.identity)`},
	{"moving apps", `UPDATE apps x SET cluster_id = $2, guest_id = COALESCE((SELECT y.id FROM guests y WHERE y.cluster_id = $2
		AND y.identity = x.identity AND NOT EXISTS (SELECT FROM apps o WHERE o.guest_id = y.id)), x.guest_id) WHERE x.cluster_id = $1
		AND NOT EXISTS (SELECT FROM apps y WHERE y.cluster_id = $2 AND y.identity = x.identity)`},
	// A worker finds its guest by params. A lock on a guest under both names
	// stays on one of them.
	{"moving unfinished jobs on guests known twice", `UPDATE jobs j SET params = jsonb_set(j.params, '{guest_id}', to_jsonb(y.id), false),
		exclusive = CASE WHEN EXISTS (SELECT FROM jobs o WHERE o.exclusive = 'guest:' || y.id
		AND o.status IN ('queued', 'running')) THEN j.exclusive ELSE 'guest:' || y.id END
		FROM guests x JOIN guests y ON y.cluster_id = $2 AND y.identity = x.identity
		WHERE x.cluster_id = $1 AND j.exclusive = 'guest:' || x.id AND j.status IN ('queued', 'running')`},
	{"moving jobs on VMs known twice", `UPDATE jobs j SET target_id = y.id
		FROM guests x JOIN guests y ON y.cluster_id = $2 AND y.identity = x.identity
		WHERE x.cluster_id = $1 AND x.kind = 'vm' AND j.target_kind = 'vm' AND j.target_id = x.id`},
	{"moving jobs that set guests known twice back", `UPDATE jobs j SET exclusive = 'guest:' || y.id
		FROM guests x JOIN guests y ON y.cluster_id = $2 AND y.identity = x.identity WHERE x.cluster_id = $1 AND j.target_kind = 'backup'
		AND j.exclusive = 'guest:' || x.id AND j.status NOT IN ('queued', 'running')`},
	{"moving jobs on apps known twice", `UPDATE jobs j SET target_id = y.id
		FROM apps x JOIN apps y ON y.cluster_id = $2 AND y.identity = x.identity
		WHERE x.cluster_id = $1 AND j.target_kind = 'app' AND j.target_id = x.id`},
	{"moving drafts of firewalls", `UPDATE firewall_drafts d SET cluster_id = $2,
		scopes = CASE jsonb_typeof(d.scopes) WHEN 'array' THEN COALESCE((SELECT jsonb_agg(s.v
			|| CASE WHEN y.id IS NULL THEN '{}' ELSE jsonb_build_object('guest_id', y.id) END
			|| CASE s.v->>'kind' WHEN 'vm' THEN ` + sameID("guests", "s.v") + ` WHEN 'app' THEN ` + sameID("apps", "s.v") + ` ELSE '{}' END
			ORDER BY s.n) FROM jsonb_array_elements(d.scopes) WITH ORDINALITY s (v, n)
			LEFT JOIN guests x ON x.cluster_id = $1 AND x.id = (s.v->>'guest_id')::bigint
			LEFT JOIN guests y ON y.cluster_id = $2 AND y.identity = x.identity), '[]') ELSE d.scopes END,
		changes = CASE jsonb_typeof(d.changes) WHEN 'array' THEN COALESCE((SELECT jsonb_agg(c.v || jsonb_build_object('scope', c.v->'scope'
			|| CASE c.v#>>'{scope,kind}' WHEN 'vm' THEN ` + sameID("guests", "c.v->'scope'") + `
			WHEN 'app' THEN ` + sameID("apps", "c.v->'scope'") + ` ELSE '{}' END)
			ORDER BY c.n) FROM jsonb_array_elements(d.changes) WITH ORDINALITY c (v, n)), '[]') ELSE d.changes END
		WHERE d.cluster_id = $1 AND $1 <> $2`},
	// If two drafts hold one scope now, both continue: each compares the
	// present state before it changes anything.
	{"moving what drafts hold", `UPDATE firewall_draft_locks l SET cluster_id = $2, scope = m.scope
		FROM (SELECT o.draft_id, o.scope AS was, COALESCE('guest:' || y.id, o.scope) AS scope FROM firewall_draft_locks o
			LEFT JOIN guests x ON x.cluster_id = $1 AND o.scope = 'guest:' || x.id
			LEFT JOIN guests y ON y.cluster_id = $2 AND y.identity = x.identity WHERE o.cluster_id = $1) m
		WHERE l.cluster_id = $1 AND $1 <> $2 AND l.scope = m.was
		AND NOT EXISTS (SELECT FROM firewall_draft_locks t WHERE t.cluster_id = $2 AND t.scope = m.scope)`},
	{"keeping the data of apps known twice", `UPDATE apps y SET slug = COALESCE(y.slug, x.slug), web_port = x.web_port,
		web_path = x.web_path, web_protocol = x.web_protocol
		FROM apps x WHERE x.cluster_id = $1 AND y.cluster_id = $2 AND y.identity = x.identity AND y.web_port IS NULL AND y.web_path IS NULL
		AND y.web_protocol IS NULL`},
	{"dropping apps known twice", `DELETE FROM apps WHERE cluster_id = $1 AND $1 <> $2`},
	{"dropping the empty cluster", `DELETE FROM clusters WHERE id = $1 AND $1 <> $2`},
}

// sameID is SQL for the id of the row of $2 that is the same object as a row of
// $1.
func sameID(table, of string) string {
	return `COALESCE((SELECT jsonb_build_object('id', b.id) FROM ` + table + ` a JOIN ` + table + ` b ON b.cluster_id = $2
		AND b.identity = a.identity WHERE a.cluster_id = $1 AND a.id = (` + of + `->>'id')::bigint), '{}')`
}

// mergeCluster merges a cluster with all its hosts into another one that is the
// same.
func mergeCluster(ctx context.Context, tx *db.Tx, from, to int64) error {
	if _, err := tx.Pgx.Exec(ctx, lockMerged, from, to); err != nil {
		return fmt.Errorf("waiting for a poll of the cluster: %w", err)
	}
	if err := schedule.RetargetMerged(ctx, tx, from, to); err != nil {
		return err
	}
	for _, step := range mergeSteps {
		if _, err := tx.Pgx.Exec(ctx, step.statement, from, to); err != nil {
			return fmt.Errorf("%s: %w", step.what, err)
		}
	}
	return nil
}
