package guest

import (
	"context"
	"fmt"
	"time"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// supersede records that backups from before a job do not belong to the guest
// that it created under their ID, but to an earlier one. A poll may have listed
// the new guest and given them its name in the meantime; that is undone.
func (w *Worker) supersede(ctx context.Context, hostID int64, made hypervisor.GuestRef, before time.Time) error {
	_, err := w.DB.Pool.Exec(context.WithoutCancel(ctx), `UPDATE backups SET superseded = true, guest_id = NULL,
		name = CASE WHEN guest_id IS NULL THEN name ELSE '' END
		WHERE cluster_id = (SELECT cluster_id FROM hosts WHERE id = $1) AND kind = $2 AND guest_ref = $3 AND uid IS NULL
			AND NOT superseded AND (taken_at IS NULL OR taken_at < $4)`, hostID, made.Kind, made.ID, before)
	if err != nil {
		return db.Problem(fmt.Errorf("recording the owners of a guest ID's backups: %w", err))
	}
	return nil
}

// restored records that the guest of a backup was restored under its own ID:
// the backup belongs to it, whoever had the ID in between.
func (w *Worker) restored(ctx context.Context, hostID int64, from hypervisor.Backup) error {
	_, err := w.DB.Pool.Exec(context.WithoutCancel(ctx), `UPDATE backups SET superseded = false
		WHERE cluster_id = (SELECT cluster_id FROM hosts WHERE id = $1) AND ref = $2 AND superseded`, hostID, from.ID)
	if err != nil {
		return db.Problem(fmt.Errorf("recording the owner of a backup: %w", err))
	}
	return nil
}
