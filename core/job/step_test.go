package job_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/internal/waittest"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
	"github.com/hostler/hostler/sdk/plugin"
)

// unreliableHost is a host whose answer to Act can be lost, before or after the hypervisor took the request.
type unreliableHost struct {
	*memdriver.Host
	act func(real func() (string, error)) (string, error)
}

func (h *unreliableHost) Act(_ context.Context, ref hypervisor.GuestRef, action hypervisor.Action) (string, error) {
	// A request that is on its way does not end with its sender.
	return h.act(func() (string, error) { return h.Host.Act(context.Background(), ref, action) })
}

// makeUnreliable starts an instance with the kind "twisted", whose host makes its requests through act.
func (w *fixture) makeUnreliable(t *testing.T, act func(real func() (string, error)) (string, error)) *instance {
	i := w.unreliableHost(t, act)
	i.run(t)
	return i
}

// unreliableJob is makeUnreliable without the start.
func (w *fixture) unreliableHost(t *testing.T, act func(real func() (string, error)) (string, error)) *instance {
	return w.add(t, map[string]job.Worker{"twisted": job.WorkerFunc(func(ctx context.Context, run *job.Run) error {
		var o order
		if err := run.Params(&o); err != nil {
			return err
		}
		_, err := run.Do(ctx, stepOn(o, func(context.Context) (hypervisor.Host, error) {
			return &unreliableHost{w.open().(*memdriver.Host), act}, nil
		}))
		return err
	})})
}

func (w *fixture) unreliableJob(ref hypervisor.GuestRef) job.Spec {
	s := w.spec(ref, hypervisor.Stop)
	s.Kind = "twisted"
	return s
}

var errCut = plugin.Errorf(plugin.Unreachable, "the connection broke")

// outcome is how a job of one request ends, how many tasks there are, how many requests there were and what is told.
type outcome struct {
	status job.Status
	tasks  int
	sends  int32
	note   string
}

// loss is a job whose first request, to a guest, had no answer; real makes that request.
type loss struct {
	i    *instance
	id   int64
	ref  hypervisor.GuestRef
	real func() (string, error)
}

