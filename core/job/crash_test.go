package job_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/db/inventorytest"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/core/job/jobtest"
	"github.com/hostler/hostler/internal/waittest"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
)

// crashed leaves a job as instances leave it that crash while they run it, one after the other.
func (i *instance) crashed(t testing.TB, id int64, instances ...string) {
	t.Helper()
	last := len(instances) - 1
	i.exec(t, "UPDATE jobs SET status = 'running', started_at = now(), runs = $2, runner = $3, crashed = $4 WHERE id = $1",
		id, len(instances), instances[last], instances[:last])
	i.exec(t, "UPDATE river_job SET state = 'discarded', finalized_at = now()")
}

func (i *instance) status(t testing.TB, id int64) job.Status {
	t.Helper()
	j, err := i.Get(t.Context(), id, everything)
	if err != nil {
		t.Fatal(err)
	}
	return j.Status
}

// runner is the instance that a job is noted to be run by; empty for none.
func (i *instance) runner(t testing.TB, id int64) string {
	t.Helper()
	return dbtest.Value[string](t, i.db, "SELECT coalesce(runner, '') FROM jobs WHERE id = $1", id)
}

// held is a worker that says on begun that a run has begun, and works until release is closed or the run must end.
func held(begun chan<- struct{}, release <-chan struct{}) job.Worker {
	return job.WorkerFunc(func(ctx context.Context, _ *job.Run) error {
		begun <- struct{}{}
		select {
		case <-release:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	})
}

// A job on which the service has crashed twice in a row ends, and its reason says whether the state on the hypervisor is known.
func TestJobEndsAfterTwoCrashes(t *testing.T) {
	t.Parallel()
	const reason = "the service crashed 2 times in a row while running this job, so it does not run the job again"
	for name, c := range map[string]struct {
		host     int64
		progress string
		status   job.Status
		reason   string
	}{
		"without a checkpoint": {1, `{}`, job.Failed, reason},
		"without a hypervisor": {0, `{"work": {"Done": 1}}`, job.Failed, reason},
		"after a checkpoint": {1, `{"work": {"Done": 1}}`, job.Unknown,
			"had begun its work, and the state on the hypervisor is unknown"},
		"after a refused request": {1, `{"steps": {"act": {"state": "refused"}}}`, job.Failed, reason},
		"after a step":            {1, `{"steps": {"act": {"state": "done"}}}`, job.Unknown, "the state on the hypervisor is unknown"},
		"with a request under way": {1, `{"steps": {"act": {"state": "sending"}}}`, job.Unknown,
			"a task that the job may have started was not found; the state on the hypervisor is unknown"},
		"with a task that may still run": {1, `{"steps": {"act": {"state": "following", "task": "task-7"}}}`, job.Unknown,
			"its task task-7 may still be running; the state on the hypervisor is unknown"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newFixture(t, memdriver.Spec{})
			var runs atomic.Int32
			i := w.add(t, map[string]job.Worker{"deadly": job.WorkerFunc(func(context.Context, *job.Run) error {
				runs.Add(1)
				return nil
			})})
			inventorytest.Write(t, i.db, inventorytest.Cluster{Hosts: []inventorytest.Host{{Name: "pve1"}}})
			id := i.enqueue(t, job.Spec{Kind: "deadly", Target: job.Target{Kind: "vm", ID: 1}, HostID: c.host})
			i.exec(t, "UPDATE jobs SET progress = $2, task_id = 'task-7' WHERE id = $1", id, c.progress)
			if c.status == job.Failed {
				i.exec(t, "UPDATE jobs SET task_id = '' WHERE id = $1", id)
			}
			i.crashed(t, id, "first", "second")
			i.run(t)
			j := i.ended(t, id, c.status)
			if !strings.HasPrefix(j.Error, reason) || !strings.Contains(j.Error, c.reason) {
				t.Errorf("the reason is %q", j.Error)
			}
			if runs.Load() != 0 || j.Runs != 2 {
				t.Errorf("it was run %d times more, and was begun %d times", runs.Load(), j.Runs)
			}
			if c.status == job.Unknown && j.TaskID != "task-7" {
				t.Errorf("its task is %q", j.TaskID)
			}
		})
	}
}

