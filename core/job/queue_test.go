package job_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/internal/waittest"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
	"github.com/hostler/hostler/sdk/plugin"
)

func TestJobRunsToItsEnd(t *testing.T) {
	t.Parallel()
	inBothShapes(t, memdriver.Spec{VMs: 1}, func(t *testing.T, w *fixture) {
		i := w.start(t, nil)
		ref := w.cluster.NewGuest(hypervisor.VM, hypervisor.GuestRunning)
		ctx := identity.WithCaller(t.Context(), &identity.Caller{UserID: seedUser(t, i.db), Email: "ann@example.org"})
		ctx, attempt := audit.Begin(ctx, audit.Entry{Action: "vm.stop"})
		id, err := i.tryEnqueue(ctx, w.spec(ref, hypervisor.Stop))
		if err != nil {
			t.Fatal(err)
		}
		if got := attempt.Entry().JobID; got == nil || *got != id {
			t.Errorf("the audit attempt names job %v, want %d", got, id)
		}
		j := i.ended(t, id, job.Succeeded)
		if task := w.once(t, ref); j.TaskID != task {
			t.Errorf("task %q, want %q", j.TaskID, task)
		}
		if j.RequestedByEmail != "ann@example.org" || j.RequestedBy == nil || j.StartedAt == nil || j.FinishedAt == nil || j.Runs != 1 {
			t.Errorf("got %+v", j)
		}
		want := fmt.Sprintf("status: queued\nstatus: running\nlog: stop of vm %s begins\nlog: guest is stopped\nstatus: succeeded", ref.ID)
		if got := i.transcript(t, id); got != want {
			t.Errorf("transcript\n%s\nwant\n%s", got, want)
		}
	})
}

func seedUser(t testing.TB, d *db.DB) (id int64) {
	t.Helper()
	err := d.Pool.QueryRow(t.Context(),
		`INSERT INTO users (email, email_key, password_hash) VALUES ('ann@example.org', 'ann@example.org', '') RETURNING id`).Scan(&id)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// A team that was deleted, and a user, since the request was let in keep nobody from asking for a job.
func TestJobOfATeamAndAUserThatAreGone(t *testing.T) {
	t.Parallel()
	inBothShapes(t, memdriver.Spec{VMs: 1}, func(t *testing.T, w *fixture) {
		i := w.start(t, nil)
		ref := w.cluster.NewGuest(hypervisor.VM, hypervisor.GuestRunning)
		spec := w.spec(ref, hypervisor.Stop)
		spec.TeamID = 999
		id, err := i.tryEnqueue(identity.WithCaller(t.Context(), &identity.Caller{UserID: 999, Email: "gone@example.org"}), spec)
		if err != nil {
			t.Fatal(err)
		}
		if j := i.ended(t, id, job.Succeeded); j.TeamID != nil || j.RequestedBy != nil || j.RequestedByEmail != "gone@example.org" {
			t.Errorf("%+v", j)
		}
	})
}

func TestEnqueueIsPartOfTheTransaction(t *testing.T) {
	t.Parallel()
	inBothShapes(t, memdriver.Spec{VMs: 1}, func(t *testing.T, w *fixture) {
		i := w.start(t, nil)
		ref := w.cluster.Guests()[0]
		stop := errors.New("stop")
		err := i.db.Tx(t.Context(), func(tx *db.Tx) error {
			_, err := i.Enqueue(t.Context(), tx, w.spec(ref, hypervisor.Start))
			return errors.Join(err, stop)
		})
		if !errors.Is(err, stop) {
			t.Fatal(err)
		}
		var rows int
		if err := i.db.Pool.QueryRow(t.Context(), "SELECT (SELECT count(*) FROM jobs) + (SELECT count(*) FROM river_job) + (SELECT count(*) "+
			"FROM job_events)").Scan(&rows); err != nil || rows != 0 {
			t.Fatalf("%d rows are left, %v", rows, err)
		}
	})
}

func TestOneUnfinishedJobPerThing(t *testing.T) {
	t.Parallel()
	inBothShapes(t, memdriver.Spec{VMs: 1}, func(t *testing.T, w *fixture) {
		i := w.add(t, nil)
		ref := w.cluster.Guests()[0]
		first := i.enqueue(t, w.spec(ref, hypervisor.Start))
		var refused *problem.Error
		err := i.db.Tx(t.Context(), func(tx *db.Tx) error {
			if _, err := i.Enqueue(t.Context(), tx, w.spec(ref, hypervisor.Stop)); !errors.As(err, &refused) {
				t.Fatalf("got %v, want a problem", err)
			}
			// The transaction still works.
			return tx.Exec("INSERT INTO settings (key, value) VALUES ('after', '1')").Error
		})
		if err != nil {
			t.Fatal(err)
		}
		if refused.Code != problem.CodeGuestBusy || refused.Members["job"] != first {
			t.Fatalf("got %v with %v, want guest_busy with job %d", refused, refused.Members, first)
		}
		i.run(t)
		i.ended(t, first, job.Succeeded)
		i.ended(t, i.enqueue(t, w.spec(ref, hypervisor.Stop)), job.Succeeded)
	})
}

func TestUnknownKindIsNotEnqueued(t *testing.T) {
	t.Parallel()
	w := newFixture(t, memdriver.Spec{})
	if _, err := w.add(t, nil).tryEnqueue(t.Context(), job.Spec{Kind: "nothing"}); err == nil {
		t.Fatal("a job that nobody can do was taken")
	}
}

func TestRegisterTwicePanics(t *testing.T) {
	t.Parallel()
	i := newFixture(t, memdriver.Spec{}).add(t, nil)
	defer func() {
		if recover() == nil {
			t.Error("a second worker for a kind was taken")
		}
	}()
	i.Register("act", job.WorkerFunc(func(context.Context, *job.Run) error { return nil }))
}

// What a worker returns decides how its job ends, and no text of an inner error gets out.
func TestEnds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		work   func() error
		status job.Status
		text   string
	}{
		"nil":          {func() error { return nil }, job.Succeeded, ""},
		"fail":         {func() error { return fmt.Errorf("outer: %w", job.Fail("disk %d is full", 3)) }, job.Failed, "disk 3 is full"},
		"undetermined": {func() error { return job.Undetermined("nobody knows") }, job.Unknown, "nobody knows"},
		"stopped":      {func() error { return job.Stopped("no more") }, job.Canceled, ""},
		"problem":      {func() error { return problem.New(problem.CodeCapabilityMissing, "no token") }, job.Failed, "no token"},
		"hypervisor": {func() error {
			return fmt.Errorf("acting: %w", &plugin.Error{Kind: plugin.Denied, Message: "x", Missing: []string{"VM.PowerMgmt"}, Path: "/vms/1"})
		}, job.Failed, "the token lacks VM.PowerMgmt on /vms/1"},
		"internal": {func() error { return errors.New("password=hunter2") }, job.Failed,
			"an internal error occurred; see the service's log for details"},
		"panic": {func() error { panic("password=hunter2") }, job.Failed,
			"an internal error occurred while running the job; see the service's log for details"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newFixture(t, memdriver.Spec{})
			i := w.start(t, map[string]job.Worker{name: job.WorkerFunc(func(context.Context, *job.Run) error { return c.work() })})
			j := i.ended(t, i.enqueue(t, job.Spec{Kind: name, Target: job.Target{Kind: "vm", ID: 1}}), c.status)
			if j.Error != c.text {
				t.Errorf("error %q, want %q", j.Error, c.text)
			}
			if strings.Contains(i.transcript(t, j.ID), "hunter2") {
				t.Error("an inner error is in the transcript")
			}
		})
	}
}

