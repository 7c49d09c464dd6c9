package poll_test

import (
	"context"
	"math"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/internal/waittest"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// does has a job done on a guest, to a good end.
func does[P any](f *certified, work guest.Work[P], ref hypervisor.GuestRef, spec P) {
	f.t.Helper()
	queue, err := job.New(job.Config{DB: f.db, Logger: hclog.NewNullLogger()})
	if err != nil {
		f.t.Fatal(err)
	}
	(&guest.Worker{DB: f.db, Hosts: f}).Register(queue)
	if err := queue.Start(f.t.Context()); err != nil {
		f.t.Fatal(err)
	}
	defer func() { _ = queue.Stop(context.Background()) }()
	asked := guest.RequestedGuest{Kind: ref.Kind, Ref: ref.ID, UID: ref.UID, Name: string(ref.ID)}
	if err := f.db.Pool.QueryRow(f.t.Context(), "SELECT id FROM guests WHERE uid = $1", ref.UID).Scan(&asked.GuestID); err != nil {
		f.t.Fatal(err)
	}
	var id int64
	if err := f.db.Tx(f.t.Context(), func(tx *db.Tx) error {
		j, err := queue.Enqueue(f.t.Context(), tx, work.Spec(job.Target{Kind: "app", ID: asked.GuestID}, 1, 1,
			guest.Params[P]{RequestedGuest: asked, Spec: spec}))
		if err == nil {
			id = j.ID
		}
		return err
	}); err != nil {
		f.t.Fatal(err)
	}
	waittest.Until(f.t, "the job has succeeded", func() bool {
		j, err := queue.Get(f.t.Context(), id, identity.VisibleTeams{All: true, Teams: []int64{}})
		switch {
		case err != nil:
			f.t.Fatal(err)
		case j.Status.Finished() && j.Status != job.Succeeded:
			f.t.Fatalf("the job ended as %s: %s", j.Status, j.Error)
		}
		return j.Status == job.Succeeded
	})
}

// measured is a running guest with half of its cores in use.
func (f *certified) measured() hypervisor.GuestRef {
	f.t.Helper()
	ref := f.running()
	f.polls(false, 0)
	f.polls(true, 0)
	f.works(ref, 600)
	f.polls(true, 600)
	if got := f.share(ref); math.Abs(got-0.5) > 0.05 {
		f.t.Fatalf("CPU is %v before", got)
	}
	return ref
}

// A job reads the guest that it has worked on by itself: one reading of a counter neither blanks the part of the cores that is known
// nor stands in the way of the next.
func TestAJobReadsAGuestWhoseCPUIsCounted(t *testing.T) {
	t.Parallel()
	f := newCertified(t)
	ref := f.measured()
	f.passes(300)
	before := f.of(ref, "cpu, cpu_seconds, cpu_seconds_at")
	does(f, guest.TakeSnapshot, ref, hypervisor.SnapshotSpec{Name: "one"})
	if got := f.of(ref, "cpu, cpu_seconds, cpu_seconds_at"); got != before || f.of(ref, "read_at IS NOT NULL, memory IS NOT NULL") != "t,t" {
		t.Errorf("the row has %s after the job, and had %s", got, before)
	}
	if got := f.ages(ref); got != "guest 300, node 300, seen 0" {
		t.Errorf("ages: %s", got)
	}
	f.works(ref, 600)
	f.polls(true, 600) // the last reading of the counter is a quarter of an hour old
	if got := f.share(ref); math.Abs(got-600./900/2) > 0.05 {
		t.Errorf("CPU is %v after the next poll", got)
	}
}

// A guest that a job has started anew has used nothing that could be compared, however much it uses then.
func TestAJobRestartsAGuestWhoseCPUIsCounted(t *testing.T) {
	t.Parallel()
	f := newCertified(t)
	ref := f.measured()
	does(f, guest.Lifecycle(hypervisor.Restart), ref, struct{}{})
	if got := f.share(ref); got != -1 {
		t.Errorf("CPU is %v after the job", got)
	}
	f.works(ref, 5000) // more than it had used before
	f.polls(false, 30)
	f.polls(true, 30)
	if got := f.share(ref); got != -1 {
		t.Errorf("CPU is %v after one reading", got)
	}
	f.works(ref, 600)
	f.cluster.Change(ref.ID, func(g *hypervisor.Guest) { g.Uptime = nil }) // it is not really up for that long
	f.polls(true, 600)
	if got := f.share(ref); got < 0.2 || got > 0.6 {
		t.Errorf("CPU is %v after two", got)
	}
}

// What a job has read of a guest that it started is of that moment.
func TestAJobStartsAGuest(t *testing.T) {
	t.Parallel()
	f := newCertified(t)
	ref := f.cluster.NewGuest(hypervisor.Container, hypervisor.GuestStopped)
	f.polls(false, 0)
	f.polls(true, 0)
	f.passes(300)
	if got := f.ages(ref); got != "guest -1, node 300, seen 0" {
		t.Errorf("ages before: %s", got)
	}
	does(f, guest.Lifecycle(hypervisor.Start), ref, struct{}{})
	if got := f.ages(ref); got != "guest 0, node 300, seen 0" || f.of(ref, "cpu, memory") != ",1073741824" {
		t.Errorf("ages: %s; figures %s", got, f.of(ref, "cpu, memory"))
	}
	f.polls(false, 60)
	if got := f.ages(ref); got != "guest 60, node 360, seen 0" || f.of(ref, "cpu, memory") != ",1073741824" {
		t.Errorf("ages after a poll of states: %s; figures %s", got, f.of(ref, "cpu, memory"))
	}
}
