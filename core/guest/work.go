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

// Work describes one kind of job on a guest by what distinguishes it.
// Everything else is the same for all kinds: Prepare refuses what cannot be
// done. A Worker finds the guest, follows it if it has moved, sends each step
// once and waits for its task. It continues after a crash, judges a failure by
// the state of the guest, and shows the new state.
//
// P contains the parameters besides the guest. It is stored with the job;
// fields of type secret.String are encrypted there.
type Work[P any] struct {
	// Kind is the second part of the job's kind: "start" for vm.start and
	// app.start. A value with a dot is the whole kind, for VMs and apps alike.
	Kind string
	// Guests are the kinds of guests that the work applies to. Empty means all.
	Guests []hypervisor.GuestKind
	// Action is the power action that the driver must support for the kind of
	// guest. It is empty for other work.
	Action hypervisor.Action
	// Needs is the capability whose token sends the requests.
	Needs endpoint.Capability
	// Interrupts is true for work that stops a running guest. If the service
	// runs in that guest, the user must confirm with its name.
	Interrupts bool
	// Target returns the target of the job if that is not the guest. Nil means
	// the guest. It requires a Kind with a dot.
	Target func(spec P) job.Target
	// Stops reports whether the parameters make the work stop a running guest,
	// for work that does not always do so. It may be nil.
	Stops func(spec P) bool
	// Destroys is true for work that removes the guest. It also applies to
	// templates, and if the service runs in the guest, that is reported before
	// anything else.
	Destroys bool
	// Templates is true for work that also applies to templates.
	Templates bool
	// DataLoss is a sentence about what is lost. If it is set, every user must
	// confirm with the guest's name.
	DataLoss string
	// ConfirmReason returns a sentence if this guest needs a confirmation for another
	// reason, and an empty string otherwise. It may be nil.
	ConfirmReason func(g *Guest) string
	// PublicParams returns the parameters as users see them, without secrets. Nil
	// means that the work has none. Its keys are the fields of the request body
	// and the further path parameters of the operation, because the API can
	// repeat a job from them.
	PublicParams func(spec P) any
	// Check returns a refusal that is specific to this kind, before a job
	// exists. It may be nil, and it may ask the hypervisor; see Call.
	Check func(ctx context.Context, on Subject, spec P) error
	// Plan writes into the plan what the work would do. It may ask the
	// hypervisor; see Call. Nil tells of an interruption only.
	Plan func(ctx context.Context, on Subject, spec P, p *plan.Plan) error
	// Steps are done in this order, each when the one before has ended well.
	Steps []Step[P]
	// End is done when all steps have ended well, again where the service dies
	// in it. It may be nil.
	End func(ctx context.Context, e *CompletedJob[P]) error
	// Appears says that the work makes another guest of one: its host is polled
	// in the end, so that lists show it. That of a guest that was destroyed is
	// polled anyway.
	Appears bool
}

// Step is one request to the hypervisor and its task.
type Step[P any] struct {
	// Name is unique within the work. An interrupted job finds its checkpoint
	// by the name, so it must never change.
	Name string
	// Needs is the capability whose token sends the request, if it differs from
	// the work's. Reads is the capability whose token reads State or Since;
	// empty means monitoring.
	Needs, Reads endpoint.Capability
	// Operation identifies the task of the step among the tasks of the guest.
	Operation hypervisor.Operation
	// Note returns the transcript's line before the request, such as "taking
	// the snapshot nightly". Nil means no line.
	Note func(spec P) string
	// Send sends the request; see Using.
	Send Send[P]
	// State reads how far the guest is as the step wants it, with the
	// monitoring token. If it is nil, nothing can be read. The step is then
	// repeated only if the task list proves that the request never arrived.
	State func(ctx context.Context, host hypervisor.Host, guest hypervisor.Guest, spec P) (State, error)
	// Since replaces State for results that are recognised by their time. The
	// argument sent is the time of the request by the hypervisor's clock, zero
	// before the request.
	Since func(ctx context.Context, host hypervisor.Host, guest hypervisor.Guest, spec P, sent time.Time) (State, error)
	// Removes is true for a step that removes the guest, which must be the last
	// one. A guest that the hypervisor does not have any more is its success.
	Removes bool
}

// State says how far a guest is as a step wants it. Its texts are clauses for
// users.
type State struct {
	// Done says that the wanted state exists already, such as "the guest is
	// running". The step is not sent, and a failure or unknown end of it
	// becomes a success.
	Done string
	// Blocked says what prevents the step. It is not sent, and a failure's text
	// mentions it.
	Blocked string
	// Created says what must have come into existence after the request, because
	// it would have blocked the request otherwise. It turns an unknown end into
	// a success, and prevents a repetition if the task is not found. A failure
	// stays a failure, because somebody else may have created it.
	Created string
	// Left says what a failed attempt has left behind, for the text of the
	// failure.
	Left string
	// Repeatable is true if the state shows that the step was not carried out and
	// that a repetition is harmless, such as the start of a stopped guest. Only
	// such a step is repeated if it is unknown whether the first request
	// arrived.
	Repeatable bool
	// Since is the time from which the state described by Repeatable has existed, by
	// the hypervisor's clock, zero if unknown. A state that began after the
	// request proves nothing: the running guest may have been stopped by the
	// request and started by somebody else.
	Since time.Time
}

