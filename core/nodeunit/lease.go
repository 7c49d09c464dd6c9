package nodeunit

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
)

// leaseLock is the class of the advisory locks of those who take a lease.
const leaseLock int32 = 0x6c656173

// AcquireLease takes the lease of a machine for a job: of all jobs that run programs which make or change containers there, one has it at
// a time, on all instances. It is of the node of that name in a cluster. A job keeps it until it has ended, also while the service is
// away, and need not give it back. Zero is for a lease that was taken, or that the job had; else it is the id of the unfinished job that
// has it.
func AcquireLease(ctx context.Context, d *db.DB, clusterID int64, node string, jobID int64) (holder int64, err error) {
	err = d.Tx(ctx, func(tx *db.Tx) error {
		// What follows sees the jobs of all that have taken it before.
		if _, err := tx.Pgx.Exec(ctx, "SELECT pg_advisory_xact_lock($1, hashtext($2))", leaseLock,
			fmt.Sprintf("%d %s", clusterID, node)); err != nil {
			return fmt.Errorf("waiting for the lease of a machine: %w", err)
		}
		err := tx.Pgx.QueryRow(ctx, `SELECT l.job_id FROM script_leases l JOIN jobs j ON j.id = l.job_id
			WHERE l.cluster_id = $1 AND l.node = $2 AND l.job_id <> $3 AND j.status IN ('queued', 'running')`, clusterID, node, jobID).
			Scan(&holder)
		if !errors.Is(err, pgx.ErrNoRows) {
			return err
		}
		holder = 0
		_, err = tx.Pgx.Exec(ctx, `INSERT INTO script_leases (cluster_id, node, job_id) VALUES ($1, $2, $3)
			ON CONFLICT (cluster_id, node) DO UPDATE SET job_id = excluded.job_id, taken_at = now()`, clusterID, node, jobID)
		return err
	})
	if err != nil {
		return 0, db.Problem(fmt.Errorf("taking the lease of a machine: %w", err))
	}
	return holder, nil
}
