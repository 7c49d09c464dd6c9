package guest_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
	sdk "github.com/hostler/hostler/sdk/plugin"
)

// The answer to an action is lost, before or after it was carried out. Where the list of tasks forgets, the guest's state tells
// whether it may be sent again; a restart and a reset are not.
func TestLostAnswerOfEachAction(t *testing.T) {
	t.Parallel()
	const running, stopped, paused = hypervisor.GuestRunning, hypervisor.GuestStopped, hypervisor.GuestPaused
	const vm, container = hypervisor.VM, hypervisor.Container
	for _, c := range []struct {
		kind   hypervisor.GuestKind
		action hypervisor.Action
		before string
		again  bool // what is there tells that it was not carried out
	}{
		{vm, hypervisor.Start, stopped, true}, {vm, hypervisor.Stop, running, true}, {vm, hypervisor.Shutdown, running, true},
		{vm, hypervisor.Pause, running, true}, {vm, hypervisor.Resume, paused, true},
		{vm, hypervisor.Restart, running, false}, {vm, hypervisor.Reset, running, false},
		{container, hypervisor.Pause, running, true}, {container, hypervisor.Resume, paused, true},
	} {
		for _, taken := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s of a %s, taken %v", c.action, c.kind, taken), func(t *testing.T) {
				t.Parallel()
				inBothShapes(t, func(t *testing.T, b *lifecycleFixture) {
					var sent atomic.Int32
					if !b.knows(t, c.kind, c.action) {
						t.Skipf("a %s of this shape has no action %s", c.kind, c.action)
					}
					b.wrap = func(h hypervisor.Host) hypervisor.Host {
						return &cut{Host: h.(*memdriver.Host), sent: &sent, taken: taken}
					}
					b.start(t)
					ref, p := b.guest(t, c.kind, c.before)
					want := job.Succeeded
					if b.Forgets && !c.again {
						want = job.Unknown
					}
					j, transcript := b.ended(t, b.enqueue(t, p, c.action), want)
					tasks := 1
					if want == job.Unknown && !taken {
						tasks = 0
					}
					if n := b.tasks(t, ref); n != tasks {
						t.Errorf("%d tasks, want %d\n%s", n, tasks, transcript)
					}
					for _, text := range []string{"does not reach back that far", "it has been running since"} {
						if want == job.Unknown && !strings.Contains(j.Error, text) {
							t.Errorf("error %q, want %q in it", j.Error, text)
						}
					}
					if requests := map[bool]int32{true: 1, false: 2}[taken || want == job.Unknown]; sent.Load() != requests {
						t.Errorf("%d requests, want %d\n%s", sent.Load(), requests, transcript)
					}
				})
			})
		}
	}
}

// cut loses the answer to the first action, which is carried out to its end before or never is.
type cut struct {
	*memdriver.Host
	sent  *atomic.Int32
	taken bool
}

func (h *cut) Act(ctx context.Context, ref hypervisor.GuestRef, action hypervisor.Action) (string, error) {
	if h.sent.Add(1) > 1 {
		return h.Host.Act(ctx, ref, action)
	}
	if h.taken {
		task, err := h.Host.Act(ctx, ref, action)
		if err == nil {
			_, err = h.WaitTask(ctx, task, 0, func(hypervisor.LogLine) error { return nil })
		}
		if err != nil {
			return "", err
		}
	}
	return "", sdk.Errorf(sdk.Unreachable, "the connection broke")
}

// losing carries the first action out, loses the answer and does something then; it counts the requests.
func (b *lifecycleFixture) losing(after func(ref hypervisor.GuestRef)) (requests *atomic.Int32) {
	requests = new(atomic.Int32)
	b.wrap = func(h hypervisor.Host) hypervisor.Host {
		return &losing{&cut{Host: h.(*memdriver.Host), sent: requests, taken: true}, after}
	}
	return requests
}

type losing struct {
	*cut
	after func(ref hypervisor.GuestRef)
}

