package guest_test

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
	sdk "github.com/hostler/hostler/sdk/plugin"
)

// A task that failed, or whose end nobody knows, is judged by the snapshots that are there; a half-made one is none.
func TestSnapshotTasksAreJudgedByTheList(t *testing.T) {
	t.Parallel()
	whole, half := []hypervisor.Snapshot{{Name: "one"}}, []hypervisor.Snapshot{{Name: "one", Incomplete: true}}
	take := func(b *lifecycleFixture, t *testing.T, p guest.RequestedGuest) int64 {
		return onSnapshot(b, t, guest.TakeSnapshot, p, hypervisor.SnapshotSpec{Name: "one"})
	}
	remove := func(b *lifecycleFixture, t *testing.T, p guest.RequestedGuest) int64 {
		return onSnapshot(b, t, guest.DeleteSnapshot, p, "one")
	}
	const unknown, failed = hypervisor.TaskUnknown, hypervisor.TaskFailed
	for name, c := range map[string]struct {
		ask           func(*lifecycleFixture, *testing.T, guest.RequestedGuest) int64
		before, after []hypervisor.Snapshot
		// end is how the task ends; empty for one that the hypervisor forgets.
		end  string
		want job.Status
		// text is in the job's error, or in the transcript of one that succeeded.
		text string
	}{
		"take, unknown, it is there": {take, nil, whole, unknown, job.Succeeded, `but the guest has a snapshot named "one"`},
		"take, unknown, it is half made": {take, nil, half, unknown, job.Unknown,
			`now the guest has an incomplete snapshot named "one"`},
		"take, unknown, nothing is there":  {take, nil, nil, unknown, job.Unknown, "does not know how"},
		"take, forgotten, it is there":     {take, nil, whole, "", job.Succeeded, "no longer knows the task"},
		"take, forgotten, it is half made": {take, nil, half, "", job.Unknown, "incomplete"},
		"take, failed, another's is there": {take, nil, whole, failed, job.Failed,
			`the end; now the guest has a snapshot named "one"`},
		"take, failed, it is half made":     {take, nil, half, failed, job.Failed, "the end; now the guest has an incomplete snapshot"},
		"delete, unknown, it is gone":       {remove, whole, nil, unknown, job.Succeeded, `but the guest has no snapshot named "one"`},
		"delete, unknown, it is there":      {remove, whole, whole, unknown, job.Unknown, "does not know how"},
		"delete, unknown, it is half gone":  {remove, whole, half, unknown, job.Unknown, `the snapshot "one" is incomplete`},
		"delete, forgotten, it is gone":     {remove, whole, nil, "", job.Succeeded, "no longer knows the task"},
		"delete, failed, it is gone":        {remove, whole, nil, failed, job.Succeeded, "the task failed; but the guest has no snapshot"},
		"delete, failed, it is half gone":   {remove, whole, half, failed, job.Failed, `the end; now the snapshot "one" is incomplete`},
		"delete of a half-made one, failed": {remove, half, half, failed, job.Failed, `the end; now the snapshot "one" is incomplete`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBothShapes(t, func(t *testing.T, b *lifecycleFixture) {
				b.start(t)
				ref, p := b.guest(t, hypervisor.VM, hypervisor.GuestRunning)
				p.Name = "stuck" // its tasks do not end by themselves
				b.cluster.Change(ref.ID, func(g *hypervisor.Guest) { g.Name = "stuck" })
				set := func(list []hypervisor.Snapshot) {
					b.cluster.ChangeSnapshots(ref.ID, func([]hypervisor.Snapshot) []hypervisor.Snapshot { return list })
				}
				set(c.before)
				if c.end == "" {
					b.cluster.SetFault("waittask", memdriver.Fault{Block: true})
				}
				id := c.ask(b, t, p)
				task := b.taskOf(t, id)
				set(c.after)
				if c.end != "" {
					b.cluster.EndTask(task, c.end, "the end")
				} else {
					// A new instance asks for the task anew and hears that there is none.
					_ = b.queue.Stop(t.Context())
					b.cluster.SetFault("waittask", memdriver.Fault{Err: sdk.Errorf(sdk.NotFound, "no such task")})
					b = b.another(t)
					b.worker.Register(b.queue)
					b.start(t)
				}
				j, transcript := b.ended(t, id, c.want)
				if text := map[bool]string{true: transcript, false: j.Error}[c.want == job.Succeeded]; !strings.Contains(text, c.text) {
					t.Errorf("%q is not in %q\n%s", c.text, text, transcript)
				}
				if n := b.tasks(t, ref); n != 1 {
					t.Errorf("%d tasks", n)
				}
			})
		})
	}
}

