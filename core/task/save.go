package task

import (
	"context"
	"fmt"
	"time"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/sdk/hypervisor"
)

const (
	// sameThing is, in SQL, what a task t does to what: the newest one of it says how that stands.
	sameThing = `(t.type, COALESCE(t.guest_ref, 'node ' || t.node))`

	// keepTasks takes over a list of the cluster $1 that the host $2 told. What our own credentials started is a job's and is told there.
	// Of what has ended only the last quarter of an hour is new to anybody; but how something stands that has failed within a day is to be
	// known, and when it has gone well since.
	keepTasks = `WITH told AS MATERIALIZED (SELECT DISTINCT ON (p.ref) p.*
	FROM unnest($3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[], $11::timestamptz[],
		$12::timestamptz[], $13::boolean[]) AS p (ref, node, type, guest, by_user, token, status, error, started, ended, console)
	WHERE NOT EXISTS (SELECT FROM host_credentials c JOIN hosts h ON h.id = c.host_id WHERE h.cluster_id = $1 AND p.token <> ''
		AND c.token_id IN (p.token, p.by_user || '!' || p.token))
	ORDER BY p.ref)
INSERT INTO hypervisor_tasks AS t (cluster_id, host_id, ref, node, type, guest_ref, by_user, token_id, status, error,
	started_at, ended_at, console, seen_at)
SELECT $1, COALESCE(n.host_id, $2), p.ref, p.node, p.type, NULLIF(p.guest, ''), p.by_user, NULLIF(p.token, ''),
	p.status, NULLIF(p.error, ''), p.started, p.ended, p.console, now()
FROM told p LEFT JOIN nodes n ON n.cluster_id = $1 AND n.name = p.node
WHERE p.status = 'running' OR p.started > now() - interval '15 minutes'
	OR EXISTS (SELECT FROM hypervisor_tasks o WHERE o.cluster_id = $1 AND o.ref = p.ref)
	OR p.status = 'failed' AND NOT p.console AND p.ended > now() - interval '1 day' AND NOT EXISTS (SELECT FROM told o
		WHERE o.status IN ('ok', 'warning') AND o.type = p.type AND o.guest = p.guest AND (p.guest <> '' OR o.node = p.node)
			AND o.started > p.started)
	OR p.status IN ('ok', 'warning') AND EXISTS (SELECT FROM hypervisor_tasks t WHERE t.cluster_id = $1 AND t.status = 'failed'
		AND ` + sameThing + ` = (p.type, COALESCE(NULLIF(p.guest, ''), 'node ' || p.node)) AND t.started_at < p.started)
ON CONFLICT (cluster_id, ref) DO UPDATE SET status = excluded.status, error = excluded.error, ended_at = excluded.ended_at,
	seen_at = excluded.seen_at`

	// forgetTasks deletes what ended an hour ago, and what was running when it was last listed. The newest of a thing stays for a day if
	// it has failed.
	forgetTasks = `DELETE FROM hypervisor_tasks t WHERE cluster_id = $1
	AND (status <> 'running' AND started_at < now() - interval '1 hour' AND ended_at < now() - interval '1 hour'
		OR seen_at < now() - interval '1 hour')
	AND NOT (status = 'failed' AND NOT console AND ended_at > now() - interval '1 day' AND NOT EXISTS (SELECT FROM hypervisor_tasks o
		WHERE o.cluster_id = $1 AND o.status IN ('ok', 'warning', 'failed') AND o.type = t.type
			AND COALESCE(o.guest_ref, 'node ' || o.node) = COALESCE(t.guest_ref, 'node ' || t.node) AND o.started_at > t.started_at))`
)

// FailedTasksSQL is, in SQL, a select of those tasks of others whose thing has gone well since by no task of the same type, of those that
// ended within a day: cluster_id, host_id, node, type, guest_ref, by_user, error and ended_at.
const FailedTasksSQL = `SELECT t.cluster_id, t.host_id, t.node, t.type, t.guest_ref, t.by_user, COALESCE(t.error, '') AS error, t.ended_at
	FROM (SELECT DISTINCT ON (t.cluster_id, ` + sameThing + `) t.* FROM hypervisor_tasks t
		WHERE t.status IN ('ok', 'warning', 'failed') AND NOT t.console
		ORDER BY t.cluster_id, ` + sameThing + `, t.started_at DESC, t.id DESC) t
	WHERE t.status = 'failed' AND t.ended_at > now() - interval '1 day'`

// Save takes over a list of tasks of a cluster, which one of its hosts told, and brings what it says into bounds.
func (s *Store) Save(ctx context.Context, cluster, host int64, listed []hypervisor.Task) error {
	tasks := make([]hypervisor.Task, 0, min(len(listed), ListLimit))
	for _, t := range listed[:min(len(listed), ListLimit)] {
		if cleaned, ok := clean(t); ok {
			tasks = append(tasks, cleaned)
		}
	}
	n := len(tasks)
	ref, node, kind, guest := make([]string, n), make([]string, n), make([]string, n), make([]string, n)
	user, token, status, failure := make([]string, n), make([]string, n), make([]string, n), make([]string, n)
	started, ended, console := make([]time.Time, n), make([]*time.Time, n), make([]bool, n)
	for i := range tasks {
		t := &tasks[i]
		ref[i], node[i], kind[i], guest[i] = t.ID, t.Node, t.Type, string(t.GuestID)
		user[i], token[i], status[i], failure[i] = t.User, t.TokenID, t.Status, t.Error
		started[i], console[i] = t.Started, t.Operation == hypervisor.OperationConsole
		if !t.Ended.IsZero() {
			ended[i] = &t.Ended
		}
	}
	return s.DB.Tx(ctx, func(tx *db.Tx) error {
		_, err := tx.Pgx.Exec(ctx, keepTasks, cluster, host, ref, node, kind, guest, user, token, status, failure, started, ended, console)
		if err != nil {
			return fmt.Errorf("storing tasks: %w", err)
		}
		if _, err := tx.Pgx.Exec(ctx, forgetTasks, cluster); err != nil {
			return fmt.Errorf("deleting tasks: %w", err)
		}
		return nil
	})
}