// One crash ends nothing, and neither do two between which the job was let go of in order.
func TestCrashesThatAreNotInARow(t *testing.T) {
	if testing.Short() {
		t.Skip("kills a service: make check runs it")
	}
	t.Parallel()
	w := newFixture(t, memdriver.Spec{})
	begun, release := make(chan struct{}, 10), make(chan struct{})
	kinds := map[string]job.Worker{"long": held(begun, release)}
	a := w.add(t, kinds)
	id := a.enqueue(t, job.Spec{Kind: "long", Target: job.Target{Kind: "vm", ID: 1}})
	a.crashed(t, id, "first")
	a.run(t)
	<-begun
	if got := dbtest.Value[string](t, a.db, "SELECT crashed::text FROM jobs"); got != "{first}" || a.runner(t, id) == "" {
		t.Errorf("the instances %s have crashed, and %q runs the job", got, a.runner(t, id))
	}
	if err := a.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := dbtest.Value[string](t, a.db, "SELECT crashed::text FROM jobs"); got != "{}" || a.runner(t, id) != "" {
		t.Errorf("after a stop the instances %s have crashed, and %q runs the job", got, a.runner(t, id))
	}
	a.crashed(t, id, "second")
	b := w.start(t, kinds)
	<-begun
	b.Suspend()
	waittest.Until(t, "a suspended instance lets go of the job", func() bool { return b.runner(t, id) == "" })
	b.Unsuspend()
	<-begun
	close(release)
	b.ended(t, id, job.Succeeded)
}

// A worker that does not come to a safe point before the service ends is no crash either.
func TestStopInOrderIsNoCrash(t *testing.T) {
	if testing.Short() {
		t.Skip("stops a service many times: make check runs it")
	}
	t.Parallel()
	w := newFixture(t, memdriver.Spec{})
	w.stop = 300 * time.Millisecond
	begun, release := make(chan struct{}), make(chan struct{})
	i := w.add(t, map[string]job.Worker{"stubborn": job.WorkerFunc(func(context.Context, *job.Run) error {
		close(begun)
		<-release
		return nil
	})})
	if err := i.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer close(release)
	id := i.enqueue(t, job.Spec{Kind: "stubborn", Target: job.Target{Kind: "vm", ID: 1}})
	<-begun
	if err := i.Stop(t.Context()); err == nil {
		t.Error("the stop did not tell that a job went on")
	}
	if got := i.runner(t, id); got != "" || i.status(t, id) != job.Running {
		t.Errorf("the job is %s, and %q runs it", i.status(t, id), got)
	}
}

// Nobody runs a job that waits in the line, so that no crash is on account of it.
func TestJobInTheLineHasNoRunner(t *testing.T) {
	t.Parallel()
	const slots = 4
	w := newFixture(t, memdriver.Spec{})
	begun, release := make(chan struct{}, 10), make(chan struct{})
	i := w.start(t, map[string]job.Worker{"held": held(begun, release)})
	var ids []int64
	for k := range slots + 1 {
		ids = append(ids, i.enqueue(t, job.Spec{Kind: "held", Target: job.Target{Kind: "vm", ID: int64(k)}}))
	}
	for range slots {
		<-begun
	}
	for _, id := range ids[:slots] {
		if i.runner(t, id) == "" {
			t.Error("nobody runs a job that has begun")
		}
	}
	if got := i.runner(t, ids[slots]); got != "" {
		t.Errorf("%q runs a job that waits", got)
	}
	close(release)
	for _, id := range ids {
		i.ended(t, id, job.Succeeded)
	}
}

