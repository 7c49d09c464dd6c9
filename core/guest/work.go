package guest

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/core/plan"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// Work is a kind of job on a guest, by what tells it from the others. All else is the same for every kind: Prepare refuses
// what cannot be done, and a Worker finds the guest, follows it when it has moved, sends each step once, follows its task,
// knows it again after its own death, judges a failure by what is there, and shows the guest's new state.
//
// P is what is asked for besides the guest. It is kept with the job; its fields of type secret.String are sealed there.
type Work[P any] struct {
	// Kind is what the job's kind ends in: "start" for vm.start and app.start. One with a dot is the whole kind, for VMs and apps alike.
	Kind string
	// Guests are the kinds of guests that it is for; all when empty.
	Guests []hypervisor.GuestKind
	// Action is the change of a power state that the driver of the guest's host must know for its kind; empty for other work.
	Action hypervisor.Action
	// Needs is the capability whose token sends the requests.
	Needs endpoint.Capability
	// Interrupts marks work that takes a running guest away. Where the service itself runs, the guest's name is asked for.
	Interrupts bool
	// Target is the job's target where that is not the guest; nil where it is. It goes with a Kind that is the whole one.
	Target func(spec P) job.Target
	// Stops reports whether what was asked for takes a running guest away, of work that does not always; it may be nil.
	Stops func(spec P) bool
	// Destroys marks work that ends the guest for good: templates too, and where the service itself runs that is told before all else.
	Destroys bool
	// Templates marks work that is for templates as well.
	Templates bool
	// Loses says in a sentence what is lost by it; everybody is asked for the guest's name then. Empty where nothing is.
	Loses string
	// Asks says in a sentence why the guest's name is asked for, of work that asks for that of some guests only; it may be nil.
	Asks func(g *Guest) string
	// Shows is what was asked for as users see it, without what is secret; nil for work that takes no more than the guest. Its keys
	// are the fields of the body, and the further parameters of the path, of the operation that asks for it: a job is asked for
	// again by them.
	Shows func(spec P) any
	// Check refuses what only this kind refuses, before there is a job. It may be nil, and it may ask the hypervisor; see Look.
	Check func(ctx context.Context, on Subject, spec P) error
	// Plan writes into the plan what the work would do. It may ask the hypervisor; see Look. Nil tells of an interruption only.
	Plan func(ctx context.Context, on Subject, spec P, p *plan.Plan) error
	// Steps are done in this order, each when the one before has ended well.
	Steps []Step[P]
	// End is done when all steps have ended well, again where the service dies in it. It may be nil.
	End func(ctx context.Context, e *Ending[P]) error
	// Appears says that the work makes another guest of one: its host is polled in the end, so that lists show it. That of a guest that was
	// destroyed is polled anyway.
	Appears bool
}

// Step is one request to the hypervisor and its task.
type Step[P any] struct {
	// Name is unique within the work. A job that was cut off finds its checkpoint by it, so it never changes.
	Name string
	// Needs is the capability whose token sends the request, where that is not the work's, and Reads the one whose token reads State
	// or Since; empty for monitoring.
	Needs, Reads endpoint.Capability
	// Does is how the step's task is known among those of the guest.
	Does hypervisor.Operation
	// Says is what the transcript says before the request, such as "taking the snapshot nightly". Nil says nothing.
	Says func(spec P) string
	// Send makes the request; see Using.
	Send Send[P]
	// State reads what is there of what the step wants, with the monitoring token. Nil where nothing can be read of it: the step
	// is then sent again only when the hypervisor's task list proves that it was never begun.
	State func(ctx context.Context, host hypervisor.Host, guest hypervisor.Guest, spec P) (State, error)
	// Since is State for what is known by its time: sent is when the request was made, by the hypervisor's clock, and zero before it. It
	// stands in the place of State.
	Since func(ctx context.Context, host hypervisor.Host, guest hypervisor.Guest, spec P, sent time.Time) (State, error)
	// Removes marks a step that takes the guest itself away, the last of its work: a guest that the hypervisor no longer has is
	// what it wants, and its task is followed when the guest has left the inventory.
	Removes bool
}

// State is what is there of what a step wants. Its texts are pieces of sentences for users.
type State struct {
	// Done says what is there already, such as "the guest is running": the step is not sent, and neither a failure of it nor an
	// unknown end counts.
	Done string
	// Blocked says what is in the step's way: it is not sent, and a failure's text has this too.
	Blocked string
	// Made says what can only have come to be since the request, for it would have blocked it. It makes an unknown end a good one,
	// and a request whose task is not found is not sent again. A failure stays one: others may have made it.
	Made string
	// Left says what a failure has left behind, for its text.
	Left string
	// Again says that what is there shows that the step was not carried out, and that it does no harm when its request is made a
	// second time: a start of a guest that is stopped. Only such a step is sent again where it is not known whether the first
	// request was taken.
	Again bool
	// Since is from when on what Again tells of has been so, by the hypervisor's clock; zero where that is not known. What began
	// after the request shows nothing: the guest that runs may have been stopped by it and started by somebody else.
	Since time.Time
}

