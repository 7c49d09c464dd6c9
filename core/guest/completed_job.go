package guest

import (
	"context"
	"time"

	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// CompletedJob is a job whose steps have all succeeded. Work.End gets it to record
// the results.
type CompletedJob[P any] struct {
	*Worker
	Run   *job.Run
	Asked RequestedGuest
	Spec  P
	// HostID is the host of the guest. At is where the guest was last found.
	HostID int64
	At     hypervisor.GuestRef
	// begun is the time of the last request by the hypervisor's clock. It is
	// zero if none was sent.
	begun time.Time
	// backup is the ID of the backup that the last task created. It is empty if
	// there was none or if the task did not report it.
	backup string
}

// relistLimit bounds the listing of a storage after a job. A storage with
// thousands of backups is slow.
const relistLimit = 90 * time.Second

// relist lists the backups of a storage again. The job succeeds even if this
// fails.
func (e *CompletedJob[P]) relist(ctx context.Context, storage string) {
	e.Worker.relist(ctx, e.Run, e.HostID, storage, e.At.Node)
}

// relist lists the backups of a storage as a node sees it, and notes a failure
// in the transcript.
func (w *Worker) relist(ctx context.Context, run *job.Run, hostID int64, storage, node string) {
	if w.List == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), relistLimit)
	defer cancel()
	if err := w.List(ctx, hostID, storage, node); err != nil {
		run.Note("the backups on %s could not be listed (%s); the next listing will show the changes", storage, job.Explain(err))
	}
}
