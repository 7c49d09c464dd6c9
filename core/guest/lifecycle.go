package guest

import (
	"context"
	"fmt"
	"slices"

	"github.com/hostler/hostler/core/plan"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// Lifecycle is the work that changes a guest's power state.
func Lifecycle(action hypervisor.Action) Work[struct{}] {
	work := Work[struct{}]{
		Kind: string(action), Action: action, Needs: endpoint.Lifecycle, Interrupts: interrupts[action],
		Steps: []Step[struct{}]{{
			Name: "act", Does: action.Operation(),
			Send: Using(func(l hypervisor.Lifecycler, ctx context.Context, ref hypervisor.GuestRef, _ struct{}) (string, error) {
				return l.Act(ctx, ref, action)
			}),
			State: func(_ context.Context, _ hypervisor.Host, guest hypervisor.Guest, _ struct{}) (State, error) {
				return lifecycleState(action, guest), nil
			},
		}},
	}
	if action == hypervisor.Start {
		work.Asks = livesElsewhere
	}
	if word := brings[action]; word != "" {
		work.Plan = func(_ context.Context, on Subject, _ struct{}, p *plan.Plan) error {
			if on.Guest.Status != hypervisor.GuestRunning {
				p.Add(plan.KindGuest, on.Guest.Name, "%s is %s.", on.Guest.Name, word)
			}
			return nil
		}
	}
	return work
}

// livesElsewhere asks before a guest is started that was moved to another cluster and left where it was. No schedule starts such a one.
func livesElsewhere(g *Guest) string {
	if !slices.Contains(g.Tags, movedTag) {
		return ""
	}
	return fmt.Sprintf("%s has the tag %s: it was moved to another host, and the guest there has the same addresses; take the tag away "+
		"where that is over", g.Name, movedTag)
}

// lifecycleState is what there is of what an action wants. Restart and reset leave nothing that tells of them.
func lifecycleState(action hypervisor.Action, guest hypervisor.Guest) State {
	wants := wanted[action]
	switch {
	case wants == "" || guest.Status == hypervisor.GuestUnknown:
		return State{}
	case guest.Status == wants:
		return State{Done: "the guest is " + wants}
	}
	return State{Again: true, Since: since(guest)}
}

// Verb is the action as a sentence about the guest says it.
func Verb(action hypervisor.Action) string {
	if action == hypervisor.Shutdown {
		return "shut down"
	}
	return string(action)
}

// wanted is the state that an action leads to; restart and reset are done in every state.
var wanted = map[hypervisor.Action]string{
	hypervisor.Start:    hypervisor.GuestRunning,
	hypervisor.Stop:     hypervisor.GuestStopped,
	hypervisor.Shutdown: hypervisor.GuestStopped,
	hypervisor.Pause:    hypervisor.GuestPaused,
	hypervisor.Resume:   hypervisor.GuestRunning,
}

// brings are the actions that make a guest run, with the word that a plan uses for them.
var brings = map[hypervisor.Action]string{hypervisor.Start: "started", hypervisor.Resume: "resumed"}

// interrupts are the actions that take a running guest away.
var interrupts = map[hypervisor.Action]bool{
	hypervisor.Stop: true, hypervisor.Shutdown: true, hypervisor.Restart: true, hypervisor.Pause: true, hypervisor.Reset: true,
}
