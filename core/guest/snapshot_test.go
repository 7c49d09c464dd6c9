package guest_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// onSnapshot enqueues work on a VM.
func onSnapshot[P any](b *lifecycleFixture, t *testing.T, work guest.Work[P], p guest.RequestedGuest, spec P) int64 {
	t.Helper()
	return b.add(t, work.Spec(job.Target{Kind: "vm", ID: p.GuestID, Name: p.Name}, 1, b.hostID, guest.Params[P]{RequestedGuest: p,
		Spec: spec}))
}

func (b *lifecycleFixture) snapshots(t *testing.T, ref hypervisor.GuestRef) (names []string) {
	t.Helper()
	at, _ := b.driver.Open(t.Context(), b.cluster.Target(endpoint.Monitoring))
	all, err := at.(hypervisor.Snapshotter).Snapshots(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		names = append(names, s.Name)
	}
	return names
}

// TakeSnapshot is a request at which the process of a test may stand still.
func (h *haltingHost) TakeSnapshot(ctx context.Context, ref hypervisor.GuestRef, spec hypervisor.SnapshotSpec) (string, error) {
	return h.at.do("snapshot", func() (string, error) { return h.Host.(hypervisor.Snapshotter).TakeSnapshot(ctx, ref, spec) })
}

// Snapshots implements hypervisor.Snapshotter.
func (h *haltingHost) Snapshots(ctx context.Context, ref hypervisor.GuestRef) ([]hypervisor.Snapshot, error) {
	return h.Host.(hypervisor.Snapshotter).Snapshots(ctx, ref)
}

// DeleteSnapshot and RollBack are requests at which the process of a test may stand still.
func (h *haltingHost) DeleteSnapshot(ctx context.Context, ref hypervisor.GuestRef, name string) (string, error) {
	return h.at.do("deletesnapshot", func() (string, error) { return h.Host.(hypervisor.Snapshotter).DeleteSnapshot(ctx, ref, name) })
}

func (h *haltingHost) RollBack(ctx context.Context, ref hypervisor.GuestRef, spec hypervisor.RollbackSpec) (string, error) {
	return h.at.do("rollback", func() (string, error) { return h.Host.(hypervisor.Snapshotter).RollBack(ctx, ref, spec) })
}

// A service that is killed while a snapshot is taken takes it once.
func TestKilledWhileASnapshotIsTaken(t *testing.T) {
	t.Parallel()
	for _, when := range []string{"before", "after"} {
		t.Run(when, func(t *testing.T) {
			t.Parallel()
			inBothShapes(t, func(t *testing.T, b *lifecycleFixture) {
				ref, p := b.guest(t, hypervisor.VM, hypervisor.GuestRunning)
				b.killed(t, when, "snapshot", job.Succeeded, func() int64 {
					return onSnapshot(b, t, guest.TakeSnapshot, p, hypervisor.SnapshotSpec{Name: "one"})
				})
				if got := fmt.Sprint(b.snapshots(t, ref), b.words(t, ref)); got != "[one] [snapshot_create]" {
					t.Error(got)
				}
			})
		})
	}
}

// A service that is killed around the request to go back to a snapshot or to delete it sends that once: where nobody can tell whether a
// guest was set back, it says so.
func TestKilledAroundASnapshotThatIsThere(t *testing.T) {
	t.Parallel()
	for _, when := range []string{"before", "after"} {
		for request, word := range map[string]string{"rollback": "snapshot_rollback", "deletesnapshot": "snapshot_delete"} {
			t.Run(when+" "+request, func(t *testing.T) {
				t.Parallel()
				inBothShapes(t, func(t *testing.T, b *lifecycleFixture) {
					ref, p := b.guest(t, hypervisor.VM, hypervisor.GuestStopped)
					b.cluster.ChangeSnapshots(ref.ID, func([]hypervisor.Snapshot) []hypervisor.Snapshot {
						return []hypervisor.Snapshot{{Name: "one", TakenAt: time.Now().Add(-time.Hour)}}
					})
					b.meanwhile = func() { b.endOf(t, ref) }
					want, words := job.Succeeded, "["+word+"]"
					if b.Forgets && request == "rollback" {
						want = job.Unknown
					}
					if b.Forgets && request == "rollback" && when == "before" {
						words = "[]"
					}
					_, transcript := b.killed(t, when, request, want, func() int64 {
						if request == "rollback" {
							return onSnapshot(b, t, guest.RollBack, p, hypervisor.RollbackSpec{Name: "one"})
						}
						return onSnapshot(b, t, guest.DeleteSnapshot, p, "one")
					})
					if got := fmt.Sprint(b.words(t, ref)); got != words {
						t.Errorf("the tasks %s, want %s\n%s", got, words, transcript)
					}
					if left := len(b.snapshots(t, ref)); (left == 0) != (request == "deletesnapshot") {
						t.Errorf("%d snapshots are left\n%s", left, transcript)
					}
				})
			})
		}
	}
}

func TestSnapshotJobs(t *testing.T) {
	t.Parallel()
	inBothShapes(t, func(t *testing.T, b *lifecycleFixture) {
		b.start(t)
		ref, p := b.guest(t, hypervisor.VM, hypervisor.GuestRunning)
		moved := ref
		moved.Node = map[string]string{"node1": "node2", "node2": "node1"}[ref.Node]
		b.cluster.Change(ref.ID, func(g *hypervisor.Guest) { g.Node = moved.Node })
		one := hypervisor.SnapshotSpec{Name: "one"}
		b.ended(t, onSnapshot(b, t, guest.TakeSnapshot, p, one), job.Succeeded)
		if j, _ := b.ended(t, onSnapshot(b, t, guest.TakeSnapshot, p, one), job.Failed); !strings.Contains(j.Error,
			`the guest has a snapshot named "one"; nothing was done`) {
			t.Errorf("a name that is taken: %q", j.Error)
		}
		b.ended(t, onSnapshot(b, t, guest.RollBack, p, hypervisor.RollbackSpec{Name: "one"}), job.Succeeded)
		if j, _ := b.ended(t, onSnapshot(b, t, guest.RollBack, p, hypervisor.RollbackSpec{Name: "two"}), job.Failed); !strings.Contains(j.Error,
			`no snapshot named "two"`) {
			t.Errorf("an unknown name: %q", j.Error)
		}
		b.cluster.Change(ref.ID, func(g *hypervisor.Guest) { g.Lock = "backup" })
		if j, _ := b.ended(t, onSnapshot(b, t, guest.DeleteSnapshot, p, "one"), job.Failed); !strings.Contains(j.Error, "is locked (backup)") {
			t.Errorf("a lock: %q", j.Error)
		}
		b.cluster.Change(ref.ID, func(g *hypervisor.Guest) { g.Lock = "" })
		b.ended(t, onSnapshot(b, t, guest.DeleteSnapshot, p, "one"), job.Succeeded)
		if _, transcript := b.ended(t, onSnapshot(b, t, guest.DeleteSnapshot, p, "one"), job.Succeeded); !strings.Contains(transcript,
			"nothing to do: the guest has no snapshot") {
			t.Errorf("deleting it again:\n%s", transcript)
		}
		if got := fmt.Sprint(b.words(t, moved)); got != "[snapshot_create snapshot_rollback snapshot_delete]" {
			t.Errorf("the tasks %s", got)
		}
	})
}