// Send makes a step's request, once, and gives the id of its task; an empty one when it was carried out at once.
type Send[P any] struct {
	able func(hypervisor.Host) error
	send func(ctx context.Context, host hypervisor.Host, ref hypervisor.GuestRef, spec P) (task string, err error)
}

// Using makes a Send of a method of an optional interface, such as hypervisor.Snapshotter.TakeSnapshot.
func Using[A, P any](method func(able A, ctx context.Context, ref hypervisor.GuestRef, spec P) (task string, err error)) Send[P] {
	return Send[P]{
		able: func(at hypervisor.Host) error {
			_, err := host.Able[A](at)
			return err
		},
		send: func(ctx context.Context, at hypervisor.Host, ref hypervisor.GuestRef, spec P) (string, error) {
			able, err := host.Able[A](at)
			if err != nil {
				return "", err
			}
			return method(able, ctx, ref, spec)
		},
	}
}

// Asked is the guest as it was when its job was asked for, and what was confirmed then: a Worker compares it with what is
// there.
type Asked struct {
	GuestID int64                `json:"guest_id"`
	Kind    hypervisor.GuestKind `json:"kind"`
	// Ref is its id at the hypervisor, and UID its lasting identity where that has one.
	Ref  hypervisor.GuestID `json:"ref"`
	UID  string             `json:"uid,omitempty"`
	Name string             `json:"name"`
	// ConfirmedSelf is true when the caller confirmed to act on the guest that the service runs in.
	ConfirmedSelf bool `json:"confirmed_self,omitempty"`
}

// ref names the guest, wherever it is.
func (a Asked) ref() hypervisor.GuestRef {
	return hypervisor.GuestRef{Kind: a.Kind, ID: a.Ref, UID: a.UID}
}

// unnamed reports whether the name is the one that a poll makes up for a guest whose name the hypervisor does not tell.
func (a Asked) unnamed() bool {
	return a.Name == map[hypervisor.GuestKind]string{hypervisor.VM: "VM ", hypervisor.Container: "CT "}[a.Kind]+string(a.Ref)
}

// another says why a guest is not the one that was asked for; empty when it is: an id is free again once its guest was deleted.
// Where the hypervisor has UIDs they tell, and the guest may have another name by now; elsewhere the name does. One that was made up
// because the hypervisor told none yet says nothing, except to a step that removes the guest: nobody has confirmed the real name.
func (a Asked) another(guest hypervisor.Guest, removes bool) string {
	switch {
	case guest.UID != "" && a.UID != "":
		if guest.UID != a.UID {
			return fmt.Sprintf("%s %s is another guest than when this was asked for", a.Kind, guest.ID)
		}
	case guest.Name != "" && a.Name != "" && guest.Name != a.Name && (removes || !a.unnamed()):
		return fmt.Sprintf("%s %s is now called %q and was %q when this was asked for", a.Kind, a.Ref, guest.Name, a.Name)
	}
	return ""
}

// Another says why a guest that is there is not the one that was asked for, for what removes nothing; empty when it is.
func (a Asked) Another(guest hypervisor.Guest) string { return a.another(guest, false) }

// Params are the parameters of a job.
type Params[P any] struct {
	Asked
	Spec P `json:"spec,omitzero"`
}

// Spec is the job that does the work: target is the VM or the app in the words of the API.
func (w Work[P]) Spec(target job.Target, teamID, hostID int64, params Params[P]) job.Spec {
	kind := w.kind(target.Kind)
	if w.Target != nil {
		target = w.Target(params.Spec)
	}
	spec := job.Spec{
		Kind: kind, Target: target, TeamID: teamID, HostID: hostID,
		Exclusive: Exclusive(params.GuestID), Params: params,
	}
	if w.Shows != nil {
		spec.Asked = w.Shows(params.Spec)
	}
	return spec
}

// kind is the job's kind for a target of a kind.
func (w Work[P]) kind(target string) string {
	if strings.Contains(w.Kind, ".") {
		return w.Kind
	}
	return target + "." + w.Kind
}

// interrupting is the work as it takes a running guest away or not, for what was asked.
func (w Work[P]) interrupting(spec P) Work[P] {
	w.Interrupts = w.Interrupts || w.Stops != nil && w.Stops(spec)
	return w
}

// guests are the kinds of guests that the work is for.
func (w Work[P]) guests() []hypervisor.GuestKind {
	if len(w.Guests) == 0 {
		return []hypervisor.GuestKind{hypervisor.VM, hypervisor.Container}
	}
	return w.Guests
}

// targets are the words of the API for the kinds of guests, as jobs' kinds begin with them.
var targets = map[hypervisor.GuestKind]string{hypervisor.VM: "vm", hypervisor.Container: "app"}
