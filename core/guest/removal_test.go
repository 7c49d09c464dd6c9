package guest_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// removal stops a guest and takes it away. To the hypervisor in memory the second step is a start; the tests take the guest
// away while it is carried out.
func removal() guest.Work[struct{}] {
	w := bounce()
	w.Kind = "removal"
	w.Steps[1].Name, w.Steps[1].State, w.Steps[1].Removes = "remove", nil, true
	return w
}

func (b *lifecycleFixture) removal(t *testing.T, p guest.RequestedGuest) int64 {
	t.Helper()
	return b.add(t, removal().Spec(job.Target{Kind: "vm", ID: p.GuestID, Name: p.Name}, 1, b.hostID,
		guest.Params[struct{}]{RequestedGuest: p}))
}

// drop takes a guest out of the hypervisor and out of the inventory.
func (b *lifecycleFixture) drop(t *testing.T, ref hypervisor.GuestRef, p guest.RequestedGuest) {
	t.Helper()
	b.cluster.Remove(ref.ID)
	if _, err := b.db.Pool.Exec(context.Background(), "DELETE FROM guests WHERE id = $1", p.GuestID); err != nil {
		t.Error(err)
	}
}

// remover takes the guest away within the second request. The request's task then ends as it is told.
type remover struct {
	hypervisor.Host
	b      *lifecycleFixture
	remove func(ref hypervisor.GuestRef)
	end    string
}

func (h *remover) Act(ctx context.Context, ref hypervisor.GuestRef, action hypervisor.Action) (string, error) {
	if action == hypervisor.Start {
		h.b.cluster.Change(ref.ID, func(g *hypervisor.Guest) { g.Name = "stuck" }) // its tasks do not end by themselves
	}
	task, err := h.Host.(hypervisor.LifecycleManager).Act(ctx, ref, action)
	if err == nil && action == hypervisor.Start {
		h.remove(ref)
		h.b.cluster.EndTask(task, h.end, "the end")
	}
	return task, err
}

// outlived holds a job against what users read of it when its guest is gone.
func (b *lifecycleFixture) outlived(t *testing.T, j *job.Job, p guest.RequestedGuest, transcript string) {
	t.Helper()
	if want := (job.Target{Kind: "vm", ID: p.GuestID, Name: p.Name}); j.Target != want || j.View().Target != want || j.HostID == nil {
		t.Errorf("the job is %+v", j.View())
	}
	listed, total, err := b.queue.List(t.Context(), job.Filter{}, identity.VisibleTeams{Teams: []int64{1}})
	if err != nil || total != 1 || listed[0].ID != j.ID {
		t.Errorf("%d jobs are listed: %v, %v", total, listed, err)
	}
	if !strings.Contains(transcript, "stop of vm") || strings.Contains(transcript, "could not read the guest's new state") {
		t.Errorf("the transcript:\n%s", transcript)
	}
}

// A job whose last step takes the guest away ends well by the guest's absence, and is read as before when the inventory has
// dropped the guest.
func TestJobOutlivesItsGuest(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		end  string
		stay bool
		want job.Status
		text string
	}{
		"the task ends well":                {hypervisor.TaskOK, false, job.Succeeded, ""},
		"the task fails, the guest is gone": {hypervisor.TaskFailed, false, job.Succeeded, "task failed; but the guest no longer exists"},
		"its end is unknown, it is gone":    {hypervisor.TaskUnknown, false, job.Succeeded, "but the guest no longer exists"},
		"the task fails, it is there":       {hypervisor.TaskFailed, true, job.Failed, "the end"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBothShapes(t, func(t *testing.T, b *lifecycleFixture) {
				guest.Register(b.queue, b.worker, removal())
				ref, p := b.guest(t, hypervisor.VM, hypervisor.GuestRunning)
				b.wrap = func(h hypervisor.Host) hypervisor.Host {
					return &remover{Host: h, b: b, end: c.end, remove: func(ref hypervisor.GuestRef) {
						if !c.stay {
							b.drop(t, ref, p)
						}
					}}
				}
				b.start(t)
				j, transcript := b.ended(t, b.removal(t, p), c.want)
				if !strings.Contains(transcript, c.text) {
					t.Errorf("%q is not in\n%s", c.text, transcript)
				}
				b.outlived(t, j, p, transcript)
				if got := fmt.Sprint(b.words(t, ref)); got != "[stop start]" {
					t.Errorf("the tasks %s", got)
				}
			})
		})
	}
}

// A guest that is away from one node is looked for before it counts as gone.
func TestMovedGuestIsNotGone(t *testing.T) {
	t.Parallel()
	inBothShapes(t, func(t *testing.T, b *lifecycleFixture) {
		guest.Register(b.queue, b.worker, removal())
		_, p := b.guest(t, hypervisor.VM, hypervisor.GuestRunning)
		b.wrap = func(h hypervisor.Host) hypervisor.Host {
			return &remover{Host: h, b: b, end: hypervisor.TaskFailed, remove: func(ref hypervisor.GuestRef) {
				b.cluster.Change(ref.ID, func(g *hypervisor.Guest) {
					g.Node = map[string]string{"node1": "node2", "node2": "node1"}[g.Node]
				})
			}}
		}
		b.start(t)
		if j, transcript := b.ended(t, b.removal(t, p), job.Failed); j.Error != "the end" {
			t.Errorf("%q\n%s", j.Error, transcript)
		}
	})
}

// A service that is killed around the request that takes the guest away finds its task, or the guest's absence, although
// the inventory has dropped the guest meanwhile.
func TestKilledWhileTheGuestIsTakenAway(t *testing.T) {
	t.Parallel()
	for when, words := range map[string]string{"before": "[stop]", "after": "[stop start]"} {
		t.Run(when, func(t *testing.T) {
			t.Parallel()
			inBothShapes(t, func(t *testing.T, b *lifecycleFixture) {
				guest.Register(b.queue, b.worker, removal())
				ref, p := b.guest(t, hypervisor.VM, hypervisor.GuestRunning)
				b.meanwhile = func() {
					b.endOf(t, ref)
					b.drop(t, ref, p)
				}
				j, transcript := b.killed(t, when, "start", job.Succeeded, func() int64 { return b.removal(t, p) })
				if got := fmt.Sprint(b.words(t, ref)); got != words {
					t.Errorf("the tasks %s\n%s", got, transcript)
				}
				b.outlived(t, j, p, transcript)
			})
		})
	}
}

// endOf waits until all tasks of the guest have ended.
func (b *lifecycleFixture) endOf(t *testing.T, ref hypervisor.GuestRef) {
	t.Helper()
	host, _ := b.driver.Open(t.Context(), b.cluster.Target(endpoint.Monitoring))
	list, err := host.Tasks(t.Context(), hypervisor.TaskQuery{Limit: 500, Guest: &ref})
	if err != nil {
		t.Fatal(err)
	}
	for _, task := range list.Tasks {
		_, err := host.WaitTask(t.Context(), task.ID, 0, func(hypervisor.LogLine) error { return nil })
		if err != nil {
			t.Error(err)
		}
	}
}
