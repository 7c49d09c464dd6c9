package guest

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/job"
)

// What a schedule makes and may keep a number of.
const (
	madeSnapshot = "snapshot"
	madeBackup   = "backup"
)

// keep enters into the record what a schedule's job has made: of that alone the schedule deletes what is too much. A job that is no
// schedule's, or of one that is gone, leaves nothing there.
func keep(ctx context.Context, d *db.DB, run *job.Run, guestID int64, kind, name string) error {
	of := run.Job().ScheduleID
	if of == nil {
		return nil
	}
	_, err := d.Pool.Exec(ctx, `INSERT INTO schedule_made (schedule_id, guest_id, kind, name) SELECT s.id, g.id, $3, $4
		FROM schedules s, guests g WHERE s.id = $1 AND g.id = $2 ON CONFLICT DO NOTHING`, *of, guestID, kind, name)
	if err != nil {
		return db.Problem(fmt.Errorf("entering what a schedule has made: %w", err))
	}
	return nil
}

// keepBackup enters the backup that the job has made. It is the only one of the guest that fits what was asked for and is not from
// before the request; where there are several, none is taken for it, since others may have made them.
func (e *Ending[P]) keepBackup(ctx context.Context, storage, notes string) error {
	if e.Run.Job().ScheduleID == nil {
		return nil
	}
	rows, err := e.DB.Pool.Query(ctx, `SELECT b.ref FROM backups b JOIN backup_storages s ON s.id = b.storage_id
		WHERE b.guest_id = $1 AND s.name = $2 AND b.notes = $3 AND b.taken_at >= $4`, e.Asked.GuestID, storage, notes,
		e.begun.Truncate(time.Second))
	if err != nil {
		return db.Problem(fmt.Errorf("looking for the backup that was made: %w", err))
	}
	refs, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return db.Problem(fmt.Errorf("looking for the backup that was made: %w", err))
	}
	if len(refs) != 1 || e.begun.IsZero() {
		e.Run.Note("which backup this job has made is not known for sure, so that its schedule leaves it alone")
		return nil
	}
	return keep(ctx, e.DB, e.Run, e.Asked.GuestID, madeBackup, refs[0])
}