func (h *losing) Act(ctx context.Context, ref hypervisor.GuestRef, action hypervisor.Action) (string, error) {
	task, err := h.cut.Act(ctx, ref, action)
	h.after(ref)
	return task, err
}

// What is there tells nothing when it came to be after the request: the stopped guest was started by somebody else.
func TestLostStopOfAGuestThatWasStartedSince(t *testing.T) {
	t.Parallel()
	inBothShapes(t, func(t *testing.T, b *lifecycleFixture) {
		requests := b.losing(func(ref hypervisor.GuestRef) {
			admin, err := b.driver.Open(context.Background(), b.cluster.NewToken("lifecycle", "admin", memdriver.GuestPower, memdriver.GuestAudit))
			if err != nil {
				t.Error(err)
			}
			task, err := admin.(hypervisor.LifecycleManager).Act(context.Background(), ref, hypervisor.Start)
			if err != nil {
				t.Error(err)
			}
			_, err = admin.WaitTask(context.Background(), task, 0, func(hypervisor.LogLine) error { return nil })
			if err != nil {
				t.Error(err)
			}
		})
		b.start(t)
		ref, p := b.guest(t, hypervisor.VM, hypervisor.GuestRunning)
		want := map[bool]job.Status{false: job.Succeeded, true: job.Unknown}[b.Forgets]
		j, transcript := b.ended(t, b.enqueue(t, p, hypervisor.Stop), want)
		if got := fmt.Sprint(b.words(t, ref)); got != "[stop start]" || requests.Load() != 1 || b.Forgets &&
			!strings.Contains(j.Error, "it has been running since") {
			t.Errorf("the tasks %s, %d requests, error %q\n%s", got, requests.Load(), j.Error, transcript)
		}
	})
}

// A job that is canceled when its answer is lost does not say that nothing was done unless that is known.
func TestCanceledWithALostAnswer(t *testing.T) {
	t.Parallel()
	inBothShapes(t, func(t *testing.T, b *lifecycleFixture) {
		var sent atomic.Int32
		b.wrap = func(h hypervisor.Host) hypervisor.Host {
			return &losing{&cut{Host: h.(*memdriver.Host), sent: &sent}, func(hypervisor.GuestRef) { b.cancelAll(t) }}
		}
		b.start(t)
		ref, p := b.guest(t, hypervisor.VM, hypervisor.GuestRunning)
		want := map[bool]job.Status{false: job.Canceled, true: job.Unknown}[b.Forgets]
		j, transcript := b.ended(t, b.enqueue(t, p, hypervisor.Stop), want)
		text := map[bool]string{false: "canceled; the request did not reach", true: "canceled after a request was sent; "}[b.Forgets]
		if b.tasks(t, ref) != 0 || sent.Load() != 1 || !strings.Contains(transcript+j.Error, text) {
			t.Errorf("%d tasks, %d requests, error %q\n%s", b.tasks(t, ref), sent.Load(), j.Error, transcript)
		}
	})
}

// A guest that moves after the request left its task on the node that it was on.
func TestLostAnswerOfAGuestThatMovedSince(t *testing.T) {
	t.Parallel()
	inBothShapes(t, func(t *testing.T, b *lifecycleFixture) {
		requests := b.losing(func(ref hypervisor.GuestRef) {
			b.cluster.Change(ref.ID, func(g *hypervisor.Guest) {
				g.Node = map[string]string{"node1": "node2", "node2": "node1"}[g.Node]
			})
		})
		b.start(t)
		ref, p := b.guest(t, hypervisor.VM, hypervisor.GuestRunning)
		want := map[bool]job.Status{false: job.Succeeded, true: job.Unknown}[b.Forgets]
		j, transcript := b.ended(t, b.enqueue(t, p, hypervisor.Restart), want)
		if got := fmt.Sprint(b.words(t, ref)); got != "[restart]" || requests.Load() != 1 || b.Forgets &&
			!strings.Contains(j.Error, "not where the request was sent") {
			t.Errorf("the tasks %s, %d requests, error %q\n%s", got, requests.Load(), j.Error, transcript)
		}
	})
}
