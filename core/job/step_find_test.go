package job_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/internal/waittest"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
)

// generousHost lists tasks without regard to Since, as a driver may whose hypervisor cannot filter by time.
type generousHost struct{ *unreliableHost }

func (h generousHost) Tasks(ctx context.Context, query hypervisor.TaskQuery) (hypervisor.TaskList, error) {
	query.Since = time.Time{}
	return h.unreliableHost.Tasks(ctx, query)
}

// A task that began long before the request is not the request's, whatever the driver lists.
func TestOlderTaskIsNotAdopted(t *testing.T) {
	t.Parallel()
	inBothShapes(t, memdriver.Spec{}, func(t *testing.T, w *fixture) {
		ref := w.cluster.NewGuest(hypervisor.VM, hypervisor.GuestRunning)
		older, err := w.open().(hypervisor.LifecycleManager).Act(t.Context(), ref, hypervisor.Restart)
		if err != nil {
			t.Fatal(err)
		}
		waittest.Until(t, "the older task has ended", func() bool { return w.tasks(t, ref)[0].Status == hypervisor.TaskOK })
		var sends atomic.Int32
		act := func(real func() (string, error)) (string, error) {
			if sends.Add(1) == 1 {
				return "", errCut
			}
			return real()
		}
		i := w.start(t, map[string]job.Worker{"late": job.WorkerFunc(func(ctx context.Context, run *job.Run) error {
			step := stepOn(order{ref, hypervisor.Restart}, func(context.Context) (hypervisor.Host, error) {
				return generousHost{&unreliableHost{w.open().(*memdriver.Host), act}}, nil
			})
			// By the hypervisor's clock the request is made an hour after that task began.
			step.Before = func(context.Context) (time.Time, bool, error) { return time.Now().Add(time.Hour), false, nil }
			_, err := run.Do(ctx, step)
			return err
		})})
		id := i.enqueue(t, job.Spec{Kind: "late", Target: job.Target{Kind: "vm", ID: number(ref)}})
		j := i.ended(t, id, either(w, job.Succeeded, job.Unknown))
		if j.TaskID == older || (j.TaskID == "") != w.Forgets || sends.Load() != either(w, int32(2), 1) {
			t.Errorf("the job has the task %q after %d requests; the older one is %q\n%s", j.TaskID, sends.Load(), older, i.transcript(t, id))
		}
	})
}
