// Package task keeps the tasks of hypervisors that others started, in the hypervisor's own page or by hand, for as long as somebody
// looks: the live feed tells them. They come with the polls of clusters, one small request each, and are forgotten after a while.
package task

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// Listed is how many of the newest tasks of a cluster are asked for: so few take a single request.
const Listed = 20

// Task is one that somebody else started. The JSON names are those of a host's tasks in the API, and task_id is that of jobs.
type Task struct {
	ID      int64   `json:"id"`
	HostID  int64   `json:"host_id"`
	Ref     string  `json:"task_id"`
	Node    string  `json:"node"`
	Type    string  `json:"type"`
	Guest   *string `json:"guest_ref"`
	GuestID *int64  `json:"guest_id"`
	User    string  `json:"user"`
	TokenID *string `json:"token_id"`
	// Status is one of the task states of the hypervisor kind of plugins.
	Status  string     `json:"status"`
	Error   *string    `json:"error"`
	Started time.Time  `json:"started_at"`
	Ended   *time.Time `json:"ended_at"`
	// TeamID is the team of the host.
	TeamID int64 `json:"-"`
}

// Store keeps tasks.
type Store struct{ DB *db.DB }

// Watch says that somebody looks at tasks for the time to come.
func (s *Store) Watch(ctx context.Context, d time.Duration) error {
	// Not again and again: the row is written when half of the time is over.
	_, err := s.DB.Pool.Exec(ctx, "UPDATE task_watch SET until = now() + $1::interval WHERE until < now() + $1::interval / 2", d)
	if err != nil {
		return db.Problem(fmt.Errorf("noting that tasks are looked at: %w", err))
	}
	return nil
}

// Watched reports whether somebody looks at tasks, at whichever instance.
func (s *Store) Watched(ctx context.Context) (bool, error) {
	var watched bool
	if err := s.DB.Pool.QueryRow(ctx, "SELECT until > now() FROM task_watch").Scan(&watched); err != nil {
		return false, db.Problem(fmt.Errorf("asking whether tasks are looked at: %w", err))
	}
	return watched, nil
}

const (
	// keepTasks takes over a list of the cluster $1 that the host $2 told. What our own credentials started is a job's and is told there.
	// Of what has ended only the last quarter of an hour is new to anybody.
	keepTasks = `INSERT INTO hypervisor_tasks AS t (cluster_id, host_id, ref, node, type, guest_ref, by_user, token_id, status, error,
	started_at, ended_at, seen_at)
SELECT DISTINCT ON (p.ref) $1, COALESCE(n.host_id, $2), p.ref, p.node, p.type, NULLIF(p.guest, ''), p.by_user, NULLIF(p.token, ''),
	p.status, NULLIF(p.error, ''), p.started, p.ended, now()
FROM unnest($3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[], $11::timestamptz[],
	$12::timestamptz[]) AS p (ref, node, type, guest, by_user, token, status, error, started, ended)
LEFT JOIN nodes n ON n.cluster_id = $1 AND n.name = p.node
WHERE (p.status = 'running' OR p.started > now() - interval '15 minutes'
		OR EXISTS (SELECT FROM hypervisor_tasks o WHERE o.cluster_id = $1 AND o.ref = p.ref))
	AND NOT EXISTS (SELECT FROM host_credentials c JOIN hosts h ON h.id = c.host_id WHERE h.cluster_id = $1 AND p.token <> ''
		AND c.token_id IN (p.token, p.by_user || '!' || p.token))
ORDER BY p.ref
ON CONFLICT (cluster_id, ref) DO UPDATE SET status = excluded.status, error = excluded.error, ended_at = excluded.ended_at,
	seen_at = excluded.seen_at`

	// forgetTasks deletes what ended an hour ago, and what was running when it was last listed.
	forgetTasks = `DELETE FROM hypervisor_tasks WHERE cluster_id = $1
	AND (status <> 'running' AND started_at < now() - interval '1 hour' AND ended_at < now() - interval '1 hour'
		OR seen_at < now() - interval '1 hour')`
)

// Keep takes over a list of tasks of a cluster, which one of its hosts told. Texts are taken as they are: who calls has cleaned them.
func (s *Store) Keep(ctx context.Context, cluster, host int64, tasks []hypervisor.Task) error {
	n := len(tasks)
	ref, node, kind, guest := make([]string, n), make([]string, n), make([]string, n), make([]string, n)
	user, token, status, failure := make([]string, n), make([]string, n), make([]string, n), make([]string, n)
	started, ended := make([]time.Time, n), make([]*time.Time, n)
	for i := range tasks {
		t := &tasks[i]
		ref[i], node[i], kind[i], guest[i] = t.ID, t.Node, t.Type, string(t.GuestID)
		user[i], token[i], status[i], failure[i] = t.User, t.TokenID, t.Status, t.Error
		started[i] = t.Started
		if !t.Ended.IsZero() {
			ended[i] = &t.Ended
		}
	}
	return s.DB.Tx(ctx, func(tx *db.Tx) error {
		_, err := tx.Pgx.Exec(ctx, keepTasks, cluster, host, ref, node, kind, guest, user, token, status, failure, started, ended)
		if err != nil {
			return fmt.Errorf("keeping tasks: %w", err)
		}
		if _, err := tx.Pgx.Exec(ctx, forgetTasks, cluster); err != nil {
			return fmt.Errorf("forgetting tasks: %w", err)
		}
		return nil
	})
}

// ByIDs gives these tasks; those that are not there are left out. Whether they may be seen is the caller's to check.
func (s *Store) ByIDs(ctx context.Context, ids []int64) ([]Task, error) {
	rows, err := s.DB.Pool.Query(ctx, `SELECT t.id, t.host_id, t.ref, t.node, t.type, t.guest_ref,
		(SELECT min(g.id) FROM guests g WHERE g.cluster_id = t.cluster_id AND g.ref = t.guest_ref), t.by_user, t.token_id, t.status, t.error,
		t.started_at, t.ended_at, h.team_id FROM hypervisor_tasks t JOIN hosts h ON h.id = t.host_id WHERE t.id = ANY ($1)`, ids)
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading tasks: %w", err))
	}
	tasks, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Task])
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading tasks: %w", err))
	}
	return tasks, nil
}
