package job_test

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/core/secret"
	"github.com/hostler/hostler/internal/sampletest"
	"github.com/hostler/hostler/internal/waittest"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
)

// everything sees all jobs.
var everything = identity.VisibleTeams{All: true, Teams: []int64{}}

// fixture is one database and one hypervisor for any number of instances of the queue.
type fixture struct {
	memdriver.Shape
	url     string
	driver  *memdriver.Driver
	cluster *memdriver.Cluster
	settle  time.Duration
	lost    time.Duration
	// again is WaitLimit; zero takes the default.
	again time.Duration
	// stop is StopLimit; zero is more than any safe point is away.
	stop time.Duration
	// unable is IsUnavailable.
	unable func(error) bool
	// keys seal parameters; nil seals none.
	keys *secret.Box
	// place and gone are Place and PlaceLostLimit of the instances that are added next.
	place string
	gone  time.Duration
}

const address = "pool.mem:8006"

// newFixture is for tests in which it does not matter what the hypervisor is like.
func newFixture(t testing.TB, spec memdriver.Spec) *fixture {
	t.Helper()
	return newFixtureOf(t, memdriver.Tokens, spec)
}

func newFixtureOf(t testing.TB, shape memdriver.Shape, spec memdriver.Spec) *fixture {
	t.Helper()
	w := &fixture{Shape: shape, url: dbtest.URL(t), settle: 300 * time.Millisecond, lost: time.Minute}
	_, w.driver = shape.New()
	spec.TaskMemory = time.Hour
	w.cluster = w.driver.Add(address, spec)
	return w
}

// inBothShapes runs a test on a hypervisor of each shape, or with -short on one of them.
func inBothShapes(t *testing.T, spec memdriver.Spec, test func(t *testing.T, w *fixture)) {
	t.Helper()
	for _, shape := range sampletest.OneOf(t.Name(), memdriver.Shapes()) {
		t.Run(shape.Name, func(t *testing.T) {
			t.Parallel()
			test(t, newFixtureOf(t, shape, spec))
		})
	}
}

// either is what is to be expected where the list of tasks tells what became of a request whose answer was lost, or else where
// it has forgotten: nothing is sent again there, and nobody knows whether it was carried out.
func either[T any](w *fixture, listed, forgotten T) T {
	if w.Forgets {
		return forgotten
	}
	return listed
}

// cutAt is how a job ends that was cut off at a point, and how many tasks its guest has then. A task that was begun has ended after it.
func (w *fixture) cutAt(t testing.TB, point string, ref hypervisor.GuestRef) (status job.Status, tasks int) {
	t.Helper()
	switch point {
	case "before-send":
		return either(w, job.Succeeded, job.Unknown), either(w, 1, 0)
	case "after-send":
		w.over(t, ref)
		return either(w, job.Succeeded, job.Unknown), 1
	}
	return job.Succeeded, 1
}

// over waits until a guest's tasks have ended, of which there must be one at least.
func (w *fixture) over(t testing.TB, ref hypervisor.GuestRef) {
	t.Helper()
	waittest.Until(t, "the task has ended", func() bool {
		tasks := w.tasks(t, ref)
		return len(tasks) > 0 && !slices.ContainsFunc(tasks, func(t hypervisor.Task) bool { return t.Status == hypervisor.TaskRunning })
	})
}

// instance is one service of several on a fixture.
type instance struct {
	*job.Queue
	db *db.DB
}

// add makes an instance that knows the kinds "act" (a step on a guest) and those given, and does not start it.
func (w *fixture) add(t testing.TB, kinds map[string]job.Worker) *instance {
	t.Helper()
	d := dbtest.Open(t, w.url)
	var keys secret.Keys
	if w.keys != nil {
		keys = w.keys
	}
	q, err := job.New(job.Config{
		Keys: keys,
		DB:   d, Logger: logger(t), ResumeEvery: 300 * time.Millisecond, Settle: w.settle, UnreachableLimit: w.lost, WaitLimit: w.again,
		StopLimit: cmp.Or(w.stop, time.Minute), MaxLines: 500,
		IsUnavailable: w.unable, Place: w.place, PlaceLostLimit: w.gone,
	})
	if err != nil {
		t.Fatal(err)
	}
	q.Register("act", job.WorkerFunc(func(ctx context.Context, run *job.Run) error {
		_, err := run.Do(ctx, w.step(run))
		return err
	}))
	for kind, worker := range kinds {
		q.Register(kind, worker)
	}
	return &instance{q, d}
}

// start makes an instance and runs it until the test ends.
func (w *fixture) start(t testing.TB, kinds map[string]job.Worker) *instance {
	t.Helper()
	i := w.add(t, kinds)
	i.run(t)
	return i
}

func (i *instance) run(t testing.TB) {
	t.Helper()
	if err := i.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = i.Stop(context.Background()) })
}

// order is the parameters of the kind "act".
type order struct {
	Ref    hypervisor.GuestRef
	Action hypervisor.Action
}

func (w *fixture) open() hypervisor.Host {
	host, _ := w.driver.Open(context.Background(), w.cluster.Target(endpoint.Lifecycle))
	return host
}

func (w *fixture) step(run *job.Run) job.Step {
	var o order
	if err := run.Params(&o); err != nil {
		panic(err)
	}
	return stepOn(o, func(context.Context) (hypervisor.Host, error) { return w.open(), nil })
}

