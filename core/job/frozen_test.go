package job_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/internal/waittest"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
)

// senders notes which instance made requests; requests do not heed their context, as one that is on its way does not.
type senders struct {
	mu   sync.Mutex
	from []string
}

func (s *senders) act(name string) func(func() (string, error)) (string, error) {
	return func(real func() (string, error)) (string, error) {
		s.mu.Lock()
		s.from = append(s.from, name)
		s.mu.Unlock()
		return real()
	}
}

func (s *senders) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.from, " ")
}

// countOver sets the hook of an instance, and counts the runs that are over.
func (i *instance) countOver(hook func(ctx context.Context, at string, id int64)) *atomic.Int32 {
	var over atomic.Int32
	i.Hook(func(ctx context.Context, at string, id int64) {
		if at == "over" {
			over.Add(1)
		}
		hook(ctx, at, id)
	})
	return &over
}

// lockHolder is the server's process that holds the lock of a job, or 0.
func (i *instance) lockHolder(t testing.TB, id int64) (pid int) {
	t.Helper()
	err := i.db.Pool.QueryRow(t.Context(), `SELECT coalesce(max(pid), 0) FROM pg_locks
		WHERE locktype = 'advisory' AND classid = 2 AND objid = $1
			AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`, id).Scan(&pid)
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

// An instance freezes right before it sends, another one takes the job over and does it, and the first thaws: one task.
func TestFrozenBeforeTheSend(t *testing.T) {
	t.Parallel()
	inBothShapes(t, memdriver.Spec{}, func(t *testing.T, w *fixture) {
		ref := w.cluster.NewGuest(hypervisor.VM, hypervisor.GuestRunning)
		var sent senders
		a := w.unreliableHost(t, sent.act("a"))
		frozen, still := make(chan struct{}), make(chan struct{})
		thaw := sync.OnceFunc(func() { close(still) })
		defer thaw()
		var once sync.Once
		over := a.countOver(func(_ context.Context, at string, _ int64) {
			if at == "before-send" {
				once.Do(func() { close(frozen); <-still }) // whatever becomes of the run
			}
		})
		a.run(t)
		id := a.enqueue(t, w.unreliableJob(ref))
		<-frozen
		a.BreakLocks() // the server gives up who is silent for too long
		b := w.makeUnreliable(t, sent.act("b"))
		b.ended(t, id, either(w, job.Succeeded, job.Unknown))
		thaw()
		waittest.Until(t, "the frozen run has ended", func() bool { return over.Load() == 1 })
		want := either(w, "b", "")
		if got := sent.String(); got != want || len(w.tasks(t, ref)) != len(want) {
			t.Errorf("requests came from %q, want %q; %d tasks", got, want, len(w.tasks(t, ref)))
		}
	})
}

// The same, and the frozen instance has noticed nothing when it thaws: what the database says then counts.
func TestThawedRunAsksBeforeTheSend(t *testing.T) {
	if testing.Short() {
		t.Skip("freezes a service: make check runs it")
	}
	t.Parallel()
	for name, c := range map[string]struct {
		// meanwhile is what happens to the job of an instance that stands still.
		meanwhile func(t *testing.T, a *instance, id int64)
		status    job.Status
		// sent is who may have sent something in the end.
		sent string
	}{
		"another run has the job": {func(t *testing.T, a *instance, id int64) {
			a.exec(t, "UPDATE jobs SET river_id = river_id + 1000000 WHERE id = $1", id)
		}, job.Succeeded, "2"},
		"the lock is gone": {func(t *testing.T, a *instance, id int64) {
			a.exec(t, "SELECT pg_terminate_backend($1)", a.lockHolder(t, id))
		}, job.Succeeded, "2"},
		"the job was ended": {func(t *testing.T, a *instance, id int64) {
			a.exec(t, "UPDATE jobs SET status = 'unknown', finished_at = now() WHERE id = $1", id)
		}, job.Unknown, ""},
		"the job shall be canceled": {func(t *testing.T, a *instance, id int64) {
			a.exec(t, "UPDATE jobs SET cancel_requested_at = now() WHERE id = $1", id)
		}, job.Canceled, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBothShapes(t, memdriver.Spec{}, func(t *testing.T, w *fixture) {
				ref := w.cluster.NewGuest(hypervisor.VM, hypervisor.GuestRunning)
				// The number of the run that makes a request.
				var run atomic.Int32
				var sent senders
				a := w.unreliableHost(t, func(real func() (string, error)) (string, error) {
					return sent.act(map[int32]string{1: "1", 2: "2"}[run.Load()])(real)
				})
				over := a.countOver(func(_ context.Context, at string, id int64) {
					if at == "begun" {
						run.Add(1)
					}
					if at == "before-send" && run.Load() == 1 {
						c.meanwhile(t, a, id)
					}
				})
				a.run(t)
				id := a.enqueue(t, w.unreliableJob(ref))
				waittest.Until(t, "the first run has ended", func() bool { return over.Load() > 0 })
				status, want := c.status, c.sent
				if status == job.Succeeded {
					status, want = either(w, status, job.Unknown), either(w, want, "")
				}
				a.ended(t, id, status)
				if got := sent.String(); got != want {
					t.Errorf("requests came from run %q, want %q", got, want)
				}
				if got := len(w.tasks(t, ref)); got != len(want) {
					t.Errorf("%d tasks, want %d", got, len(want))
				}
			})
		})
	}
}

