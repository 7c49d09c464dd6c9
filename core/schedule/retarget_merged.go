package schedule

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
)

// followMerged has schedules name the rows of the cluster $2 for those of $1 that are the same things. A target comes once.
const followMerged = `WITH same AS MATERIALIZED (
		SELECT 'vm' AS kind, x.id AS was, y.id FROM guests x JOIN guests y ON y.cluster_id = $2 AND y.identity = x.identity
			WHERE x.cluster_id = $1 AND x.kind = 'vm' AND $1 <> $2
		UNION ALL SELECT 'app', x.id, y.id FROM apps x JOIN apps y ON y.cluster_id = $2 AND y.identity = x.identity
			WHERE x.cluster_id = $1 AND $1 <> $2)
	UPDATE schedules s SET params = n.params, updated_at = clock_timestamp() FROM (SELECT o.id, o.params
			|| COALESCE((SELECT jsonb_object_agg(m.kind || '_id', m.id) FROM same m WHERE o.params->(m.kind || '_id') = to_jsonb(m.was)), '{}')
			|| CASE jsonb_typeof(o.params->'targets') WHEN 'array' THEN jsonb_build_object('targets', COALESCE((
				SELECT jsonb_agg(v ORDER BY n) FROM (SELECT v, min(n) AS n FROM (
					SELECT CASE WHEN m.id IS NULL THEN t.v ELSE t.v || jsonb_build_object(m.kind, m.id) END AS v, t.n
						FROM jsonb_array_elements(o.params->'targets') WITH ORDINALITY t (v, n)
						LEFT JOIN same m ON t.v->m.kind = to_jsonb(m.was)) q GROUP BY v) d), '[]')) ELSE '{}' END AS params
		FROM schedules o) n
	WHERE n.id = s.id AND n.params <> s.params RETURNING s.id, s.name, s.job_kind`

// RetargetMerged lets the schedules that name VMs and apps of a cluster name those of another one which are the same, for the clusters
// turn out to be one and the rows of the first one go: with a row in the audit log for each. It is called before these are gone.
func RetargetMerged(ctx context.Context, tx *db.Tx, from, to int64) error {
	rows, err := tx.Pgx.Query(ctx, followMerged, from, to)
	if err != nil {
		return fmt.Errorf("moving schedules to another cluster: %w", err)
	}
	type followed struct {
		id         int64
		name, kind string
	}
	all, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (f followed, err error) {
		return f, row.Scan(&f.id, &f.name, &f.kind)
	})
	if err != nil {
		return fmt.Errorf("moving schedules to another cluster: %w", err)
	}
	for _, f := range all {
		if err := tell(tx, "schedule.update", f.id, f.name, map[string]any{"job_kind": f.kind, "changed": []string{"params"},
			"reason": "two clusters turned out to be the same"}); err != nil {
			return err
		}
	}
	return nil
}
