package guest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/idempotency"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/core/plan"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/core/schedule"
	"github.com/hostler/hostler/core/scope"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// MaxTargets is how many guests one request may act on.
const MaxTargets = 500

// BulkTarget is a VM or an app; the other is nil.
type BulkTarget struct {
	VM  *int64 `json:"vm" example:"3" doc:"Id of a VM; null for an app"`
	App *int64 `json:"app" doc:"Id of an app; null for a VM"`
}

// id is the target's kind in the words of the API, and its id there.
func (t BulkTarget) id() (kind string, id int64) {
	if t.VM != nil {
		return targets[hypervisor.VM], *t.VM
	}
	return targets[hypervisor.Container], *t.App
}

// Skipped is a target that nothing is done with, and the problem that the target would have got alone.
type Skipped struct {
	Target BulkTarget `json:"target"`
	Error  string     `json:"error" example:"guest_busy"`
	Detail string     `json:"detail" example:"job 57 (vm.stop) is not finished yet; wait for it or cancel it"`
}

// Bulk is the answer to an action on many guests.
type Bulk struct {
	Jobs    []job.View `json:"jobs" doc:"One for each target that was not skipped"`
	Skipped []Skipped  `json:"skipped" doc:"Targets that were refused, and why; nothing is done with them"`
}

// prepared is a target whose job can be enqueued.
type prepared struct {
	target  BulkTarget
	request Request
	enqueue schedule.Enqueue
}

// bulk is one request for many guests.
type bulk struct {
	action  hypervisor.Action
	actor   *Actor
	ready   []prepared
	skipped []Skipped
	// found are those that the caller may act on, refused or not.
	found []Request
}

// ActOnAll asks for an action on many guests: each target is checked as if it were asked for alone, and what is refused is skipped. All
// jobs are enqueued in one transaction, with an audit row for each target and one for the request. confirm is the name of the guest that
// the service itself runs in, where that is among the targets. Its own problem is plan_stale; see also plan.Draft.
func (s *Store) ActOnAll(ctx context.Context, a *Actor, action hypervisor.Action, all []BulkTarget, confirm *string) (Bulk, error) {
	b := &bulk{action: action, actor: &Actor{DB: a.DB, Queue: a.Queue, Hosts: remembering(a.Hosts)}}
	if err := s.prepare(ctx, b, all, confirm); err != nil {
		return Bulk{}, err
	}
	if err := b.plan(ctx); err != nil {
		return Bulk{}, err
	}
	var done Bulk
	err := a.DB.Tx(ctx, func(tx *db.Tx) (err error) {
		done, err = b.enqueue(ctx, tx)
		return err
	})
	return done, err
}

// prepare finds the targets and checks them.
func (s *Store) prepare(ctx context.Context, b *bulk, all []BulkTarget, confirm *string) error {
	entries, err := s.entriesOf(ctx, all)
	if err != nil {
		return err
	}
	alone := plan.With(ctx, plan.Question{}) // the question is about the whole request
	work := Lifecycle(b.action)
	for _, target := range all {
		kind, id := target.id()
		request, err := b.admit(alone, entries, kind, id)
		if err == nil {
			request.Confirm = confirm
			b.found = append(b.found, request)
			var enqueue schedule.Enqueue
			if enqueue, err = work.Prepare(alone, b.actor, request, struct{}{}); err == nil {
				b.ready = append(b.ready, prepared{target, request, enqueue})
				continue
			}
		}
		if err := b.skip(target, err); err != nil {
			return err
		}
	}
	// Two requests for the same guests take them in the same order.
	slices.SortStableFunc(b.ready, func(x, y prepared) int { return cmp.Compare(x.request.Guest.ID, y.request.Guest.ID) })
	return nil
}

// skip keeps a refusal; an error that is none of the target's ends the request.
func (b *bulk) skip(target BulkTarget, err error) error {
	p := problem.From(err)
	if p.Status() >= 500 && p.Code != problem.CodeUnsupported && p.Code != problem.CodeHypervisorError {
		return err
	}
	b.skipped = append(b.skipped, Skipped{Target: target, Error: string(p.Code), Detail: p.Detail})
	return nil
}

// entriesOf reads the targets' rows in one query, whoever may see them.
func (s *Store) entriesOf(ctx context.Context, all []BulkTarget) (map[string]*Entry, error) {
	var vms, apps []int64
	for _, target := range all {
		if kind, id := target.id(); kind == targets[hypervisor.VM] {
			vms = append(vms, id)
		} else {
			apps = append(apps, id)
		}
	}
	rows, err := s.DB.Pool.Query(ctx, "SELECT "+entryColumns+" FROM "+entryJoin+`
		WHERE g.kind = 'vm' AND g.id = ANY($1) OR a.id = ANY($2)`, vms, apps)
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading guests: %w", err))
	}
	entries, err := collectEntries(rows)
	if err != nil {
		return nil, db.Problem(err)
	}
	self, err := s.Self.Guests(ctx)
	if err != nil {
		return nil, err
	}
	found := map[string]*Entry{}
	for i := range entries {
		e := &entries[i]
		e.markSelf(self)
		kind, id := targets[hypervisor.VM], e.ID
		if e.AppID != nil {
			kind, id = targets[hypervisor.Container], *e.AppID
		}
		found[kind+strconv.FormatInt(id, 10)] = e
	}
	return found, nil
}

