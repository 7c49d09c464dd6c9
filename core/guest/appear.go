package guest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// syncLimit bounds the poll after a job. The job itself has already succeeded.
const syncLimit = 30 * time.Second

// sync polls the host, so that lists show what the job has created or removed.
// The job succeeds even if the poll fails; the transcript notes the failure.
// The context of the job is not used, because the poll should happen even if
// the job was canceled a moment before its end.
func (w *Worker) sync(ctx context.Context, run *job.Run, hostID int64) {
	if w.Sync == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), syncLimit)
	defer cancel()
	if err := w.Sync(ctx, hostID); err != nil {
		run.Note("the host could not be polled (%s); the next poll will show the changes", job.Explain(err))
	}
}

// appear shows a guest that the job has created, after the poll that lists it.
// It reads the guest directly, because a hypervisor may update the names and
// states in its list only every few seconds. The job succeeds even if this
// fails.
func (w *Worker) appear(ctx context.Context, run *job.Run, hostID int64, made hypervisor.GuestRef) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), syncLimit)
	defer cancel()
	guest, err := host.CallWithTimeout(ctx, w.Hosts, syncLimit, hostID, endpoint.Monitoring,
		func(ctx context.Context, at hypervisor.Host) (hypervisor.Guest, error) { return at.Guest(ctx, made) })
	if err == nil {
		err = w.showListed(ctx, hostID, guest)
	}
	if err != nil {
		run.Note("the new guest could not be read (%s); the next poll will show it", job.Explain(err))
	}
}

// showListed updates the row that a poll has created for a guest with what was
// read directly. It does nothing if there is no row yet.
func (w *Worker) showListed(ctx context.Context, hostID int64, guest hypervisor.Guest) error {
	var id int64
	// After a rename or a restore an old row may still have the same reference.
	// The row that was listed last is the guest.
	err := w.DB.Pool.QueryRow(ctx, `SELECT g.id FROM guests g JOIN hosts h ON h.cluster_id = g.cluster_id
		WHERE h.id = $1 AND g.kind = $2 AND g.ref = $3 ORDER BY g.listed_at DESC NULLS LAST, g.id DESC LIMIT 1`, hostID, guest.Kind,
		guest.ID).Scan(&id)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nil
	case err != nil:
		return db.Problem(fmt.Errorf("finding the new guest: %w", err))
	}
	return w.show(ctx, id, guest)
}
