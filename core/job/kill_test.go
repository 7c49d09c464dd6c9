package job_test

import (
	"context"
	"fmt"
	"net/rpc"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/core/job/jobtest"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
)

func TestMain(m *testing.M) { jobtest.Main(m, child) }

// child is an instance in a process of its own: it runs jobs on a hostServer, and at the named point it says so and stands still.
func child(args []string) error {
	url, bridged, point := args[0], args[1], args[2]
	d, err := db.Open(context.Background(), db.Config{URL: url, Logger: hclog.NewNullLogger()})
	if err != nil {
		return err
	}
	client, err := rpc.Dial("tcp", bridged)
	if err != nil {
		return err
	}
	q, err := job.New(job.Config{DB: d})
	if err != nil {
		return err
	}
	q.Register("act", job.WorkerFunc(func(ctx context.Context, run *job.Run) error {
		var o order
		if err := run.Params(&o); err != nil {
			return err
		}
		_, err := run.Do(ctx, stepOn(o, func(context.Context) (hypervisor.Host, error) { return &far{client: client}, nil }))
		return err
	}))
	q.Hook(func(_ context.Context, at string, _ int64) {
		if at == point {
			fmt.Println("at", point)
			select {}
		}
	})
	return q.Start(context.Background())
}

// A service that is killed at any point of a job loses nothing, and the next one sends nothing a second time. Where tasks are
// forgotten it cannot always know what the first has sent.
func TestKilledAtEachPoint(t *testing.T) {
	t.Parallel()
	for _, point := range []string{"begun", "before-send", "after-send", "waiting", "before-end"} {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			inBothShapes(t, memdriver.Spec{TaskTime: 300 * time.Millisecond}, func(t *testing.T, w *fixture) {
				ref := w.cluster.NewGuest(hypervisor.VM, hypervisor.GuestRunning)
				process := jobtest.Start(t, w.url, serve(t, w.open()), point)
				i := w.add(t, nil)
				id := i.enqueue(t, w.spec(ref, hypervisor.Stop))
				process.Says(t, "at "+point)
				process.Kill()
				want, tasks := w.cutAt(t, point, ref)
				killed := time.Now()
				i.run(t)
				j := i.ended(t, id, want)
				t.Logf("resumed and ended after %v", time.Since(killed).Round(time.Millisecond))
				if want == job.Unknown {
					if n := len(w.tasks(t, ref)); n != tasks || j.Runs != 2 || !strings.Contains(j.Error, "does not reach back to") {
						t.Errorf("%d tasks, want %d, after %d runs: %s", n, tasks, j.Runs, j.Error)
					}
					return
				}
				if task := w.once(t, ref); j.TaskID != task {
					t.Errorf("the job has the task %q, the hypervisor %q", j.TaskID, task)
				}
				transcript := i.transcript(t, id)
				if j.Runs != 2 || !strings.Contains(transcript, "continues (run 2)") {
					t.Errorf("%d runs, transcript\n%s", j.Runs, transcript)
				}
				for _, line := range []string{"log: stop of", "log: guest is stopped"} {
					if strings.Count(transcript, line) != 1 {
						t.Errorf("the line %q is there %d times in\n%s", line, strings.Count(transcript, line), transcript)
					}
				}
			})
		})
	}
}
