package guest_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
	sdk "github.com/hostler/hostler/sdk/plugin"
)

// A guest is set back once: nothing tells whether it was.
func TestLostAnswerOfARollback(t *testing.T) {
	t.Parallel()
	inBothShapes(t, func(t *testing.T, b *lifecycleFixture) {
		b.wrap = func(h hypervisor.Host) hypervisor.Host { return &cutRollback{h.(*memdriver.Host)} }
		b.start(t)
		ref, p := b.guest(t, hypervisor.VM, hypervisor.GuestRunning)
		b.cluster.ChangeSnapshots(ref.ID, func([]hypervisor.Snapshot) []hypervisor.Snapshot {
			return []hypervisor.Snapshot{{Name: "one"}}
		})
		want := map[bool]job.Status{false: job.Succeeded, true: job.Unknown}[b.Forgets]
		_, transcript := b.ended(t, onSnapshot(b, t, guest.RollBack, p, hypervisor.RollbackSpec{Name: "one"}), want)
		if got := fmt.Sprint(b.words(t, ref)); got != "[snapshot_rollback]" {
			t.Errorf("the tasks %s\n%s", got, transcript)
		}
	})
}

// cutRollback goes back to the end and loses the answer.
type cutRollback struct{ *memdriver.Host }

func (h *cutRollback) RollBack(ctx context.Context, ref hypervisor.GuestRef, spec hypervisor.RollbackSpec) (string, error) {
	task, err := h.Host.RollBack(ctx, ref, spec)
	if err == nil {
		_, err = h.WaitTask(ctx, task, 0, func(hypervisor.LogLine) error { return nil })
	}
	if err != nil {
		return "", err
	}
	return "", sdk.Errorf(sdk.Unreachable, "the connection broke")
}

// cutDelete deletes a snapshot, loses the answer, and then somebody takes another one of the same name.
type cutDelete struct {
	*memdriver.Host
	sent *atomic.Int32
	took func()
}

func (h *cutDelete) DeleteSnapshot(ctx context.Context, ref hypervisor.GuestRef, name string) (string, error) {
	h.sent.Add(1)
	task, err := h.Host.DeleteSnapshot(ctx, ref, name)
	if err == nil {
		_, err = h.WaitTask(ctx, task, 0, func(hypervisor.LogLine) error { return nil })
	}
	if err != nil {
		return "", err
	}
	h.took()
	return "", sdk.Errorf(sdk.Unreachable, "the connection broke")
}

// A snapshot that was taken after the request to delete its namesake is not deleted.
func TestLostDeletionOfASnapshotThatWasTakenSince(t *testing.T) {
	t.Parallel()
	inBothShapes(t, func(t *testing.T, b *lifecycleFixture) {
		ref, p := b.guest(t, hypervisor.VM, hypervisor.GuestRunning)
		set := func(at time.Time) {
			b.cluster.ChangeSnapshots(ref.ID, func([]hypervisor.Snapshot) []hypervisor.Snapshot {
				return []hypervisor.Snapshot{{Name: "one", TakenAt: at}}
			})
		}
		set(time.Now().Add(-time.Hour))
		var sent atomic.Int32
		b.wrap = func(h hypervisor.Host) hypervisor.Host {
			return &cutDelete{h.(*memdriver.Host), &sent, func() { set(time.Now()) }}
		}
		b.start(t)
		want := map[bool]job.Status{false: job.Succeeded, true: job.Unknown}[b.Forgets]
		_, transcript := b.ended(t, onSnapshot(b, t, guest.DeleteSnapshot, p, "one"), want)
		if got := fmt.Sprint(b.snapshots(t, ref)); got != "[one]" || sent.Load() != 1 {
			t.Errorf("%d requests, the snapshots %s\n%s", sent.Load(), got, transcript)
		}
	})
}
