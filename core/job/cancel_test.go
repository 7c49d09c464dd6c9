package job_test

import (
	"context"
	"strings"
	"testing"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/internal/waittest"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
	"github.com/hostler/hostler/sdk/plugin"
)

// endless makes a guest whose task runs until it is stopped.
func (w *fixture) endless() hypervisor.GuestRef {
	ref := w.cluster.NewGuest(hypervisor.VM, hypervisor.GuestRunning)
	w.cluster.Change(ref.ID, func(g *hypervisor.Guest) { g.Name = "stuck" })
	return ref
}

// endOnceFound ends the tasks of endless guests as soon as a run of the instance follows them: a list that forgets has them until then.
func (i *instance) endOnceFound(w *fixture) {
	i.Hook(func(_ context.Context, at string, _ int64) {
		if at != "waiting" {
			return
		}
		for _, task := range w.cluster.Tasks() {
			w.cluster.EndTask(task.ID, hypervisor.TaskOK, "OK")
		}
	})
}

func TestCancelQueued(t *testing.T) {
	t.Parallel()
	inBothShapes(t, memdriver.Spec{}, func(t *testing.T, w *fixture) {
		i := w.add(t, nil)
		ref := w.endless()
		id := i.enqueue(t, w.spec(ref, hypervisor.Stop))
		i.cancel(t, id)
		j, err := i.Get(t.Context(), id, everything)
		if err != nil || j.Status != job.Canceled || j.FinishedAt == nil {
			t.Fatalf("got %+v, %v", j, err)
		}
		i.run(t)
		// What is enqueued after it runs; the canceled one does not.
		after := w.cluster.NewGuest(hypervisor.VM, hypervisor.GuestRunning)
		i.ended(t, i.enqueue(t, w.spec(after, hypervisor.Stop)), job.Succeeded)
		if tasks := w.tasks(t, ref); len(tasks) != 0 {
			t.Errorf("a canceled job started %v", tasks)
		}
		if got := i.transcript(t, id); got != "status: queued\nnote: cancel requested\nstatus: canceled" {
			t.Errorf("transcript\n%s", got)
		}
	})
}

// A cancel at each point of a run: from another instance, with the hypervisor's task stopped where there is one.
func TestCancelAtEachPoint(t *testing.T) {
	t.Parallel()
	for point, tasks := range map[string]int{"begun": 0, "before-send": 0, "after-send": 1, "waiting": 1} {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			inBothShapes(t, memdriver.Spec{}, func(t *testing.T, w *fixture) {
				ref := w.endless()
				a, b, g := w.add(t, nil), w.add(t, nil), newGate(t)
				a.Hook(g.at(point))
				a.run(t)
				id := a.enqueue(t, w.spec(ref, hypervisor.Stop))
				<-g.reached
				b.cancel(t, id)
				b.cancel(t, id) // twice is no error
				g.release()
				a.ended(t, id, job.Canceled)
				if got := a.transcript(t, id); strings.Count(got, "note: cancel requested") != 1 {
					t.Errorf("the wish is not noted once:\n%s", got)
				}
				found := w.tasks(t, ref)
				if len(found) != tasks {
					t.Fatalf("the hypervisor has the tasks %v", found)
				}
				if tasks == 1 && found[0].Status != hypervisor.TaskFailed {
					t.Errorf("the task was not stopped: %+v", found[0])
				}
			})
		})
	}
}

// A task that ends well before it could be stopped is not called canceled.
func TestCancelTooLate(t *testing.T) {
	t.Parallel()
	inBothShapes(t, memdriver.Spec{}, func(t *testing.T, w *fixture) {
		i, g := w.add(t, nil), newGate(t)
		i.Hook(g.at("after-send"))
		i.run(t)
		ref := w.cluster.NewGuest(hypervisor.VM, hypervisor.GuestRunning)
		id := i.enqueue(t, w.spec(ref, hypervisor.Stop))
		<-g.reached
		waittest.Until(t, "the task has ended", func() bool { return w.tasks(t, ref)[0].Status == hypervisor.TaskOK })
		i.cancel(t, id)
		g.release()
		i.ended(t, id, job.Succeeded)
	})
}

