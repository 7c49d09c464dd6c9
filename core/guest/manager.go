package guest

import (
	"cmp"
	"context"
	"time"

	"github.com/hostler/hostler/core/job"
	sdk "github.com/hostler/hostler/sdk/plugin"
)

// defaultStateLimit is how long a job waits for a guest whose start or stop the
// hypervisor delegates to its high availability manager.
const defaultStateLimit = 10 * time.Minute

// await waits for the state that a step wants of a guest under the high
// availability manager. The task of such a step has succeeded when the manager
// has been told; it says nothing about the guest.
func (a *guestRun) await(ctx context.Context, s step) error {
	limit := cmp.Or(a.StateLimit, defaultStateLimit)
	a.run.Note("the hypervisor passed this on to its high availability manager; waiting for the guest")
	for ends, pause := time.Now().Add(limit), 100*time.Millisecond; ; pause = min(2*pause, 5*time.Second) {
		guest, state, err := a.read(ctx, s)
		if ctx.Err() != nil {
			return a.stopped(ctx)
		}
		switch sdk.KindOf(err) {
		case sdk.NotFound: // the manager may move it meanwhile
			_, _ = a.relocate(ctx)
		case sdk.Unreachable, sdk.Timeout:
		default:
			if err != nil {
				return err
			}
		}
		switch {
		case err == nil && state.Done != "":
			return a.show(context.WithoutCancel(ctx), a.requested.GuestID, guest)
		case time.Now().Before(ends):
		case err == nil:
			return job.Undetermined("the %s was requested from the hypervisor's high availability manager, but after %s the guest is "+
				"still %s",
				s.operation, limit, guest.Status)
		default:
			return job.Undetermined("the %s was requested from the hypervisor's high availability manager, but after %s the guest "+
				"cannot be read: %s",
				s.operation, limit, job.Explain(err))
		}
		if wait(ctx, pause) != nil {
			return a.stopped(ctx)
		}
	}
}