func stepOn(o order, open func(context.Context) (hypervisor.Host, error)) job.Step {
	return job.Step{
		Name: "act", Open: open,
		Before: func(ctx context.Context) (time.Time, bool, error) {
			host, err := open(ctx)
			if err != nil {
				return time.Time{}, false, err
			}
			guest, err := host.Guest(ctx, o.Ref)
			return guest.At, false, err
		},
		Send: func(ctx context.Context, host hypervisor.Host) (string, error) {
			return host.(hypervisor.LifecycleManager).Act(ctx, o.Ref, o.Action)
		},
		Query:  func() hypervisor.TaskQuery { return hypervisor.TaskQuery{Guest: &o.Ref} },
		IsOurs: func(task hypervisor.Task) bool { return task.Operation == o.Action.Operation() },
	}
}

// spec is a job of the kind "act".
func (w *fixture) spec(ref hypervisor.GuestRef, action hypervisor.Action) job.Spec {
	return job.Spec{
		Kind: "act", Target: job.Target{Kind: "vm", ID: number(ref), Name: "vm-" + string(ref.ID)}, TeamID: 1,
		Exclusive: "guest:" + string(ref.ID), Params: order{ref, action},
	}
}

// number is the guest's id as the target of a job.
func number(ref hypervisor.GuestRef) int64 {
	text := string(ref.ID) // "100" or "vm-100"
	n, _ := strconv.ParseInt(text[strings.LastIndexByte(text, '-')+1:], 10, 64)
	return n
}

func (i *instance) exec(t testing.TB, sql string, args ...any) {
	t.Helper()
	if _, err := i.db.Pool.Exec(context.Background(), sql, args...); err != nil {
		t.Errorf("%s: %v", sql, err)
	}
}

func (i *instance) enqueue(t testing.TB, spec job.Spec) int64 {
	t.Helper()
	id, err := i.tryEnqueue(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func (i *instance) tryEnqueue(ctx context.Context, spec job.Spec) (id int64, err error) {
	err = i.db.Tx(ctx, func(tx *db.Tx) error {
		j, err := i.Enqueue(ctx, tx, spec)
		if err == nil {
			id = j.ID
		}
		return err
	})
	return id, err
}

func (i *instance) cancel(t testing.TB, id int64) {
	t.Helper()
	err := i.db.Tx(t.Context(), func(tx *db.Tx) error {
		_, err := i.Cancel(t.Context(), tx, id, everything)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// finished waits for the end of a job.
func (i *instance) finished(t testing.TB, id int64) *job.Job {
	t.Helper()
	var j *job.Job
	waittest.Until(t, fmt.Sprintf("job %d has ended", id), func() bool {
		var err error
		if j, err = i.Get(t.Context(), id, everything); err != nil {
			return false
		}
		return j.Status.Finished()
	})
	return j
}

// ended waits for the end of a job and checks its status.
func (i *instance) ended(t testing.TB, id int64, want job.Status) *job.Job {
	t.Helper()
	j := i.finished(t, id)
	if j.Status != want {
		t.Fatalf("job %d ended as %s (%s), want %s\n%s", id, j.Status, j.Error, want, i.transcript(t, id))
	}
	return j
}

// transcript is the job's events, checked to be without a gap, one "kind: text" a line.
func (i *instance) transcript(t testing.TB, id int64) string {
	t.Helper()
	var lines []string
	for after := 0; ; {
		events, err := i.Events(context.Background(), id, after, job.MaxEvents)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range events {
			after++
			if e.Seq != after {
				t.Errorf("event %d has the number %d", after, e.Seq)
			}
			lines = append(lines, e.Kind+": "+e.Text)
		}
		if len(events) < job.MaxEvents {
			return strings.Join(lines, "\n")
		}
	}
}

// tasks are those that the hypervisor has for a guest, without the one that made it.
func (w *fixture) tasks(t testing.TB, ref hypervisor.GuestRef) []hypervisor.Task {
	t.Helper()
	return slices.DeleteFunc(w.cluster.Tasks(), func(t hypervisor.Task) bool { return t.GuestID != ref.ID || t.Operation == "" })
}

// once checks that exactly one task was started for a guest, and gives its id.
func (w *fixture) once(t testing.TB, ref hypervisor.GuestRef) string {
	t.Helper()
	tasks := w.tasks(t, ref)
	if len(tasks) != 1 {
		t.Fatalf("the hypervisor has %d tasks for guest %s, want 1", len(tasks), ref.ID)
	}
	return tasks[0].ID
}

// gate lets a test hold runs at a point and let them go.
type gate struct {
	reached chan int64
	open    chan struct{}
	once    sync.Once
}

func newGate(t testing.TB) *gate {
	g := &gate{reached: make(chan int64, 100), open: make(chan struct{})}
	t.Cleanup(g.release)
	return g
}

func (g *gate) release() { g.once.Do(func() { close(g.open) }) }

// at is a hook that holds runs at one point until release or the run's end.
func (g *gate) at(point string) func(context.Context, string, int64) {
	return func(ctx context.Context, at string, id int64) {
		if at != point {
			return
		}
		select {
		case <-g.open:
			return
		default:
		}
		g.reached <- id
		select {
		case <-g.open:
		case <-ctx.Done():
		}
	}
}

func logger(t testing.TB) hclog.Logger {
	if os.Getenv("HOSTLER_TEST_LOG") == "" {
		return hclog.NewNullLogger()
	}
	return hclog.New(&hclog.LoggerOptions{Name: t.Name(), Level: hclog.Debug, Output: os.Stderr})
}