// The answer to the request is lost; what follows depends on what the hypervisor's task list shows.
func TestAnswerLost(t *testing.T) {
	t.Parallel()
	const reach = "does not reach back to the request"
	for name, c := range map[string]struct {
		// act is the n-th request, from 1.
		act func(w *fixture, n int32, real func() (string, error)) (string, error)
		// endless is that the task runs until it is followed. then is what happens after the first request.
		endless bool
		then    func(t *testing.T, w *fixture, l loss)
		outcome
		// forgotten is the outcome where tasks are forgotten as they end; nil is the same.
		forgotten *outcome
	}{
		"taken": {func(_ *fixture, _ int32, real func() (string, error)) (string, error) {
			_, _ = real()
			return "", errCut
		}, true, nil, outcome{job.Succeeded, 1, 1, "found the task"}, nil},
		"taken, and over": {func(w *fixture, _ int32, real func() (string, error)) (string, error) {
			task, err := real()
			if err == nil {
				_, err = w.open().WaitTask(context.Background(), task, 0, func(hypervisor.LogLine) error { return nil })
			}
			return "", errors.Join(errCut, err)
		}, false, nil, outcome{job.Succeeded, 1, 1, "found the task"}, &outcome{job.Unknown, 1, 1, reach}},
		"taken late": {func(w *fixture, _ int32, _ func() (string, error)) (string, error) {
			return "", plugin.Errorf(plugin.Timeout, "no answer")
		}, true, func(t *testing.T, w *fixture, l loss) {
			waittest.Until(t, "the task was looked for", func() bool { return w.cluster.Calls("tasks") > 0 })
			_, _ = l.real()
		}, outcome{job.Succeeded, 1, 1, "found the task"}, nil},
		"not taken": {func(_ *fixture, n int32, real func() (string, error)) (string, error) {
			if n == 1 {
				return "", errCut
			}
			return real()
		}, false, nil, outcome{job.Succeeded, 1, 2, "sending it again"}, &outcome{job.Unknown, 0, 1, reach}},
		"never taken": {func(*fixture, int32, func() (string, error)) (string, error) {
			return "", errCut
		}, false, nil, outcome{job.Unknown, 0, 2, "sent twice"}, &outcome{job.Unknown, 0, 1, reach}},
		"an error of no kind": {func(_ *fixture, _ int32, real func() (string, error)) (string, error) {
			_, _ = real()
			return "", fmt.Errorf("the plugin fell over")
		}, true, nil, outcome{job.Succeeded, 1, 1, "found the task"}, nil},
		"refused": {func(*fixture, int32, func() (string, error)) (string, error) {
			return "", plugin.Errorf(plugin.Conflict, "guest is locked")
		}, false, nil, outcome{job.Failed, 0, 1, "guest is locked"}, nil},
		"list unreadable": {func(w *fixture, _ int32, real func() (string, error)) (string, error) {
			_, _ = real()
			w.cluster.SetFault("tasks", memdriver.Fault{Err: errCut})
			return "", errCut
		}, false, nil, outcome{job.Unknown, 1, 1, "task list cannot be read"}, nil},
		"list away for a while": {func(w *fixture, _ int32, real func() (string, error)) (string, error) {
			_, _ = real()
			w.cluster.SetFault("tasks", memdriver.Fault{Err: errCut})
			return "", errCut
		}, false, func(t *testing.T, w *fixture, l loss) {
			waittest.Until(t, "the loss was noted", func() bool {
				return strings.Contains(l.i.transcript(t, l.id), "could not ask the hypervisor")
			})
			w.over(t, l.ref)
			w.cluster.SetFault("tasks", memdriver.Fault{})
		}, outcome{job.Succeeded, 1, 1, "answers again"}, &outcome{job.Unknown, 1, 1, reach}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBothShapes(t, memdriver.Spec{}, func(t *testing.T, w *fixture) {
				ref := w.cluster.NewGuest(hypervisor.VM, hypervisor.GuestRunning)
				if c.endless {
					ref = w.endless()
				}
				switch {
				case c.then == nil:
					w.lost = 3 * time.Second
				case c.endless:
					w.settle = time.Hour
				}
				var sends atomic.Int32
				sent := make(chan func() (string, error), 10)
				i := w.unreliableHost(t, func(real func() (string, error)) (string, error) {
					sent <- real
					return c.act(w, sends.Add(1), real)
				})
				if c.endless {
					i.endOnceFound(w)
				}
				i.run(t)
				id := i.enqueue(t, w.unreliableJob(ref))
				if real := <-sent; c.then != nil {
					c.then(t, w, loss{i, id, ref, real})
				}
				want := c.outcome
				if w.Forgets && c.forgotten != nil {
					want = *c.forgotten
				}
				j := i.ended(t, id, want.status)
				w.cluster.SetFault("tasks", memdriver.Fault{})
				if got := len(w.tasks(t, ref)); got != want.tasks {
					t.Errorf("the hypervisor has %d tasks, want %d", got, want.tasks)
				}
				if sends.Load() != want.sends {
					t.Errorf("%d requests were made, want %d", sends.Load(), want.sends)
				}
				if got := i.transcript(t, id) + j.Error; !strings.Contains(got, want.note) {
					t.Errorf("no %q in\n%s", want.note, got)
				}
			})
		})
	}
}

// Tasks that look alike are not taken for the step's own: another action's, an older job's.
func TestForeignTasksAreNotAdopted(t *testing.T) {
	t.Parallel()
	inBothShapes(t, memdriver.Spec{}, func(t *testing.T, w *fixture) {
		ref := w.cluster.NewGuest(hypervisor.VM, hypervisor.GuestRunning)
		var sends atomic.Int32
		i := w.makeUnreliable(t, func(real func() (string, error)) (string, error) {
			if sends.Add(1) == 1 {
				return "", errCut
			}
			return real()
		})
		first := i.ended(t, i.enqueue(t, w.spec(ref, hypervisor.Stop)), job.Succeeded)
		i.ended(t, i.enqueue(t, w.spec(ref, hypervisor.Start)), job.Succeeded)
		second := i.ended(t, i.enqueue(t, w.unreliableJob(ref)), either(w, job.Succeeded, job.Unknown))
		if second.TaskID == first.TaskID || (second.TaskID == "") != w.Forgets {
			t.Errorf("the second stop has the task %q, the first %q", second.TaskID, first.TaskID)
		}
		if got, want := len(w.tasks(t, ref)), either(w, 3, 2); got != want {
			t.Errorf("the hypervisor has %d tasks, want %d", got, want)
		}
	})
}