// Instances that lost their connections have not crashed: each takes its name off the job once it can.
func TestLostConnectionsAreNoCrashes(t *testing.T) {
	if testing.Short() {
		t.Skip("breaks connections: make check runs it")
	}
	t.Parallel()
	w := newFixture(t, memdriver.Spec{})
	begun, release := make(chan struct{}, 2), make(chan struct{})
	i := w.start(t, map[string]job.Worker{"some": held(begun, release)})
	id := i.enqueue(t, job.Spec{Kind: "some", Target: job.Target{Kind: "vm", ID: 1}})
	<-begun
	// Another instance has taken the job over and crashed on it as well, before this one notices that it has lost the job.
	i.exec(t, "UPDATE jobs SET crashed = ARRAY[runner], runner = 'another'")
	i.exec(t, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
		WHERE datname = current_database() AND application_name LIKE '%job locks'`)
	<-begun
	if got := dbtest.Value[string](t, i.db, "SELECT crashed::text FROM jobs"); got != "{another}" {
		t.Errorf("the instances %s have crashed", got)
	}
	close(release)
	i.ended(t, id, job.Succeeded)
}

// A job that gets further with each run goes on, however often the service crashes on it; one that stores what was stored before does not.
func TestProgressEndsARowOfCrashes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		second int
		want   string
	}{"further": {2, "{}"}, "no further": {1, "{first}"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newFixture(t, memdriver.Spec{})
			saved, release := make(chan struct{}), make(chan struct{})
			i := w.add(t, map[string]job.Worker{"some": job.WorkerFunc(func(ctx context.Context, run *job.Run) error {
				if err := run.SaveCheckpoint(ctx, map[string]int{"done": c.second}); err != nil {
					return err
				}
				close(saved)
				<-release
				return nil
			})})
			id := i.enqueue(t, job.Spec{Kind: "some", Target: job.Target{Kind: "vm", ID: 1}})
			i.exec(t, `UPDATE jobs SET progress = '{"work": {"done": 1}}'`)
			i.crashed(t, id, "first")
			i.run(t)
			<-saved
			if got := dbtest.Value[string](t, i.db, "SELECT crashed::text FROM jobs"); got != c.want {
				t.Errorf("the instances %s have crashed in a row, want %s", got, c.want)
			}
			close(release)
			i.ended(t, id, job.Succeeded)
		})
	}
}

// A job on which two real processes were killed in a row is not begun by a third one.
func TestKilledTwice(t *testing.T) {
	t.Parallel()
	for point, want := range map[string]struct {
		status job.Status
		reason string
	}{
		"begun":   {job.Failed, "does not run the job again"},
		"waiting": {job.Unknown, "may still be running; the state on the hypervisor is unknown"},
	} {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			w := newFixture(t, memdriver.Spec{TaskTime: time.Hour})
			ref := w.cluster.NewGuest(hypervisor.VM, hypervisor.GuestRunning)
			i, bridge := w.add(t, nil), serve(t, w.open())
			first := jobtest.Start(t, w.url, bridge, point)
			id := i.enqueue(t, w.spec(ref, hypervisor.Stop))
			for _, process := range []*jobtest.Process{first, nil} {
				if process == nil {
					process = jobtest.Start(t, w.url, bridge, point)
				}
				process.Says(t, "at "+point)
				process.Kill()
			}
			tasks := w.tasks(t, ref)
			i.run(t)
			j := i.ended(t, id, want.status)
			if !strings.HasPrefix(j.Error, "the service crashed 2 times in a row") || !strings.Contains(j.Error, want.reason) || j.Runs != 2 {
				t.Errorf("after %d runs the reason is %q", j.Runs, j.Error)
			}
			now := w.tasks(t, ref)
			if len(now) != len(tasks) || len(now) == 1 && (j.TaskID != now[0].ID || !strings.Contains(j.Error, j.TaskID)) {
				t.Errorf("the hypervisor has the tasks %v, and the job has %q: %s", now, j.TaskID, j.Error)
			}
		})
	}
}
