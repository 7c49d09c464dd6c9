package draft

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/identity"
)

// Summary is a draft in a list, without its changes and scopes.
type Summary struct {
	ID          int64      `json:"id" example:"3"`
	Name        string     `json:"name" example:"close telnet"`
	HostID      int64      `json:"host_id" example:"1"`
	ClusterID   int64      `json:"cluster_id" example:"1"`
	Status      string     `json:"status" enum:"open,committing,waiting,undoing,applied,undone,unknown" doc:"Status of the draft"`
	Version     int64      `json:"version" minimum:"1" example:"1"`
	Role        string     `json:"role" enum:"operator,admin" doc:"Role required to change, commit and confirm the draft"`
	Changes     int        `json:"change_count" example:"2" doc:"Number of changes; get the draft to see them"`
	Scopes      int        `json:"scope_count" example:"1" doc:"Number of scopes that it changes"`
	JobID       *int64     `json:"job_id" example:"12" doc:"Last job that applied or reverted the draft"`
	Window      *int       `json:"window_seconds" example:"60" doc:"Seconds that the draft waits for confirmation; null before it was committed"`
	Deadline    *time.Time `json:"deadline" doc:"When the changes are rolled back; null if the draft is not waiting for confirmation"`
	ConfirmedBy *string    `json:"confirmed_by" example:"ann@example.com"`
	Outcome     *string    `json:"outcome" doc:"Result of its last job, at most 500 characters"`
	CreatedBy   string     `json:"created_by" example:"ann@example.com"`
	CreatedAt   time.Time  `json:"created_at"`
	UpdatedAt   time.Time  `json:"updated_at"`
}

// List returns one page of the drafts that the caller may see, newest first,
// and the number of all. A host ID restricts it to that host's cluster; 0 does
// not.
func (s *Store) List(ctx context.Context, hostID int64, offset, limit int) (all []Summary, total int, err error) {
	visible := identity.FromContext(ctx).Visible()
	const from = ` FROM firewall_drafts d JOIN hosts h ON h.id = d.host_id WHERE ($1 OR h.team_id = ANY ($2))
		AND ($3::bigint = 0 OR d.cluster_id = (SELECT cluster_id FROM hosts WHERE id = $3))`
	batch := &pgx.Batch{}
	batch.Queue("SELECT count(*)"+from, visible.All, visible.Teams, hostID).QueryRow(func(row pgx.Row) error { return row.Scan(&total) })
	batch.Queue(`SELECT d.id, d.name, d.host_id, d.cluster_id, d.status, d.version, d.role, jsonb_array_length(d.changes),
		jsonb_array_length(d.scopes), d.job_id, d.window_seconds, d.deadline, nullif(d.confirmed_by, ''), nullif(left(d.outcome, 500), ''),
		d.created_by, d.created_at, d.updated_at`+from+" ORDER BY d.id DESC LIMIT $4 OFFSET $5", visible.All, visible.Teams, hostID, limit,
		offset).Query(func(rows pgx.Rows) error {
		all, err = db.CollectRows(rows, pgx.RowToStructByPos[Summary])
		return err
	})
	if err := s.DB.Pool.SendBatch(ctx, batch).Close(); err != nil {
		return nil, 0, db.Problem(fmt.Errorf("listing drafts: %w", err))
	}
	for i := range all {
		d := &all[i]
		if d.Deadline != nil {
			d.Deadline = new(d.Deadline.UTC())
		}
		d.CreatedAt, d.UpdatedAt = d.CreatedAt.UTC(), d.UpdatedAt.UTC()
	}
	return all, total, nil
}
