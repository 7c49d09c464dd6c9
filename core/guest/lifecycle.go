package guest

import (
	"context"
	"fmt"
	"slices"

	"github.com/hostler/hostler/core/plan"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// Lifecycle returns the work that changes a guest's power state.
func Lifecycle(action hypervisor.Action) Work[struct{}] {
	work := Work[struct{}]{
		Kind: string(action), Action: action, Needs: endpoint.Lifecycle, Interrupts: interruptingActions[action],
		Steps: []Step[struct{}]{{
			Name: "act", Operation: action.Operation(),
			Send: Using(func(l hypervisor.LifecycleManager, ctx context.Context, ref hypervisor.GuestRef, _ struct{}) (string, error) {
				return l.Act(ctx, ref, action)
			}),
			State: func(_ context.Context, _ hypervisor.Host, guest hypervisor.Guest, _ struct{}) (State, error) {
				return lifecycleState(action, guest), nil
			},
		}},
	}
	// Only a start can bring two copies of a guest onto the network.
	if action == hypervisor.Start {
		work.ConfirmReason = movedGuestQuestion
	}
	if word := startingActions[action]; word != "" {
		work.Plan = func(_ context.Context, on Subject, _ struct{}, p *plan.Plan) error {
			if on.Guest.Status != hypervisor.GuestRunning {
				p.Add(plan.KindGuest, on.Guest.Name, "%s is %s.", on.Guest.Name, word)
			}
			return nil
		}
	}
	return work
}

// movedGuestQuestion returns the question that is asked before a guest is started
// that was moved to another cluster and kept here. Both have the same
// addresses. A schedule does not start such a guest at all.
func movedGuestQuestion(g *Guest) string {
	if !slices.Contains(g.Tags, movedTag) {
		return ""
	}
	return fmt.Sprintf("%s has the tag %s: it was moved to another host, and the guest there has the same addresses; remove the tag "+
		"when the other guest no longer uses them", g.Name, movedTag)
}

// lifecycleState returns what the state of the guest says about an action.
// Restart and reset leave no state that would prove them, so their result is
// known from the task only.
func lifecycleState(action hypervisor.Action, guest hypervisor.Guest) State {
	wants := wantedStatus[action]
	switch {
	// An unknown status proves nothing, neither that the action was carried out
	// nor that it may be repeated.
	case wants == "" || guest.Status == hypervisor.GuestUnknown:
		return State{}
	case guest.Status == wants:
		return State{Done: "the guest is " + wants}
	}
	return State{Repeatable: true, Since: since(guest)}
}

// Verb returns the action as a verb for sentences about the guest.
func Verb(action hypervisor.Action) string {
	if action == hypervisor.Shutdown {
		return "shut down"
	}
	return string(action)
}

// wantedStatus is the state that each action leads to. Restart and reset have none.
var wantedStatus = map[hypervisor.Action]string{
	hypervisor.Start:    hypervisor.GuestRunning,
	hypervisor.Stop:     hypervisor.GuestStopped,
	hypervisor.Shutdown: hypervisor.GuestStopped,
	hypervisor.Pause:    hypervisor.GuestPaused,
	hypervisor.Resume:   hypervisor.GuestRunning,
}

// startingActions lists the actions after which a guest runs, with the participle that a
// plan uses for them.
var startingActions = map[hypervisor.Action]string{hypervisor.Start: "started", hypervisor.Resume: "resumed"}

// interruptingActions lists the actions after which a running guest is unavailable for a
// while or for good. They need a confirmation where the service itself runs in
// the guest.
var interruptingActions = map[hypervisor.Action]bool{
	hypervisor.Stop: true, hypervisor.Shutdown: true, hypervisor.Restart: true, hypervisor.Pause: true, hypervisor.Reset: true,
}
