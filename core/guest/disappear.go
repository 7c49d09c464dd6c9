package guest

import (
	"context"
	"fmt"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// disappear removes a guest that the job has destroyed from the lists. The
// hypervisor may list it for some seconds more, so its identity is recorded for
// a minute and a poll does not create a row for it.
func (w *Worker) disappear(ctx context.Context, guestID int64) error {
	return w.DB.Tx(context.WithoutCancel(ctx), func(tx *db.Tx) error {
		for _, statement := range []string{
			`INSERT INTO destroyed_guests (cluster_id, identity) SELECT cluster_id, identity FROM guests WHERE id = $1
				ON CONFLICT (cluster_id, identity) DO UPDATE SET destroyed_at = now()`,
			`DELETE FROM destroyed_guests WHERE destroyed_at < now() - interval '1 minute'
				AND cluster_id = (SELECT cluster_id FROM guests WHERE id = $1)`,
			`DELETE FROM guests WHERE id = $1`,
		} {
			if _, err := tx.Pgx.Exec(ctx, statement, guestID); err != nil {
				return fmt.Errorf("removing a destroyed guest from the lists: %w", err)
			}
		}
		return nil
	})
}

// allowRelisting lets polls list a guest that the job has created under the ID of a guest
// that was destroyed a moment ago.
func (w *Worker) allowRelisting(ctx context.Context, hostID int64, made hypervisor.GuestRef) error {
	_, err := w.DB.Pool.Exec(context.WithoutCancel(ctx), `DELETE FROM destroyed_guests
		WHERE cluster_id = (SELECT cluster_id FROM hosts WHERE id = $1) AND identity = $2`, hostID, string(made.Kind)+":"+string(made.ID))
	if err != nil {
		return db.Problem(fmt.Errorf("deleting a destroyed guest: %w", err))
	}
	return nil
}