// A call that hangs inside the driver is made again: the task's end is found all the same.
func TestWaitThatHangs(t *testing.T) {
	t.Parallel()
	inBothShapes(t, memdriver.Spec{}, func(t *testing.T, w *fixture) {
		w.again = 200 * time.Millisecond
		ref, i := w.endless(), w.add(t, nil)
		var waits atomic.Int64
		i.Hook(func(_ context.Context, point string, _ int64) {
			if point == "waiting" {
				waits.Add(1)
			}
		})
		w.cluster.SetFault("waittask", memdriver.Fault{Block: true})
		i.run(t)
		id := i.enqueue(t, w.spec(ref, hypervisor.Stop))
		waittest.Until(t, "the wait was begun anew", func() bool { return waits.Load() > 1 })
		task := w.once(t, ref)
		w.cluster.EndTask(task, hypervisor.TaskOK, "OK")
		w.cluster.SetFault("waittask", memdriver.Fault{}) // those that hang go on hanging
		i.ended(t, id, job.Succeeded)
	})
}

// The hypervisor is lost in the middle of the task and comes back: no line is lost and none is there twice.
func TestHostLostWhileWaiting(t *testing.T) {
	t.Parallel()
	inBothShapes(t, memdriver.Spec{}, func(t *testing.T, w *fixture) {
		ref := w.endless()
		i, g := w.add(t, nil), newGate(t)
		i.Hook(g.at("waiting"))
		i.run(t)
		id := i.enqueue(t, w.spec(ref, hypervisor.Stop))
		<-g.reached
		task := w.once(t, ref)
		w.cluster.SetFault("waittask", memdriver.Fault{Err: errCut, Late: true})
		g.release()
		waittest.Until(t, "the loss was noted", func() bool {
			return strings.Contains(i.transcript(t, id), "could not ask the hypervisor")
		})
		for n := range 20 {
			w.cluster.AddLine(task, fmt.Sprintf("line %d.", n))
		}
		w.cluster.SetFault("waittask", memdriver.Fault{})
		w.cluster.EndTask(task, hypervisor.TaskWarning, "WARNINGS: 1")
		i.ended(t, id, job.Succeeded)
		got := i.transcript(t, id)
		for n := range 20 {
			if strings.Count(got, fmt.Sprintf("line %d.", n)) != 1 {
				t.Errorf("line %d is not there once", n)
			}
		}
		if !strings.Contains(got, "answers again") || !strings.Contains(got, "ended with warnings") || strings.Count(got, "begins") != 1 {
			t.Errorf("transcript\n%s", got)
		}
	})
}

// stopWith starts an instance and a job that stops a guest with a token; a watched job has the monitoring token as well. alter changes the
// job's step.
func (w *fixture) stopWith(t *testing.T, token endpoint.Target, watched bool, alter func(*job.Step)) (
	i *instance, ref hypervisor.GuestRef, id int64) {
	t.Helper()
	w.again, w.lost = 50*time.Millisecond, time.Second
	openWith := func(target endpoint.Target) func(context.Context) (hypervisor.Host, error) {
		return func(ctx context.Context) (hypervisor.Host, error) { return w.driver.Open(ctx, target) }
	}
	ref = w.endless()
	i = w.start(t, map[string]job.Worker{"stop": job.WorkerFunc(func(ctx context.Context, run *job.Run) error {
		step := stepOn(order{ref, hypervisor.Stop}, openWith(token))
		alter(&step)
		if watched {
			step.Watch = openWith(w.cluster.Target(endpoint.Monitoring))
		}
		_, err := run.Do(ctx, step)
		return err
	})})
	spec := w.spec(ref, hypervisor.Stop)
	spec.Kind = "stop"
	return i, ref, i.enqueue(t, spec)
}

