package job

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/notify"
)

// notifyFailure writes the event of a job that has failed, or whose result is unknown,
// for the person or schedule that requested it. Failures of the service's own
// jobs are in its log.
func (r *Run) notifyFailure(ctx context.Context, tx pgx.Tx, status Status, text string) error {
	j := r.job
	if status != Failed && status != Unknown || j.RequestedBy == nil && j.ScheduleID == nil {
		return nil
	}
	e := notify.Event{TeamID: j.TeamID, Kind: notify.JobFailed, State: notify.OneTime, Severity: "warning", TargetKind: j.Target.Kind,
		TargetName: j.Target.Name, Title: j.Kind + " failed", Body: text, Link: fmt.Sprintf("/jobs/%d", j.ID)}
	if status == Unknown {
		e.Title = "Unknown result of " + j.Kind
	}
	if j.Target.Name != "" {
		e.Title += ": " + j.Target.Name
	}
	if j.Target.ID != 0 {
		e.TargetID = &j.Target.ID
	}
	// The name of the schedule and the guest's tags are read as far as they
	// still exist.
	var schedule string
	err := tx.QueryRow(ctx, `SELECT COALESCE((SELECT name FROM schedules WHERE id = $1), ''), COALESCE((SELECT g.tags FROM guests g
			WHERE g.id = CASE $2 WHEN 'vm' THEN $3::bigint WHEN 'app' THEN (SELECT guest_id FROM apps WHERE id = $3::bigint) END), '{}')`,
		j.ScheduleID, j.Target.Kind, j.Target.ID).Scan(&schedule, &e.Tags)
	if err != nil {
		return fmt.Errorf("reading the job's target: %w", err)
	}
	switch {
	case schedule != "":
		e.Body += "\n\nRequested by the schedule " + schedule
	case j.RequestedByEmail != "":
		e.Body += "\n\nRequested by " + j.RequestedByEmail
	}
	return notify.Write(ctx, tx, e)
}