// admit checks the caller's right to act on a target, as the operation on that alone does.
func (b *bulk) admit(ctx context.Context, entries map[string]*Entry, kind string, id int64) (Request, error) {
	caller := identity.FromContext(ctx)
	if needed := kind + "s:write"; caller != nil && caller.Scopes != nil && !slices.Contains(caller.Scopes, needed) {
		return Request{}, problem.New(problem.CodeForbidden, "the API key needs the scope %s", needed).With("scope", needed)
	}
	e := entries[kind+strconv.FormatInt(id, 10)]
	if e == nil {
		// It may be an app whose container is away.
		thing, err := schedule.Require(ctx, b.actor.DB, scopeOf[kind], id, identity.Operator)
		if err == nil {
			err = problem.New(problem.CodeInvalidState, "the container of %s is not there", thing.Name)
		}
		return Request{}, err
	}
	switch held := caller.On(e.TeamID); {
	case held == identity.NoRole:
		return Request{}, problem.New(problem.CodeNotFound, "there is no such %s", kind)
	case held < identity.Operator:
		return Request{}, problem.New(problem.CodeForbidden, "this needs the role %s", identity.Operator)
	}
	name := e.Name
	if e.App != nil {
		name = *e.App
	}
	return Request{Target: job.Target{Kind: kind, ID: id, Name: name}, Guest: &e.Guest, TeamID: e.TeamID}, nil
}

var scopeOf = map[string]string{targets[hypervisor.VM]: scope.VM, targets[hypervisor.Container]: scope.App}

// plan answers who asks for the plan, and refuses a request whose plan has changed.
func (b *bulk) plan(ctx context.Context) error {
	draft, c := plan.Begin(ctx), plan.Confirmation{Given: true} // what was not confirmed is skipped
	for _, r := range b.found {
		if r.Guest.IsSelf && interrupts[b.action] {
			c.Code, c.Phrase, c.IsSelf = problem.CodeSelfTarget, r.Target.Name, true
		}
	}
	return draft.Decide(ctx, c, func(ctx context.Context, p *plan.Plan) error {
		for _, ready := range b.ready {
			if err := Lifecycle(b.action).tell(ctx, Subject{Guest: ready.request.Guest, hosts: b.actor.Hosts}, struct{}{}, p); err != nil {
				return err
			}
		}
		for _, s := range b.skipped {
			kind, id := s.Target.id()
			p.Warn("The %s %d is skipped: %s", kind, id, s.Detail)
		}
		if draft.Only() && len(b.ready) == 0 {
			return draft.Refuse(problem.New(problem.CodeInvalidState, "every target would be skipped"))
		}
		return nil
	})
}

// enqueue enqueues the jobs that can be, and writes the trail.
func (b *bulk) enqueue(ctx context.Context, tx *db.Tx) (Bulk, error) {
	done := Bulk{Jobs: []job.View{}, Skipped: slices.Clone(b.skipped)}
	if done.Skipped == nil {
		done.Skipped = []Skipped{}
	}
	ids := []int64{}
	for _, ready := range b.ready {
		own := audit.As(ctx, b.entry(ready.request))
		made, err := ready.enqueue(own, tx)
		if p := problem.From(err); err != nil && p.Code == problem.CodeGuestBusy {
			done.Skipped = append(done.Skipped, Skipped{Target: ready.target, Error: string(p.Code), Detail: p.Detail})
			continue
		}
		if err != nil {
			return Bulk{}, err
		}
		if err := audit.Write(own, tx); err != nil {
			return Bulk{}, err
		}
		done.Jobs, ids = append(done.Jobs, made.View()), append(ids, made.ID)
	}
	for _, s := range done.Skipped {
		if err := b.writeRefusal(ctx, tx, s); err != nil {
			return Bulk{}, err
		}
	}
	audit.Describe(ctx, func(e *audit.Entry) {
		e.Detail("action", string(b.action))
		e.Detail("jobs", len(done.Jobs))
		e.Detail("skipped", len(done.Skipped))
	})
	if err := idempotency.Keep(ctx, kept{Jobs: ids, Skipped: done.Skipped}); err != nil {
		return Bulk{}, err
	}
	return done, audit.Write(ctx, tx)
}

// entry fills in the trail's row of one target.
func (b *bulk) entry(r Request) func(*audit.Entry) {
	return func(e *audit.Entry) {
		e.Action = r.Target.Kind + "." + string(b.action)
		e.TargetKind, e.TargetID, e.TargetName = r.Target.Kind, strconv.FormatInt(r.Target.ID, 10), r.Target.Name
		e.TeamID, e.HostID = &r.TeamID, &r.Guest.HostID
	}
}

// writeRefusal writes the trail's row of a target that is skipped.
func (b *bulk) writeRefusal(ctx context.Context, tx *db.Tx, s Skipped) error {
	kind, id := s.Target.id()
	fill := func(e *audit.Entry) {
		e.Action, e.TargetKind, e.TargetID = kind+"."+string(b.action), kind, strconv.FormatInt(id, 10)
	}
	for _, r := range b.found {
		if r.Target.Kind == kind && r.Target.ID == id {
			fill = b.entry(r)
		}
	}
	refused := audit.FromContext(audit.As(ctx, fill))
	if refused == nil {
		return nil
	}
	entry := refused.Entry()
	entry.Result, entry.Error = audit.ResultRefused, s.Error
	return audit.WriteEntry(tx, entry)
}

// kept is what the answer is made of again.
type kept struct {
	Jobs    []int64   `json:"jobs"`
	Skipped []Skipped `json:"skipped"`
}
