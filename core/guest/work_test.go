package guest_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/internal/waittest"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// bounce stops a guest and starts it: a kind of two steps.
func bounce() guest.Work[struct{}] {
	w := guest.Lifecycle(hypervisor.Stop)
	start := guest.Lifecycle(hypervisor.Start)
	w.Kind = "bounce"
	w.Steps[0].Name, start.Steps[0].Name = "stop", "start"
	w.Steps = append(w.Steps, start.Steps[0])
	return w
}

func (b *lifecycleFixture) bounce(t *testing.T, p guest.RequestedGuest) int64 {
	t.Helper()
	return b.add(t, bounce().Spec(job.Target{Kind: "vm", ID: p.GuestID, Name: p.Name}, 1, b.hostID,
		guest.Params[struct{}]{RequestedGuest: p}))
}

// words are the actions of a guest's tasks, oldest first.
func (b *lifecycleFixture) words(t *testing.T, ref hypervisor.GuestRef) (words []string) {
	t.Helper()
	for _, task := range b.cluster.Tasks() {
		if task.GuestID == ref.ID && task.Operation != "" {
			words = append([]string{string(task.Operation)}, words...)
		}
	}
	return words
}

func TestSteps(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status string
		before func(b *lifecycleFixture, ref hypervisor.GuestRef)
		want   job.Status
		words  string
	}{
		"one after the other":                  {hypervisor.GuestRunning, nil, job.Succeeded, "[stop start]"},
		"one that has nothing to do is passed": {hypervisor.GuestStopped, nil, job.Succeeded, "[start]"},
		"one that is refused ends it": {hypervisor.GuestRunning, func(b *lifecycleFixture, ref hypervisor.GuestRef) {
			b.cluster.Change(ref.ID, func(g *hypervisor.Guest) { g.Lock = "backup" })
		}, job.Failed, "[]"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBothShapes(t, func(t *testing.T, b *lifecycleFixture) {
				guest.Register(b.queue, b.worker, bounce())
				b.start(t)
				ref, p := b.guest(t, hypervisor.VM, c.status)
				if c.before != nil {
					c.before(b, ref)
				}
				_, transcript := b.ended(t, b.bounce(t, p), c.want)
				if got := fmt.Sprint(b.words(t, ref)); got != c.words {
					t.Errorf("the tasks %s, want %s\n%s", got, c.words, transcript)
				}
			})
		})
	}
}

// A step whose failure was none is not judged again by a state that a later step has changed.
func TestFailureThatWasNoneStaysOne(t *testing.T) {
	t.Parallel()
	inBothShapes(t, func(t *testing.T, b *lifecycleFixture) {
		work := bounce()
		work.Steps[1].Send = guest.Using(func(l hypervisor.LifecycleManager, ctx context.Context, ref hypervisor.GuestRef,
			_ struct{}) (string, error) {
			task, err := l.Act(ctx, ref, hypervisor.Start)
			// This instance stops here, and the guest runs when the next one goes on.
			go func() { _ = b.queue.Stop(context.Background()) }()
			return task, err
		})
		guest.Register(b.queue, b.worker, work)
		b.start(t)
		ref, p := b.guest(t, hypervisor.VM, hypervisor.GuestRunning)
		b.cluster.Change(ref.ID, func(g *hypervisor.Guest) { g.Name = "stuck" })
		p.Name = "stuck"
		id := b.bounce(t, p)
		task := b.taskOf(t, id)
		b.cluster.Change(ref.ID, func(g *hypervisor.Guest) { g.Status, g.Name = hypervisor.GuestStopped, "stuck" })
		b.cluster.EndTask(task, hypervisor.TaskFailed, "got timeout")
		waittest.Until(t, "the second step has begun", func() bool { return len(b.words(t, ref)) >= 2 })
		tasks := b.words(t, ref)
		_ = b.queue.Stop(t.Context())
		b.cluster.Change(ref.ID, func(g *hypervisor.Guest) { g.Status = hypervisor.GuestRunning })
		b.endTasks(t, ref)

		next := b.another(t)
		guest.Register(next.queue, next.worker, bounce())
		next.start(t)
		_, transcript := next.ended(t, id, job.Succeeded)
		if got := fmt.Sprint(b.words(t, ref)); got != fmt.Sprint(tasks) ||
			strings.Count(transcript, "the task failed; but the guest is stopped") != 1 {
			t.Errorf("the tasks %s\n%s", got, transcript)
		}
	})
}

// endTasks ends the guest's running tasks well.
func (b *lifecycleFixture) endTasks(t *testing.T, ref hypervisor.GuestRef) {
	t.Helper()
	host, _ := b.driver.Open(t.Context(), b.cluster.Target(endpoint.Monitoring))
	list, err := host.Tasks(t.Context(), hypervisor.TaskQuery{Limit: 500, Guest: &ref})
	if err != nil {
		t.Fatal(err)
	}
	for _, task := range list.Tasks {
		b.cluster.EndTask(task.ID, hypervisor.TaskOK, "OK")
	}
}

// A job that is canceled between two steps does not begin the next.
func TestCanceledBetweenSteps(t *testing.T) {
	t.Parallel()
	inBothShapes(t, func(t *testing.T, b *lifecycleFixture) {
		work := bounce()
		state := work.Steps[1].State
		work.Steps[1].State = func(ctx context.Context, h hypervisor.Host, g hypervisor.Guest, p struct{}) (guest.State, error) {
			b.cancelAll(t)
			return state(ctx, h, g, p)
		}
		guest.Register(b.queue, b.worker, work)
		b.start(t)
		ref, p := b.guest(t, hypervisor.VM, hypervisor.GuestRunning)
		_, transcript := b.ended(t, b.bounce(t, p), job.Canceled)
		if got := fmt.Sprint(b.words(t, ref)); got != "[stop]" || !strings.Contains(transcript, "canceled before the step start was sent") {
			t.Errorf("the tasks %s\n%s", got, transcript)
		}
	})
}

// another is a further instance on the fixture's database and hypervisor.
func (b *lifecycleFixture) another(t *testing.T) *lifecycleFixture {
	t.Helper()
	next := &lifecycleFixture{Shape: b.Shape, served: b.served, db: b.db, driver: b.driver, cluster: b.cluster, hostID: b.hostID,
		missing: b.missing, opened: b.opened}
	next.queue = b.newQueue(t)
	next.worker = &guest.Worker{DB: b.db, Hosts: next}
	return next
}
