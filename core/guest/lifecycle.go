package guest

import (
	"context"
	"fmt"
	"time"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// Hosts opens hosts for a worker.
type Hosts interface {
	// Open gives the host as the capability's token sees it; the caller closes it. A capability without a token is problem
	// capability_missing.
	Open(ctx context.Context, hostID int64, capability endpoint.Capability) (hypervisor.Host, error)
}

// LifecycleParams is what was asked for and, where that was needed, confirmed: the worker compares it with what is there.
type LifecycleParams struct {
	GuestID int64                `json:"guest_id"`
	Kind    hypervisor.GuestKind `json:"kind"`
	VMID    int64                `json:"vmid"`
	// Name is the guest's name when the job was asked for.
	Name   string            `json:"name"`
	Action hypervisor.Action `json:"action"`
	// ConfirmedSelf is true when the caller confirmed to act on the guest that the service runs in.
	ConfirmedSelf bool `json:"confirmed_self,omitempty"`
}

// LifecycleSpec is the job that does an action: target is the VM or the app in the words of the API.
func LifecycleSpec(target job.Target, teamID, hostID int64, params LifecycleParams) job.Spec {
	return job.Spec{
		Kind: target.Kind + "." + string(params.Action), Target: target, TeamID: teamID, HostID: hostID,
		Exclusive: Exclusive(params.GuestID), Params: params,
	}
}

// Verb is the action as a sentence about the guest says it.
func Verb(action hypervisor.Action) string {
	if action == hypervisor.Shutdown {
		return "shut down"
	}
	return string(action)
}

// Exclusive is what every job on a guest holds, so that there is one at a time.
func Exclusive(guestID int64) string { return fmt.Sprintf("guest:%d", guestID) }

// Lifecycle does the jobs that change a guest's power state.
type Lifecycle struct {
	DB    *db.DB
	Hosts Hosts
	// Self reports whether the service runs in the guest; nil means that it never does.
	Self func(ctx context.Context, guestID int64) (bool, error)
	// ReadLimit bounds each question that a job asks the hypervisor; zero is 2 minutes.
	ReadLimit time.Duration
}

var _ job.Worker = (*Lifecycle)(nil)

// Register makes l the worker of vm.start to vm.reset and app.start to app.restart.
func (l *Lifecycle) Register(q *job.Queue) {
	for _, action := range hypervisor.Actions(hypervisor.VM) {
		q.Register("vm."+string(action), l)
	}
	for _, action := range hypervisor.Actions(hypervisor.Container) {
		q.Register("app."+string(action), l)
	}
}

// moves bounds how often a guest that went to another node is followed.
const moves = 3

// Run does one action: it reads the guest's state with the monitoring token, sends the action with the lifecycle token
// unless the state is the wanted one, follows the task, and shows the new state without waiting for the next poll.
func (l *Lifecycle) Run(ctx context.Context, run *job.Run) error {
	a := &act{Lifecycle: l, run: run}
	if err := run.Params(&a.params); err != nil {
		return err
	}
	if err := run.Progress(&a.sender); err != nil {
		return err
	}
	return a.settle(ctx, a.do(ctx))
}

// act is one job's work.
type act struct {
	*Lifecycle
	run    *job.Run
	params LifecycleParams
	// sender is the checkpoint: with which token the action is sent.
	sender sender
	// hostID and ref are where the guest was last found.
	hostID int64
	ref    hypervisor.GuestRef
}

type sender struct {
	TokenID string `json:"token_id,omitempty"`
}

// do sends and follows the action, on another node when the guest has moved there.
func (a *act) do(ctx context.Context) error {
	if err := a.find(ctx); err != nil {
		return err
	}
	for try := 1; ; try++ {
		_, err := a.run.Do(ctx, a.step())
		if err == nil || try == moves || plugin.KindOf(err) != plugin.NotFound {
			return err
		}
		if _, verdict := job.Verdict(err); verdict {
			return err
		}
		before := a.ref.Node
		if err := a.relocate(ctx); err != nil {
			return err
		}
		a.run.Note("%s %d is not on node %s but on %s", a.params.Kind, a.params.VMID, before, a.ref.Node)
	}
}

// find locates the guest. Where a task may run already, a cancel must not keep the run from stopping it.
func (a *act) find(ctx context.Context) error {
	if !a.run.Begun(stepName) {
		return a.locate(ctx)
	}
	reading, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	err := a.locate(reading)
	if status, verdict := job.Verdict(err); verdict && status == job.Failed {
		return job.Undetermined("%s %d is no longer there; its task was started and cannot be followed", a.params.Kind, a.params.VMID)
	}
	return err
}

// settle shows the state that the guest is in after the action, and judges a failure by it: an action that fails because
// what it wants is there already has nothing left to do.
func (a *act) settle(ctx context.Context, err error) error {
	status, verdict := job.Verdict(err)
	conflict := err != nil && !verdict && plugin.KindOf(err) == plugin.Conflict
	if err != nil && !verdict && plugin.KindOf(err) == plugin.Busy {
		asking, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer cancel()
		return a.blame(asking, err)
	}
	if !conflict && !a.run.Begun(stepName) || err != nil && !conflict && !verdict {
		return err
	}
	reading, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	guest, readErr := a.read(reading)
	if readErr == nil {
		readErr = a.show(reading, guest)
	}
	if readErr != nil {
		a.run.Note("the guest's new state could not be read; the next poll shows it")
		return err
	}
	wants := wanted[a.params.Action]
	if (conflict || status == job.Failed) && wants != "" && guest.Status == wants {
		a.run.Note("%s; but the guest is %s, so there is nothing left to do", reason(err), wants)
		return nil
	}
	return a.blame(reading, err)
}

func reason(err error) string {
	if _, verdict := job.Verdict(err); verdict {
		return "the task failed"
	}
	return job.Explain(err)
}

// wanted is the state that an action leads to; restart and reset are done in every state.
var wanted = map[hypervisor.Action]string{
	hypervisor.Start:    hypervisor.GuestRunning,
	hypervisor.Stop:     hypervisor.GuestStopped,
	hypervisor.Shutdown: hypervisor.GuestStopped,
	hypervisor.Pause:    hypervisor.GuestPaused,
	hypervisor.Resume:   hypervisor.GuestRunning,
}

// interrupts are the actions that take a running guest away.
var interrupts = map[hypervisor.Action]bool{
	hypervisor.Stop: true, hypervisor.Shutdown: true, hypervisor.Restart: true, hypervisor.Pause: true, hypervisor.Reset: true,
}