// Four at a time over all instances together, whatever is in the line; nothing is lost and nothing is done twice.
func TestTwoInstancesShareTheSlots(t *testing.T) {
	if testing.Short() {
		t.Skip("runs several instances: make check runs it")
	}
	t.Parallel()
	const jobs = 200
	w := newFixture(t, memdriver.Spec{})
	var now, most, done atomic.Int64
	worker := job.WorkerFunc(func(context.Context, *job.Run) error {
		n := now.Add(1)
		defer now.Add(-1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		time.Sleep(2 * time.Millisecond)
		done.Add(1)
		return nil
	})
	kinds := map[string]job.Worker{"short": worker}
	a, b := w.start(t, kinds), w.start(t, kinds)
	errs := make(chan error, 2)
	for n, i := range []*instance{a, b} {
		go func() {
			for k := range jobs / 2 {
				if _, err := i.tryEnqueue(t.Context(), job.Spec{Kind: "short", Target: job.Target{Kind: "vm", ID: int64(n*jobs + k)}}); err != nil {
					errs <- err
					return
				}
			}
			errs <- nil
		}()
	}
	for range 2 {
		if err := <-errs; err != nil {
			t.Fatal(err)
		}
	}
	began := time.Now()
	waittest.Until(t, "all jobs have ended", func() bool {
		_, left, err := a.List(t.Context(), job.Filter{}, everything)
		if err != nil {
			t.Fatal(err)
		}
		_, succeeded, _ := a.List(t.Context(), job.Filter{Status: job.Succeeded}, everything)
		return left == jobs && succeeded == jobs
	})
	t.Logf("%d jobs of 2 ms in %v, at most %d at once", jobs, time.Since(began).Round(time.Millisecond), most.Load())
	if most.Load() > 4 {
		t.Errorf("%d jobs ran at once, want at most 4", most.Load())
	}
	if done.Load() != jobs {
		t.Errorf("%d jobs were done, want %d", done.Load(), jobs)
	}
}

// Jobs begin in the order in which they were enqueued.
func TestFirstInFirstOut(t *testing.T) {
	t.Parallel()
	w := newFixture(t, memdriver.Spec{})
	kinds := map[string]job.Worker{"quick": job.WorkerFunc(func(context.Context, *job.Run) error { return nil })}
	a, b := w.add(t, kinds), w.add(t, kinds)
	var ids []int64
	for k := range 24 {
		ids = append(ids, a.enqueue(t, job.Spec{Kind: "quick", Target: job.Target{Kind: "vm", ID: int64(k)}}))
	}
	a.run(t)
	b.run(t)
	for _, id := range ids {
		a.ended(t, id, job.Succeeded)
	}
	var displaced int
	err := a.db.Pool.QueryRow(t.Context(), `
		SELECT count(*) FROM (SELECT row_number() OVER (ORDER BY started_at) - row_number() OVER (ORDER BY id) AS d FROM jobs) x
		WHERE abs(d) > 8`).Scan(&displaced)
	if err != nil || displaced > 0 {
		t.Errorf("%d jobs began out of their turn, %v", displaced, err)
	}
}
