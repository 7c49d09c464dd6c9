package guest

import (
	"context"
	"time"

	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// Ending is a job whose steps have all ended well.
type Ending[P any] struct {
	*Worker
	Run   *job.Run
	Asked Asked
	Spec  P
	// HostID is the guest's host, and At where the guest was last found.
	HostID int64
	At     hypervisor.GuestRef
	// begun is when the last request was made, by the hypervisor's clock; zero where none was.
	begun time.Time
	// backup is the id of the backup that the last task has made; empty where it made none or does not tell.
	backup string
}

// relistLimit bounds the listing after a job.
const relistLimit = 90 * time.Second

// relist has the backups of a storage listed anew. The job has ended well whatever comes of it.
func (e *Ending[P]) relist(ctx context.Context, storage string) {
	e.Worker.relist(ctx, e.Run, e.HostID, storage, e.At.Node)
}

func (w *Worker) relist(ctx context.Context, run *job.Run, hostID int64, storage, node string) {
	if w.List == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), relistLimit)
	defer cancel()
	if err := w.List(ctx, hostID, storage, node); err != nil {
		run.Note("the backups on %s could not be listed (%s); the next listing shows what has changed", storage, job.Explain(err))
	}
}
