package poll

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// ownFiguresAt is, in SQL, when the figures of a guest x were measured that leaves the cluster $1: the other one has its own time.
const ownFiguresAt = `COALESCE(x.figures_at, (SELECT c.figures_at FROM clusters c WHERE c.id = $1))`

// Steps that put the whole of a cluster ($1) into another one ($2) that is the same. Guests and apps keep their ids unless
// both know them; of such the other cluster's row stays, and jobs go over to it.
var mergeSteps = []struct{ what, statement string }{
	{"waiting for a poll of the cluster", `SELECT FROM clusters WHERE id = $2 AND id <> $1 FOR NO KEY UPDATE`},
	{"moving the hosts", `UPDATE hosts SET cluster_id = $2 WHERE cluster_id = $1`},
	{"moving guests", `UPDATE guests x SET cluster_id = $2, figures_at = ` + ownFiguresAt + ` WHERE x.cluster_id = $1
		AND NOT EXISTS (SELECT FROM guests y WHERE y.cluster_id = $2 AND y.identity = x.identity)`},
	{"moving apps", `UPDATE apps x SET cluster_id = $2, guest_id = COALESCE((SELECT y.id FROM guests y WHERE y.cluster_id = $2
		AND y.identity = x.identity AND NOT EXISTS (SELECT FROM apps o WHERE o.guest_id = y.id)), x.guest_id) WHERE x.cluster_id = $1
		AND NOT EXISTS (SELECT FROM apps y WHERE y.cluster_id = $2 AND y.identity = x.identity)`},
	// A worker finds its guest by params; what holds a guest known twice by both names goes on holding one of them.
	{"moving unfinished jobs on guests known twice", `UPDATE jobs j SET params = jsonb_set(j.params, '{guest_id}', to_jsonb(y.id), false),
		exclusive = CASE WHEN EXISTS (SELECT FROM jobs o WHERE o.exclusive = 'guest:' || y.id
		AND o.status IN ('queued', 'running')) THEN j.exclusive ELSE 'guest:' || y.id END
		FROM guests x JOIN guests y ON y.cluster_id = $2 AND y.identity = x.identity
		WHERE x.cluster_id = $1 AND j.exclusive = 'guest:' || x.id AND j.status IN ('queued', 'running')`},
	{"moving jobs on VMs known twice", `UPDATE jobs j SET target_id = y.id
		FROM guests x JOIN guests y ON y.cluster_id = $2 AND y.identity = x.identity
		WHERE x.cluster_id = $1 AND x.kind = 'vm' AND j.target_kind = 'vm' AND j.target_id = x.id`},
	{"moving jobs on apps known twice", `UPDATE jobs j SET target_id = y.id
		FROM apps x JOIN apps y ON y.cluster_id = $2 AND y.identity = x.identity
		WHERE x.cluster_id = $1 AND j.target_kind = 'app' AND j.target_id = x.id`},
	{"keeping what was known of apps known twice", `UPDATE apps y SET slug = COALESCE(y.slug, x.slug), web_port = x.web_port,
		web_path = x.web_path, web_protocol = x.web_protocol
		FROM apps x WHERE x.cluster_id = $1 AND y.cluster_id = $2 AND y.identity = x.identity AND y.web_port IS NULL AND y.web_path IS NULL
		AND y.web_protocol IS NULL`},
	{"dropping apps known twice", `DELETE FROM apps WHERE cluster_id = $1 AND $1 <> $2`},
	{"dropping the empty cluster", `DELETE FROM clusters WHERE id = $1 AND $1 <> $2`},
}

// mergeCluster puts a cluster with all its hosts into another one that was found to be the same.
func mergeCluster(ctx context.Context, tx pgx.Tx, from, to int64) error {
	for _, step := range mergeSteps {
		if _, err := tx.Exec(ctx, step.statement, from, to); err != nil {
			return fmt.Errorf("%s: %w", step.what, err)
		}
	}
	return nil
}