// A run that another one has replaced, without knowing it, changes nothing of the job any more.
func TestReplacedRunChangesNothing(t *testing.T) {
	t.Parallel()
	type state struct {
		Status, Task, Progress string
		Events                 int
	}
	read := func(t *testing.T, i *instance, id int64) (s state) {
		t.Helper()
		err := i.db.Pool.QueryRow(t.Context(), `SELECT status, task_id, progress::text, (SELECT count(*) FROM job_events WHERE job_id = id)
			FROM jobs WHERE id = $1`, id).Scan(&s.Status, &s.Task, &s.Progress, &s.Events)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	for name, replace := range map[string]string{
		"by its number": "UPDATE jobs SET river_id = river_id + 1000000 WHERE id = $1",
		"by its status": "UPDATE jobs SET status = 'failed', finished_at = now() WHERE id = $1",
	} {
		for act, fn := range map[string]func(context.Context, *job.Run) error{
			"checkpoint": func(ctx context.Context, run *job.Run) error { return run.SaveCheckpoint(ctx, "mine") },
			"task":       func(ctx context.Context, run *job.Run) error { return run.SetTask(ctx, "UPID:mine") },
			"transcript": func(ctx context.Context, run *job.Run) error {
				run.Note("mine")
				select {
				case <-ctx.Done(): // it is written a moment later, in vain
					return context.Cause(ctx)
				case <-time.After(time.Minute):
					return errors.New("the transcript was written")
				}
			},
			"end": func(context.Context, *job.Run) error { return nil },
		} {
			t.Run(name+" "+act, func(t *testing.T) {
				t.Parallel()
				w := newFixture(t, memdriver.Spec{})
				var before state
				result := make(chan error, 1)
				var i *instance
				var runs atomic.Int32
				i = w.add(t, map[string]job.Worker{"mine": job.WorkerFunc(func(ctx context.Context, run *job.Run) error {
					if runs.Add(1) > 1 { // who took the job over has it
						<-ctx.Done()
						return ctx.Err()
					}
					i.exec(t, replace, run.Job().ID)
					before = read(t, i, run.Job().ID)
					err := fn(ctx, run)
					result <- err
					return err
				})})
				over := i.countOver(func(context.Context, string, int64) {})
				i.run(t)
				id := i.enqueue(t, job.Spec{Kind: "mine", Target: job.Target{Kind: "vm", ID: 1}})
				err := <-result
				if act != "end" && !errors.Is(err, job.ErrLost) {
					t.Errorf("the replaced run was told %v, want ErrLost", err)
				}
				waittest.Until(t, "the replaced run has ended", func() bool { return over.Load() > 0 })
				if after := read(t, i, id); after.Status != before.Status || after.Task != before.Task || after.Progress != before.Progress ||
					strings.Contains(i.transcript(t, id), "mine") {
					t.Errorf("the job was %+v and is %+v\n%s", before, after, i.transcript(t, id))
				}
			})
		}
	}
}
