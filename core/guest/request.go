package guest

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/idempotency"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/core/plan"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/core/schedule"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// Hosts is what a request for work needs of the hosts.
type Hosts interface {
	host.Opener
	// Require returns the problem capability_missing if the host has no token
	// for the capability, and unsupported if able returns an error for a host
	// of its driver. It does not ask the hypervisor.
	Require(ctx context.Context, hostID int64, capability endpoint.Capability, able func(hypervisor.Host) error) error
	// RequireAction returns the problem unsupported if guests of that kind
	// cannot perform the action there. It does not ask the hypervisor.
	RequireAction(ctx context.Context, hostID int64, kind hypervisor.GuestKind, action hypervisor.Action) error
}

// Actor does what requests ask for. It is shared by all requests.
type Actor struct {
	DB    *db.DB
	Queue *job.Queue
	Hosts Hosts
	// Machines are the machines of the hosts. Nil means that logins are not
	// available.
	Machines Machines
}

// Request identifies the guest of a request for work.
type Request struct {
	// Target is the VM or app in the words of the API.
	Target job.Target
	Guest  *Guest
	TeamID int64
	// Confirm is what the caller typed as confirmation, or nil.
	Confirm *string
}

// StartResult is the answer to a request for work.
type StartResult struct {
	Job    job.View `json:"job"`
	IsSelf bool     `json:"is_self" doc:"true if the service runs in this guest"`
}

// StartResult rebuilds the answer to a repeated request, with the present state of
// its job.
func (a *Actor) StartResult(ctx context.Context, jobID int64, isSelf bool) (StartResult, error) {
	j, err := a.Queue.Get(ctx, jobID, identity.FromContext(ctx).Visible())
	if err != nil {
		return StartResult{}, err
	}
	return StartResult{Job: j.View(), IsSelf: isSelf}, nil
}

// ReplayStart rebuilds the answer to a repeated request from its stored form,
// with the present state of its job.
func (a *Actor) ReplayStart(ctx context.Context, made idempotency.Result) (StartResult, error) {
	var self bool
	if err := json.Unmarshal(made.Data, &self); err != nil {
		return StartResult{}, fmt.Errorf("decoding the job's parameters: %w", err)
	}
	return a.StartResult(ctx, made.JobID, self)
}

// Enqueue creates a job and its audit row in one transaction: neither exists
// without the other. Its problem is guest_busy.
func (a *Actor) Enqueue(ctx context.Context, spec job.Spec) (made *job.Job, err error) {
	err = a.DB.Tx(ctx, func(tx *db.Tx) (err error) {
		if made, err = a.Queue.Enqueue(ctx, tx, spec); err != nil {
			return err
		}
		return audit.Write(ctx, tx)
	})
	return made, err
}

// Start checks the request and enqueues its job with the audit row in one
// transaction. Its problems are those of Prepare, and guest_busy.
func (w Work[P]) Start(ctx context.Context, a *Actor, r Request, spec P) (StartResult, error) {
	enqueue, err := w.Prepare(ctx, a, r, spec)
	if err != nil {
		return StartResult{}, err
	}
	var made *job.Job
	err = a.DB.Tx(ctx, func(tx *db.Tx) (err error) {
		if made, err = enqueue(ctx, tx); err != nil {
			return err
		}
		return audit.Write(ctx, tx)
	})
	if err != nil {
		return StartResult{}, err
	}
	return StartResult{Job: made.View(), IsSelf: r.Guest.IsSelf}, nil
}

// Prepare checks the request and returns a function that enqueues its job. The
// caller writes the audit row. Problems: invalid_state for a template,
// capability_missing, unsupported, those of Check, self_target,
// confirm_required and plan_stale. If only the plan was requested, the error is
// a plan.Result.
func (w Work[P]) Prepare(ctx context.Context, a *Actor, r Request, spec P) (schedule.Enqueue, error) {
	enqueue, err := w.prepare(ctx, a, r, spec)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, tx *db.Tx) (*job.Job, error) { return enqueue(ctx, tx, spec) }, nil
}

