package job

import (
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/audit"
)

// columns are the columns that scan reads, in its order.
const columns = `id, kind, status, target_kind, target_id, target_name, team_id, host_id, requested_by,
	requested_by_email, schedule_id, task_id, error, cancel_requested_at, runs, created_at, started_at, finished_at,
	params, sealed, progress, river_id, task_lines, asked, share, last_line, coalesce(place, '')`

// longParams is the size in bytes above which lists omit Job.PublicParams.
const longParams = 16 << 10

// listedColumns are the columns of a job in a list, without what only a run
// needs, and without long parameters.
var listedColumns = strings.NewReplacer("params, sealed, progress", "'{}'::jsonb, NULL::bytea, '{}'::jsonb",
	"asked", fmt.Sprintf(`CASE WHEN octet_length(asked::text) <= %d THEN asked
		ELSE jsonb_build_object('%s', octet_length(asked::text)) END`, longParams, audit.TruncatedFrom)).Replace(columns)

// scan reads one row with columns.
func scan(row pgx.CollectableRow) (*Job, error) {
	var j Job
	err := row.Scan(&j.ID, &j.Kind, &j.Status, &j.Target.Kind, &j.Target.ID, &j.Target.Name, &j.TeamID, &j.HostID,
		&j.RequestedBy, &j.RequestedByEmail, &j.ScheduleID, &j.TaskID, &j.Error, &j.CancelRequestedAt, &j.Runs,
		&j.CreatedAt, &j.StartedAt, &j.FinishedAt, &j.params, &j.sealed, &j.checkpoint, &j.riverID, &j.taskLines,
		&j.PublicParams, &j.Progress, &j.LastLine, &j.place)
	if err != nil {
		return nil, fmt.Errorf("reading a job: %w", err)
	}
	return &j, nil
}

// one reads the only row, or returns nil if there is none.
func one(rows pgx.Rows, err error) (*Job, error) {
	if err != nil {
		return nil, err
	}
	j, err := pgx.CollectExactlyOneRow(rows, scan)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	return j, err
}
