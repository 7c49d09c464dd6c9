package guest

import (
	"context"
	"fmt"
	"time"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// supersede notes that the backups from before a job are not of the guest that it has made: they are of an earlier one of its id. A poll
// may have listed the new guest meanwhile, and its name was given to them then.
func (w *Worker) supersede(ctx context.Context, hostID int64, made hypervisor.GuestRef, before time.Time) error {
	_, err := w.DB.Pool.Exec(context.WithoutCancel(ctx), `UPDATE backups SET superseded = true, guest_id = NULL,
		name = CASE WHEN guest_id IS NULL THEN name ELSE '' END
		WHERE cluster_id = (SELECT cluster_id FROM hosts WHERE id = $1) AND kind = $2 AND guest_ref = $3 AND uid IS NULL
			AND NOT superseded AND (taken_at IS NULL OR taken_at < $4)`, hostID, made.Kind, made.ID, before)
	if err != nil {
		return db.Problem(fmt.Errorf("noting whose backups there are of an id: %w", err))
	}
	return nil
}

// restored notes that the guest of a backup was made of it under its own id again: it is of that one, whoever had the id in between.
func (w *Worker) restored(ctx context.Context, hostID int64, from hypervisor.Backup) error {
	_, err := w.DB.Pool.Exec(context.WithoutCancel(ctx), `UPDATE backups SET superseded = false
		WHERE cluster_id = (SELECT cluster_id FROM hosts WHERE id = $1) AND ref = $2 AND superseded`, hostID, from.ID)
	if err != nil {
		return db.Problem(fmt.Errorf("noting whose backup it is: %w", err))
	}
	return nil
}
