// Package task keeps the tasks of hypervisors that others started, in the hypervisor's own page, by its schedules or by hand. While
// somebody looks the live feed tells them, and they come with each poll of a cluster, by one small request; for the rules about failed
// ones they come every few minutes, within the budget of the background reader of guests (guest.DetailReader). They are forgotten after
// a while.
package task

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
)

// ListLimit is how many of the newest tasks of a cluster are asked for: so few take a single request.
const ListLimit = 20

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
		return db.Problem(fmt.Errorf("recording that tasks are read: %w", err))
	}
	return nil
}

// Watched reports whether somebody looks at tasks, at whichever instance.
func (s *Store) Watched(ctx context.Context) (bool, error) {
	var watched bool
	if err := s.DB.Pool.QueryRow(ctx, "SELECT until > now() FROM task_watch").Scan(&watched); err != nil {
		return false, db.Problem(fmt.Errorf("checking whether tasks are read: %w", err))
	}
	return watched, nil
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