// traceless takes a snapshot at once, loses the answer, and lists no tasks; whole makes it say that there were none.
type traceless struct {
	*memdriver.Host
	sent  atomic.Int32
	whole bool
}

func (h *traceless) TakeSnapshot(ctx context.Context, ref hypervisor.GuestRef, spec hypervisor.SnapshotSpec) (string, error) {
	h.sent.Add(1)
	task, err := h.Host.TakeSnapshot(ctx, ref, spec)
	if err == nil {
		_, err = h.WaitTask(ctx, task, 0, func(hypervisor.LogLine) error { return nil })
	}
	if err != nil {
		return "", err
	}
	return "", sdk.Errorf(sdk.Unreachable, "cut")
}

func (h *traceless) Tasks(context.Context, hypervisor.TaskQuery) (hypervisor.TaskList, error) {
	if h.whole {
		return hypervisor.TaskList{CompleteSince: time.Unix(0, 0)}, nil
	}
	return hypervisor.TaskList{}, nil
}

// A request whose answer is lost and whose task is nowhere is not sent again once the snapshot is there.
func TestSnapshotOfALostRequest(t *testing.T) {
	t.Parallel()
	for text, whole := range map[string]bool{
		"the request was carried out": true, `does not reach back that far`: false,
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			inBothShapes(t, func(t *testing.T, b *lifecycleFixture) {
				h := &traceless{whole: whole}
				b.wrap = func(at hypervisor.Host) hypervisor.Host {
					h.Host = at.(*memdriver.Host)
					return h
				}
				b.start(t)
				ref, p := b.guest(t, hypervisor.VM, hypervisor.GuestRunning)
				_, transcript := b.ended(t, onSnapshot(b, t, guest.TakeSnapshot, p, hypervisor.SnapshotSpec{Name: "one"}), job.Succeeded)
				if !strings.Contains(transcript, text) || h.sent.Load() != 1 || fmt.Sprint(b.snapshots(t, ref)) != "[one]" {
					t.Errorf("%d requests, the snapshots %v\n%s", h.sent.Load(), b.snapshots(t, ref), transcript)
				}
			})
		})
	}
}

// A half-made snapshot keeps its name and is nothing to go back to; it can be deleted.
func TestHalfMadeSnapshot(t *testing.T) {
	t.Parallel()
	inBothShapes(t, func(t *testing.T, b *lifecycleFixture) {
		b.start(t)
		ref, p := b.guest(t, hypervisor.VM, hypervisor.GuestRunning)
		b.cluster.ChangeSnapshots(ref.ID, func([]hypervisor.Snapshot) []hypervisor.Snapshot {
			return []hypervisor.Snapshot{{Name: "one", Incomplete: true}}
		})
		j, _ := b.ended(t, onSnapshot(b, t, guest.TakeSnapshot, p, hypervisor.SnapshotSpec{Name: "one"}), job.Failed)
		if j.Error != `the guest has an incomplete snapshot named "one"; nothing was done` {
			t.Errorf("take: %q", j.Error)
		}
		j, _ = b.ended(t, onSnapshot(b, t, guest.RollBack, p, hypervisor.RollbackSpec{Name: "one"}), job.Failed)
		if j.Error != `the snapshot "one" is incomplete; nothing was done` {
			t.Errorf("roll back: %q", j.Error)
		}
		b.ended(t, onSnapshot(b, t, guest.DeleteSnapshot, p, "one"), job.Succeeded)
		if got := fmt.Sprint(b.snapshots(t, ref), b.words(t, ref)); got != "[] [snapshot_delete]" {
			t.Error(got)
		}
	})
}

// The name of a schedule's snapshot has the form of all names, of its longest prefix too.
func TestScheduledSnapshotNames(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 31, 13, 0, 0, 0, time.FixedZone("CET", 3600))
	for prefix, want := range map[string]string{
		"nightly": "nightly-20260131T120000", "n": "n-20260131T120000", strings.Repeat("a", 24): strings.Repeat("a", 24) + "-20260131T120000",
		"": "", strings.Repeat("a", 25): "", "1a": "", "a/b": "", "a\x00": "", "a\n": "", "ä": "", "-a": "",
	} {
		spec, err := guest.ScheduledSnapshot{Prefix: prefix}.At(at)
		if want == "" && problem.CodeOf(err) == problem.CodeInvalid {
			continue
		}
		if err != nil || spec.Name != want || !regexp.MustCompile(guest.SnapshotName).MatchString(spec.Name) {
			t.Errorf("%q: %q, %v, want %q", prefix, spec.Name, err, want)
		}
	}
}
