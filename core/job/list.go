package job

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/identity"
)

// Filter narrows List. A zero field does not narrow it.
type Filter struct {
	Status Status
	Kind   string
	// TargetKind and TargetID belong together. A job that restores a backup
	// over a guest has the backup as target, and also counts as one on that
	// guest.
	TargetKind string
	TargetID   int64
	HostID     int64
	// IDs are the jobs to list. Empty means all.
	IDs []int64
	// Page counts from 1. PerPage is at most 500; zero means 50.
	Page    int
	PerPage int
}

// heldGuest is an SQL expression for the key that jobs on the target of kind $5
// and ID $6 have. It is null for targets other than guests.
const heldGuest = `CASE $5 WHEN 'vm' THEN 'guest:' || $6::bigint
	WHEN 'app' THEN (SELECT 'guest:' || guest_id FROM apps WHERE id = $6::bigint) END`

// listed is the FROM and WHERE clause of List.
const listed = ` FROM jobs WHERE ($1 OR team_id = ANY($2)) AND ($3 = '' OR status = $3) AND ($4 = '' OR kind = $4)
	AND ($5 = '' OR target_kind = $5 AND target_id = $6 OR target_kind = 'backup' AND exclusive = ` + heldGuest + `)
	AND ($7::bigint = 0 OR host_id = $7) AND (cardinality($8::bigint[]) = 0 OR id = ANY($8))`

// List returns one page of the jobs that the caller may see, newest first, and
// the number of jobs on all pages. It omits a long PublicParams and returns an object
// with its size in bytes.
func (q *Queue) List(ctx context.Context, filter Filter, visible identity.VisibleTeams) (jobs []*Job, total int64, err error) {
	if filter.PerPage <= 0 {
		filter.PerPage = 50
	}
	perPage := int64(min(filter.PerPage, 500))
	page := int64(min(max(filter.Page, 1), 1<<40))
	args := []any{visible.All, visible.Teams, string(filter.Status), filter.Kind, filter.TargetKind, filter.TargetID, filter.HostID,
		append([]int64{}, filter.IDs...)}
	batch := &pgx.Batch{}
	batch.Queue("SELECT count(*)"+listed, args...).QueryRow(func(row pgx.Row) error { return row.Scan(&total) })
	batch.Queue("SELECT "+listedColumns+listed+" ORDER BY created_at DESC, id DESC LIMIT $9 OFFSET $10",
		append(args, perPage, (page-1)*perPage)...).Query(func(rows pgx.Rows) error {
		jobs, err = db.CollectRows(rows, scan)
		return err
	})
	if err := q.db.Pool.SendBatch(ctx, batch).Close(); err != nil {
		return nil, 0, db.Problem(fmt.Errorf("listing jobs: %w", err))
	}
	return jobs, total, nil
}

// ByIDs returns the jobs with these IDs as List does, in no particular order.
// Unknown IDs are left out. The caller checks who may see them.
func (q *Queue) ByIDs(ctx context.Context, ids []int64) ([]*Job, error) {
	rows, err := q.db.Pool.Query(ctx, "SELECT "+listedColumns+" FROM jobs WHERE id = ANY ($1)", ids)
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading jobs: %w", err))
	}
	jobs, err := pgx.CollectRows(rows, scan)
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading jobs: %w", err))
	}
	return jobs, nil
}

// EnqueuedWith returns the first job of a schedule's run and the jobs of its kind that the same transaction enqueued after it, in order.
// The transaction must hold the lock of the schedule's row: no other run of the schedule enqueues jobs then.
func EnqueuedWith(ctx context.Context, tx *db.Tx, first *Job) ([]*Job, error) {
	rows, err := tx.Pgx.Query(ctx, "SELECT "+columns+" FROM jobs WHERE schedule_id = $1 AND kind = $2 AND id >= $3 ORDER BY id",
		first.ScheduleID, first.Kind, first.ID)
	if err != nil {
		return nil, fmt.Errorf("reading the jobs of a run: %w", err)
	}
	jobs, err := pgx.CollectRows(rows, scan)
	if err != nil {
		return nil, fmt.Errorf("reading the jobs of a run: %w", err)
	}
	return jobs, nil
}

// Get gives one job; one that the caller may not see is problem not_found like one that is not there.
func (q *Queue) Get(ctx context.Context, id int64, visible identity.VisibleTeams) (*Job, error) {
	j, err := one(q.db.Pool.Query(ctx, "SELECT "+columns+" FROM jobs WHERE id = $1 AND ($2 OR team_id = ANY($3))",
		id, visible.All, visible.Teams))
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading the job: %w", err))
	}
	if j == nil {
		return nil, notFound(id)
	}
	return j, nil
}