// prepare is Prepare for work whose parameters may still change in the
// transaction, such as a reserved ID.
func (w Work[P]) prepare(ctx context.Context, a *Actor, r Request, spec P) (func(context.Context, *db.Tx, P) (*job.Job, error), error) {
	g, draft := r.Guest, plan.Begin(ctx)
	w = w.interrupting(spec)
	on := Subject{Guest: g, hosts: a.Hosts, target: r.Target, db: a.DB, read: &readCache{}}
	tell := func(ctx context.Context, p *plan.Plan) error { return w.writePlan(ctx, on, spec, p) }
	confirmed := r.Confirm != nil && *r.Confirm == r.Target.Name
	confirmation := w.confirmation(r, confirmed)
	// The warning that the service would destroy itself comes before all other
	// refusals, which would only invite the user to remove the obstacles.
	if confirmation.Code == problem.CodeSelfTarget && w.Destroys && !confirmed && !draft.PlanOnly() {
		return nil, draft.Finish(ctx, confirmation, tell)
	}
	if err := w.refuse(ctx, a, on, spec, draft); err != nil {
		return nil, err
	}
	if err := draft.Finish(ctx, confirmation, tell); err != nil {
		return nil, err
	}
	at := g.At()
	asked := RequestedGuest{
		GuestID: g.ID, Kind: hypervisor.GuestKind(g.Kind), Ref: at.ID, UID: at.UID, Name: g.Name, ConfirmedSelf: g.IsSelf && confirmed,
	}
	return func(ctx context.Context, tx *db.Tx, spec P) (*job.Job, error) {
		return a.Queue.Enqueue(ctx, tx, w.Spec(r.Target, r.TeamID, g.HostID, Params[P]{Spec: spec, RequestedGuest: asked}))
	}, nil
}

// refuse returns the refusal of work that cannot be done. A preview collects
// refusals and continues with the next check, but nothing is asked of a host
// that lacks a token or an ability.
func (w Work[P]) refuse(ctx context.Context, a *Actor, on Subject, spec P, draft *plan.Builder) error {
	g, kind := on.Guest, hypervisor.GuestKind(on.Guest.Kind)
	if !slices.Contains(w.guests(), kind) {
		return problem.New(problem.CodeUnsupported, "%s is not available for a %s", w.Kind, on.target.Kind)
	}
	if g.Template && !w.Templates && !w.Destroys {
		refused := problem.New(problem.CodeInvalidState, "%s is a template; %s is not available for templates", g.Name, w.Kind)
		if err := draft.Refuse(refused); err != nil {
			return err
		}
	}
	if err := w.able(ctx, a, g, kind); err != nil {
		return draft.Refuse(err)
	}
	if draft.PlanOnly() && g.JobID != nil {
		if err := draft.Refuse(problem.New(problem.CodeGuestBusy, "job %d is working on %s", *g.JobID, g.Name)); err != nil {
			return err
		}
	}
	if w.Check == nil {
		return nil
	}
	return draft.Refuse(w.Check(ctx, on, spec))
}

// able returns the problem of a host that lacks a token, or whose driver lacks
// an ability, for one of the steps.
func (w Work[P]) able(ctx context.Context, a *Actor, g *Guest, kind hypervisor.GuestKind) error {
	for _, step := range w.Steps {
		if err := a.Hosts.Require(ctx, g.HostID, cmp.Or(step.Needs, w.Needs), step.Send.able); err != nil {
			return err
		}
	}
	if w.Action == "" {
		return nil
	}
	return a.Hosts.RequireAction(ctx, g.HostID, kind, w.Action)
}

// confirmation returns the confirmation that the work needs: the guest's name
// if data is lost for good, if the work asks for it, or if the service would
// stop itself.
func (w Work[P]) confirmation(r Request, given bool) plan.Confirmation {
	phrase := r.Target.Name
	c := plan.Confirmation{Phrase: phrase, Given: given, IsSelf: w.Interrupts && r.Guest.IsSelf}
	switch {
	case c.IsSelf && w.Destroys && !given:
		c.Code, c.Why = problem.CodeSelfTarget,
			fmt.Sprintf("the service itself runs in %s and would be destroyed with it; to proceed, send the guest's name as confirm",
				phrase)
	case w.DataLoss != "":
		c.Code, c.Why = problem.CodeConfirmRequired, fmt.Sprintf("%s; to proceed, send the name %s as confirm", w.DataLoss, phrase)
	case w.ConfirmReason != nil && w.ConfirmReason(r.Guest) != "":
		c.Code, c.Why = problem.CodeConfirmRequired, fmt.Sprintf("%s; to proceed, send the name %s as confirm", w.ConfirmReason(r.Guest), phrase)
	case c.IsSelf:
		c.Code = problem.CodeSelfTarget
		c.Why = fmt.Sprintf("the service itself runs in %s and would be interrupted; to proceed, send the guest's name as confirm", phrase)
	}
	return c
}

// writePlan writes the plan.
func (w Work[P]) writePlan(ctx context.Context, on Subject, spec P, p *plan.Plan) error {
	if w.Interrupts {
		on.interrupt(p)
	}
	if w.Plan == nil {
		return nil
	}
	return w.Plan(ctx, on, spec, p)
}