// A cancel is kept when the service dies: the next one stops the task.
func TestCancelSurvivesADeadService(t *testing.T) {
	t.Parallel()
	inBothShapes(t, memdriver.Spec{}, func(t *testing.T, w *fixture) {
		ref := w.endless()
		a, g := w.add(t, nil), newGate(t)
		a.Hook(g.at("after-send"))
		if err := a.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		id := a.enqueue(t, w.spec(ref, hypervisor.Stop))
		<-g.reached
		a.BreakLocks()
		if err := a.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		b := w.add(t, nil)
		b.cancel(t, id)
		b.run(t)
		b.ended(t, id, job.Canceled)
		if task := w.tasks(t, ref); len(task) != 1 || task[0].Status != hypervisor.TaskFailed {
			t.Errorf("tasks %+v", task)
		}
	})
}

func TestCancelAWorkerWithoutATask(t *testing.T) {
	t.Parallel()
	w := newFixture(t, memdriver.Spec{})
	began := make(chan struct{}, 1)
	i := w.start(t, map[string]job.Worker{"idle": job.WorkerFunc(func(ctx context.Context, run *job.Run) error {
		began <- struct{}{}
		<-run.Canceled()
		<-ctx.Done()
		return ctx.Err()
	})})
	id := i.enqueue(t, job.Spec{Kind: "idle", Target: job.Target{Kind: "vm", ID: 1}})
	<-began
	i.cancel(t, id)
	i.ended(t, id, job.Canceled)
}

func TestCancelRefused(t *testing.T) {
	t.Parallel()
	w := newFixture(t, memdriver.Spec{})
	i := w.start(t, map[string]job.Worker{"nothing": job.WorkerFunc(func(context.Context, *job.Run) error { return nil })})
	id := i.enqueue(t, job.Spec{Kind: "nothing", Target: job.Target{Kind: "vm", ID: 1}, TeamID: 1})
	i.ended(t, id, job.Succeeded)
	for name, c := range map[string]struct {
		id      int64
		visible identity.VisibleTeams
		code    problem.Code
	}{
		"finished":     {id, everything, problem.CodeJobFinished},
		"missing":      {id + 1000, everything, problem.CodeNotFound},
		"foreign team": {id, identity.VisibleTeams{Teams: []int64{2}}, problem.CodeNotFound},
	} {
		err := i.db.Tx(t.Context(), func(tx *db.Tx) error {
			_, err := i.Cancel(t.Context(), tx, c.id, c.visible)
			return err
		})
		if err == nil || problem.CodeOf(err) != c.code {
			t.Errorf("%s: got %v, want %s", name, err, c.code)
		}
	}
}

// The driver's refusal to stop a task is told, and the job ends as the task does.
func TestCancelThatTheHypervisorRefuses(t *testing.T) {
	t.Parallel()
	inBothShapes(t, memdriver.Spec{}, func(t *testing.T, w *fixture) {
		ref := w.endless()
		i, g := w.add(t, nil), newGate(t)
		i.Hook(g.at("waiting"))
		i.run(t)
		id := i.enqueue(t, w.spec(ref, hypervisor.Stop))
		<-g.reached
		w.cluster.SetFault("stoptask", memdriver.Fault{Err: &plugin.Error{Kind: plugin.Denied, Message: "not yours"}})
		i.cancel(t, id)
		g.release()
		waittest.Until(t, "the refusal was noted", func() bool {
			return strings.Contains(i.transcript(t, id), "did not stop the task: not yours")
		})
		w.cluster.EndTask(w.once(t, ref), hypervisor.TaskOK, "OK")
		i.ended(t, id, job.Succeeded)
	})
}
