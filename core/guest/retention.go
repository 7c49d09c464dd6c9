package guest

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/core/schedule"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// Kinds of things that a schedule creates and keeps a limited number of.
const (
	madeSnapshot = "snapshot"
	madeBackup   = "backup"
)

// recordCreated records what a schedule's job has created. The schedule deletes only
// what is recorded, never what people created. It records nothing for other
// jobs, or if the schedule was deleted.
func recordCreated(ctx context.Context, d *db.DB, run *job.Run, guestID int64, kind, name string) error {
	of := run.Job().ScheduleID
	if of == nil {
		return nil
	}
	_, err := d.Pool.Exec(ctx, `INSERT INTO schedule_made (schedule_id, guest_id, kind, name) SELECT s.id, g.id, $3, $4
		FROM schedules s, guests g WHERE s.id = $1 AND g.id = $2 ON CONFLICT DO NOTHING`, *of, guestID, kind, name)
	if err != nil {
		return db.Problem(fmt.Errorf("recording what a schedule has created: %w", err))
	}
	return nil
}

// keepBackup records the backup that the job has created: the one that its task
// reported. If the task reported none, it is the only backup of the guest that
// matches the spec and is not older than the request. If several match, none is
// recorded, because somebody else may have created them and the schedule would
// delete them later.
func (e *CompletedJob[P]) keepBackup(ctx context.Context, spec hypervisor.BackupSpec) error {
	if e.Run.Job().ScheduleID == nil {
		return nil
	}
	if e.backup != "" {
		return recordCreated(ctx, e.DB, e.Run, e.Asked.GuestID, madeBackup, e.backup)
	}
	rows, err := e.DB.Pool.Query(ctx, `SELECT b.ref, b.notes FROM backups b JOIN backup_storages s ON s.id = b.storage_id
		WHERE b.guest_id = $1 AND s.name = $2 AND b.taken_at >= $3`, e.Asked.GuestID, spec.Storage, e.begun.Truncate(time.Second))
	if err != nil {
		return db.Problem(fmt.Errorf("finding the new backup: %w", err))
	}
	found, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (b hypervisor.Backup, err error) {
		err = row.Scan(&b.ID, &b.Notes)
		return b, err
	})
	if err != nil {
		return db.Problem(fmt.Errorf("finding the new backup: %w", err))
	}
	found = slices.DeleteFunc(found, func(b hypervisor.Backup) bool { return !spec.NotesMatch(b) })
	if len(found) != 1 || e.begun.IsZero() {
		e.Run.Note("it is not certain which backup this job created, so its schedule will not delete it")
		return nil
	}
	return recordCreated(ctx, e.DB, e.Run, e.Asked.GuestID, madeBackup, found[0].ID)
}

// forgetCreated removes something that was deleted from the records of all schedules.
func forgetCreated(ctx context.Context, d *db.DB, guestID int64, kind, name string) error {
	_, err := d.Pool.Exec(ctx, "DELETE FROM schedule_made WHERE guest_id = $1 AND kind = $2 AND name = $3", guestID, kind, name)
	if err != nil {
		return db.Problem(fmt.Errorf("deleting the record of what a schedule has created: %w", err))
	}
	return nil
}

// RequestOf returns the request for work that the service does on its own
// initiative. It returns nil for a container that is not an app.
func (s *Store) RequestOf(ctx context.Context, guestID int64) (*Request, error) {
	rows, err := s.DB.Pool.Query(ctx, "SELECT "+entryColumns+" FROM "+entryJoin+" WHERE g.id = $1", guestID)
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading a guest: %w", err))
	}
	found, err := collectEntries(rows)
	if err != nil || len(found) == 0 {
		return nil, db.Problem(err)
	}
	return found[0].request(), nil
}

// request returns the request for a guest, or nil for a container that is not
// an app: only apps have a place in the API where work on them is shown.
func (e *Entry) request() *Request {
	target := job.Target{Kind: targets[hypervisor.VM], ID: e.ID, Name: e.Name}
	if e.Kind == Container {
		if e.AppID == nil {
			return nil
		}
		target = job.Target{Kind: targets[hypervisor.Container], ID: *e.AppID, Name: *e.App}
	}
	return &Request{Target: target, Guest: &e.Guest, TeamID: e.TeamID}
}

// PrepareDeleteSnapshot is DeleteSnapshot's Prepare for snapshots that a
// schedule no longer keeps. It does not ask the hypervisor whether the snapshot
// exists: a schedule may prepare hundreds of deletions at once, and a snapshot
// that is already gone does no harm.
func PrepareDeleteSnapshot(ctx context.Context, a *Actor, r Request, name string) (schedule.Enqueue, error) {
	work := DeleteSnapshot
	work.Check = nil
	return work.Prepare(ctx, a, r, name)
}
