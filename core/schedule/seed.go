package schedule

import (
	"context"
	"fmt"
	"strconv"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
)

// Seed is a schedule that the service itself makes and that runs as the
// service. Its times are in UTC.
type Seed struct{ Name, Cron, JobKind string }

// SwitchOn switches on the service's own schedule with an id, in the given
// transaction, and returns its id. If that schedule is gone or starts other
// jobs now, it is made again, with a new id. The seed's time is used unless a
// user has changed the schedule. why is stored in the audit log.
func SwitchOn(ctx context.Context, tx *db.Tx, id *int64, seed Seed, why string) (int64, error) {
	row, err := seeded(ctx, tx, id, seed.JobKind)
	if err != nil {
		return 0, err
	}
	if row == nil {
		var made int64
		err := tx.Pgx.QueryRow(ctx, "INSERT INTO schedules (name, cron, job_kind, seeded) VALUES ($1, $2, $3, true) RETURNING id", seed.Name,
			seed.Cron, seed.JobKind).Scan(&made)
		if err != nil {
			return 0, fmt.Errorf("recreating the schedule: %w", err)
		}
		return made, tell(tx, "schedule.create", made, seed.Name, map[string]any{"job_kind": seed.JobKind, "reason": why})
	}
	// Without a next time the ticker computes it.
	_, err = tx.Pgx.Exec(ctx, `UPDATE schedules SET cron = CASE WHEN seeded THEN $2 ELSE cron END, enabled = true, disabled_reason = '',
		last_error = '',
		next_run_at = NULL, updated_at = clock_timestamp() WHERE id = $1`, row.ID, seed.Cron)
	if err != nil {
		return 0, fmt.Errorf("enabling the schedule: %w", err)
	}
	return row.ID, tell(tx, "schedule.enable", row.ID, row.Name, map[string]any{"job_kind": seed.JobKind, "reason": why})
}

// SwitchOff switches off the service's own schedule with an id, in the given
// transaction. It does nothing if the schedule is gone, off already, or starts
// other jobs now.
func SwitchOff(ctx context.Context, tx *db.Tx, id *int64, jobKind, why string) error {
	row, err := seeded(ctx, tx, id, jobKind)
	if err != nil || row == nil || !row.Enabled {
		return err
	}
	_, err = tx.Pgx.Exec(ctx, "UPDATE schedules SET enabled = false, next_run_at = NULL, disabled_reason = $2, updated_at = "+
		"clock_timestamp() WHERE id = $1", row.ID, why)
	if err != nil {
		return fmt.Errorf("disabling the schedule: %w", err)
	}
	return tell(tx, "schedule.disable", row.ID, row.Name, map[string]any{"job_kind": jobKind, "reason": why})
}

// seeded locks the schedule; nil if it is gone or starts other jobs.
func seeded(ctx context.Context, tx *db.Tx, id *int64, jobKind string) (*Schedule, error) {
	if id == nil {
		return nil, nil
	}
	return one(ctx, tx.Pgx, "id = $1 AND job_kind = $2 FOR UPDATE", *id, jobKind)
}

func tell(tx *db.Tx, action string, id int64, name string, details map[string]any) error {
	return audit.WriteEntry(tx, audit.Entry{
		ActorType: audit.ActorSystem, Action: action, TargetKind: "schedule", TargetID: strconv.FormatInt(id, 10), TargetName: name,
		Result: audit.ResultOK, Details: details,
	})
}
