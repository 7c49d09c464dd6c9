package nodeunit

import (
	"context"
	"fmt"

	"github.com/hostler/hostler/core/db"
)

// Claim gives a job the right to run scripts on a host's machine, or in a container there, and reports whether it has it: one job has it
// at a time, until it has ended. It may be asked again. The job must be unfinished.
func Claim(ctx context.Context, d *db.DB, hostID, jobID int64) (bool, error) {
	tag, err := d.Pool.Exec(ctx, `INSERT INTO host_script_jobs (host_id, job_id) VALUES ($1, $2)
		ON CONFLICT (host_id) DO UPDATE SET job_id = $2 WHERE host_script_jobs.job_id = $2
			OR NOT EXISTS (SELECT FROM jobs j WHERE j.id = host_script_jobs.job_id AND j.status IN ('queued', 'running'))`, hostID, jobID)
	if err != nil {
		return false, db.Problem(fmt.Errorf("claiming a machine for a job: %w", err))
	}
	return tag.RowsAffected() == 1, nil
}
