package backup

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/core/problem"
)

// surplus is a snapshot or a backup that a schedule made and no longer keeps.
type surplus struct {
	ID, ScheduleID, GuestID int64
	Kind, Name              string
}

// surplusSQL finds, for each schedule and guest, everything but the newest
// items that the schedule keeps. It applies only after the schedule has made
// something since it was last edited: a smaller number does not delete anything
// until the next run succeeds. What could not be deleted is tried again after
// an hour.
const surplusSQL = `SELECT m.id, m.schedule_id, m.guest_id, m.kind, m.name FROM (
		SELECT m.*, row_number() OVER w AS n, max(made_at) OVER (PARTITION BY schedule_id, guest_id, kind) AS newest FROM schedule_made m
		WINDOW w AS (PARTITION BY schedule_id, guest_id, kind ORDER BY made_at DESC, id DESC)) m
	JOIN schedules s ON s.id = m.schedule_id
	WHERE CASE WHEN s.params->>'keep' ~ '^[0-9]{1,3}$' THEN m.n > (s.params->>'keep')::int END AND m.newest >= s.updated_at
		AND (m.deleting_at IS NULL OR m.deleting_at < now() - interval '1 hour') ORDER BY m.id LIMIT 500`

// prune requests jobs that delete what schedules no longer keep, at most 500 at
// a time. Of several snapshots of one guest it takes one per turn, because only
// one job at a time can work on a guest.
func (s *Store) prune(ctx context.Context) error {
	rows, err := s.DB.Pool.Query(ctx, surplusSQL)
	if err != nil {
		return db.Problem(fmt.Errorf("reading the backups that schedules no longer keep: %w", err))
	}
	all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[surplus])
	if err != nil {
		return db.Problem(fmt.Errorf("reading the backups that schedules no longer keep: %w", err))
	}
	busy := map[int64]bool{}
	for _, m := range all {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if m.Kind == "snapshot" && busy[m.GuestID] {
			continue // one job at a time works on a guest
		}
		busy[m.GuestID] = busy[m.GuestID] || m.Kind == "snapshot"
		if err := s.drop(ctx, m); err != nil && ctx.Err() == nil {
			s.log().Warn("could not delete backups that a schedule no longer keeps",
				"schedule", m.ScheduleID, "kind", m.Kind, "error", err)
		}
	}
	return nil
}

// drop requests the job that deletes one item. If the guest is busy, the next
// turn tries again; after any other failure the item waits for an hour. The
// mark deleting_at and the job are written in one transaction, so that two
// instances cannot both make a job. The audit log names the service itself as
// the actor.
func (s *Store) drop(ctx context.Context, m surplus) error {
	var enqueue func(context.Context, *db.Tx) (*job.Job, error)
	var err error
	if m.Kind == "snapshot" {
		enqueue, err = s.dropSnapshot(ctx, m)
	} else {
		enqueue, err = s.dropBackup(ctx, m)
	}
	if err != nil && problem.CodeOf(err) == problem.CodeDatabaseUnavailable {
		return err
	}
	if err != nil || enqueue == nil {
		_, later := s.DB.Pool.Exec(ctx, "UPDATE schedule_made SET deleting_at = now() WHERE id = $1", m.ID)
		return errors.Join(err, db.Problem(later))
	}
	err = s.DB.Tx(ctx, func(tx *db.Tx) error {
		// Another instance may have been first.
		tag, err := tx.Pgx.Exec(ctx, `UPDATE schedule_made SET deleting_at = now() WHERE id = $1
			AND (deleting_at IS NULL OR deleting_at < now() - interval '1 hour')`, m.ID)
		if err != nil || tag.RowsAffected() == 0 {
			return err
		}
		made, err := enqueue(job.WithSchedule(ctx, m.ScheduleID), tx)
		if err != nil {
			return err
		}
		if _, err := tx.Pgx.Exec(ctx, "UPDATE schedule_made SET delete_job = $2 WHERE id = $1", m.ID, made.ID); err != nil {
			return fmt.Errorf("recording the job that deletes a schedule's backup: %w", err)
		}
		return audit.WriteEntry(tx, audit.Entry{
			ActorType: audit.ActorSystem, Action: made.Kind, TargetKind: made.Target.Kind, TargetID: strconv.FormatInt(made.Target.ID, 10),
			TargetName: made.Target.Name, TeamID: made.TeamID, HostID: made.HostID, JobID: &made.ID, Result: audit.ResultOK,
			Details: map[string]any{"schedule": m.ScheduleID, m.Kind: m.Name, "reason": "the schedule keeps newer backups"},
		})
	})
	if problem.CodeOf(err) == problem.CodeGuestBusy {
		return nil
	}
	return err
}

// dropSnapshot prepares the job that deletes a snapshot. It returns nil if the
// guest can no longer be found.
func (s *Store) dropSnapshot(ctx context.Context, m surplus) (func(context.Context, *db.Tx) (*job.Job, error), error) {
	request, err := s.Guests.RequestOf(ctx, m.GuestID)
	if err != nil || request == nil {
		return nil, err
	}
	return guest.PrepareDeleteSnapshot(ctx, s.Actor, *request, m.Name)
}

// dropBackup prepares the job that deletes a backup. It returns nil for a
// protected backup, and for one that is not in the cache: the next listing of
// its storage removes the record of it.
func (s *Store) dropBackup(ctx context.Context, m surplus) (func(context.Context, *db.Tx) (*job.Job, error), error) {
	rows, err := s.DB.Pool.Query(ctx, "SELECT "+columns+join+" WHERE b.guest_id = $1 AND b.ref = $2 ORDER BY b.id LIMIT 1",
		m.GuestID, m.Name)
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading a backup: %w", err))
	}
	found, err := pgx.CollectRows(rows, scan)
	if err != nil || len(found) == 0 || found[0].Protected {
		return nil, db.Problem(err)
	}
	if err := s.require(ctx, found[0].HostID); err != nil {
		return nil, err
	}
	spec, err := s.deletion(ctx, found[0])
	return func(ctx context.Context, tx *db.Tx) (*job.Job, error) { return s.Actor.Queue.Enqueue(ctx, tx, spec) }, err
}