// A task whose credential is revoked meanwhile is followed with another one; without one its end is unknown.
func TestTaskIsFollowedWithAnotherCredential(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]job.Status{"watched": job.Succeeded, "alone": job.Unknown} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBothShapes(t, memdriver.Spec{}, func(t *testing.T, w *fixture) {
				token := w.cluster.NewToken(endpoint.Lifecycle, "gone", memdriver.GuestPower, memdriver.GuestAudit)
				i, ref, id := w.stopWith(t, token, name == "watched", func(*job.Step) {})
				waittest.Until(t, "the task is there", func() bool { return len(w.tasks(t, ref)) == 1 })
				task := w.once(t, ref)
				waittest.Until(t, "the job follows it", func() bool {
					j, err := i.Get(t.Context(), id, identity.VisibleTeams{All: true, Teams: []int64{}})
					return err == nil && j.TaskID == task
				})
				w.cluster.Revoke(token)
				if want == job.Succeeded {
					waittest.Until(t, "another credential follows it", func() bool {
						return strings.Contains(i.transcript(t, id), "using the monitoring token instead") || i.status(t, id) != job.Running
					})
					w.cluster.EndTask(task, hypervisor.TaskOK, "OK")
				}
				i.ended(t, id, want)
			})
		})
	}
}

// A task whose answer was lost is found with another credential where its own is revoked; without one nobody knows what became of it.
func TestTaskIsFoundWithAnotherCredential(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]job.Status{"watched": job.Succeeded, "alone": job.Unknown} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBothShapes(t, memdriver.Spec{}, func(t *testing.T, w *fixture) {
				token := w.cluster.NewToken(endpoint.Lifecycle, "gone", memdriver.GuestPower, memdriver.GuestAudit)
				i, ref, id := w.stopWith(t, token, name == "watched", func(step *job.Step) {
					send := step.Send
					step.Send = func(ctx context.Context, host hypervisor.Host) (string, error) {
						_, err := send(ctx, host)
						w.cluster.Revoke(token)
						return "", errors.Join(errCut, err)
					}
				})
				if want == job.Succeeded {
					waittest.Until(t, "the task is found", func() bool {
						return strings.Contains(i.transcript(t, id), "found the task that the request had started") ||
							len(w.tasks(t, ref)) == 1 && i.status(t, id) != job.Running
					})
					w.cluster.EndTask(w.once(t, ref), hypervisor.TaskOK, "OK")
				}
				i.ended(t, id, want)
				w.once(t, ref)
			})
		})
	}
}

func TestTaskEnds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status, message string
		want            job.Status
		text            string
	}{
		"failed": {hypervisor.TaskFailed, "got timeout", job.Failed, "got timeout"},
		"unknown": {hypervisor.TaskUnknown, "unexpected status", job.Unknown,
			"the hypervisor does not know how the task ended: unexpected status"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBothShapes(t, memdriver.Spec{}, func(t *testing.T, w *fixture) {
				ref := w.endless()
				i := w.start(t, nil)
				id := i.enqueue(t, w.spec(ref, hypervisor.Stop))
				waittest.Until(t, "the task is there", func() bool { return len(w.tasks(t, ref)) == 1 })
				w.cluster.EndTask(w.once(t, ref), c.status, c.message)
				if j := i.ended(t, id, c.want); j.Error != c.text {
					t.Errorf("error %q", j.Error)
				}
			})
		})
	}
}

func TestHostLostForGood(t *testing.T) {
	t.Parallel()
	inBothShapes(t, memdriver.Spec{}, func(t *testing.T, w *fixture) {
		w.lost = time.Second
		ref := w.endless()
		i := w.start(t, nil)
		w.cluster.SetFault("waittask", memdriver.Fault{Err: errCut})
		j := i.ended(t, i.enqueue(t, w.spec(ref, hypervisor.Stop)), job.Unknown)
		if !strings.Contains(j.Error, "could not ask the hypervisor how the task") {
			t.Errorf("error %q", j.Error)
		}
	})
}