// Send sends the request of a step, once, and returns the ID of its task. An
// empty ID means that the request was complete at once.
type Send[P any] struct {
	able func(hypervisor.Host) error
	send func(ctx context.Context, host hypervisor.Host, ref hypervisor.GuestRef, spec P) (task string, err error)
}

// Using returns a Send for a method of an optional interface, such as
// hypervisor.Snapshotter.TakeSnapshot.
func Using[A, P any](method func(able A, ctx context.Context, ref hypervisor.GuestRef, spec P) (task string, err error)) Send[P] {
	return Send[P]{
		able: func(at hypervisor.Host) error {
			_, err := host.AsAbility[A](at)
			return err
		},
		send: func(ctx context.Context, at hypervisor.Host, ref hypervisor.GuestRef, spec P) (string, error) {
			able, err := host.AsAbility[A](at)
			if err != nil {
				return "", err
			}
			return method(able, ctx, ref, spec)
		},
	}
}

// RequestedGuest is the guest at the time of the request, with what was confirmed then.
// A Worker compares it with the guest that it finds.
type RequestedGuest struct {
	GuestID int64                `json:"guest_id"`
	Kind    hypervisor.GuestKind `json:"kind"`
	// Ref is the ID at the hypervisor. UID is the lasting identity if the
	// hypervisor has one.
	Ref  hypervisor.GuestID `json:"ref"`
	UID  string             `json:"uid,omitempty"`
	Name string             `json:"name"`
	// ConfirmedSelf is true if the caller confirmed to act on the guest that
	// the service runs in.
	ConfirmedSelf bool `json:"confirmed_self,omitempty"`
}

// ref returns the reference of the guest without a node.
func (a RequestedGuest) ref() hypervisor.GuestRef {
	return hypervisor.GuestRef{Kind: a.Kind, ID: a.Ref, UID: a.UID}
}

// unnamed reports whether the name is the one that a poll makes up for a guest
// whose name the hypervisor did not report.
func (a RequestedGuest) unnamed() bool {
	return a.Name == map[hypervisor.GuestKind]string{hypervisor.VM: "VM ", hypervisor.Container: "CT "}[a.Kind]+string(a.Ref)
}

// another returns why a guest is not the requested one, or an empty string. IDs
// are reused after a guest was deleted. If the hypervisor has UIDs, they
// decide, and the name may have changed. Otherwise the name decides. A made-up
// name proves nothing, except for a step that removes the guest: nobody has
// confirmed the real name then.
func (a RequestedGuest) another(guest hypervisor.Guest, removes bool) string {
	switch {
	case guest.UID != "" && a.UID != "":
		if guest.UID != a.UID {
			return fmt.Sprintf("%s %s is not the guest for which this was requested", a.Kind, guest.ID)
		}
	case guest.Name != "" && a.Name != "" && guest.Name != a.Name && (removes || !a.unnamed()):
		return fmt.Sprintf("%s %s is now called %q but was called %q when this was requested", a.Kind, a.Ref, guest.Name, a.Name)
	}
	return ""
}

// Another is another for work that does not remove the guest.
func (a RequestedGuest) Another(guest hypervisor.Guest) string { return a.another(guest, false) }

// Params are the parameters of a job.
type Params[P any] struct {
	RequestedGuest
	Spec P `json:"spec,omitzero"`
}

// Spec returns the job that does the work. The target is the VM or app in the
// words of the API.
func (w Work[P]) Spec(target job.Target, teamID, hostID int64, params Params[P]) job.Spec {
	kind := w.kind(target.Kind)
	if w.Target != nil {
		target = w.Target(params.Spec)
	}
	spec := job.Spec{
		Kind: kind, Target: target, TeamID: teamID, HostID: hostID,
		Exclusive: Exclusive(params.GuestID), Params: params,
	}
	if w.PublicParams != nil {
		spec.PublicParams = w.PublicParams(params.Spec)
	}
	return spec
}

// kind returns the kind of the job for a kind of target.
func (w Work[P]) kind(target string) string {
	if strings.Contains(w.Kind, ".") {
		return w.Kind
	}
	return target + "." + w.Kind
}

// interrupting returns the work with Interrupts set according to the
// parameters.
func (w Work[P]) interrupting(spec P) Work[P] {
	w.Interrupts = w.Interrupts || w.Stops != nil && w.Stops(spec)
	return w
}

// guests returns the kinds of guests that the work applies to.
func (w Work[P]) guests() []hypervisor.GuestKind {
	if len(w.Guests) == 0 {
		return []hypervisor.GuestKind{hypervisor.VM, hypervisor.Container}
	}
	return w.Guests
}

// targets maps kinds of guests to the words of the API, with which the kinds of
// jobs begin.
var targets = map[hypervisor.GuestKind]string{hypervisor.VM: "vm", hypervisor.Container: "app"}
