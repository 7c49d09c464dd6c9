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

// syncLimit bounds the poll after a job.
const syncLimit = 30 * time.Second

// sync has the host polled, so that lists show what the job has made or removed. The job has ended well whatever comes of it.
func (w *Worker) sync(ctx context.Context, run *job.Run, hostID int64) {
	if w.Sync == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), syncLimit)
	defer cancel()
	if err := w.Sync(ctx, hostID); err != nil {
		run.Note("the host could not be polled (%s); the next poll shows what has changed", job.Explain(err))
	}
}

// appear shows a guest that the job has made, after the poll that lists it, as the hypervisor tells of it by itself: a list may have its
// name and state only later, where the hypervisor makes its list anew every some seconds only.
// The job has ended well whatever comes of it.
func (w *Worker) appear(ctx context.Context, run *job.Run, hostID int64, made hypervisor.GuestRef) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), syncLimit)
	defer cancel()
	guest, err := host.AskWithin(ctx, w.Hosts, syncLimit, hostID, endpoint.Monitoring,
		func(ctx context.Context, at hypervisor.Host) (hypervisor.Guest, error) { return at.Guest(ctx, made) })
	if err == nil {
		err = w.showListed(ctx, hostID, guest)
	}
	if err != nil {
		run.Note("the new guest could not be read (%s); the next poll shows it", job.Explain(err))
	}
}

// showListed writes a guest that was read by itself into the row that a poll has made for it, if one has.
func (w *Worker) showListed(ctx context.Context, hostID int64, guest hypervisor.Guest) error {
	var id int64
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
