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
	VM  *int64 `json:"vm" example:"3" doc:"ID of a VM; null for an app"`
	App *int64 `json:"app" doc:"ID of an app; null for a VM"`
}

// id is the target's kind in the words of the API, and its id there.
func (t BulkTarget) id() (kind string, id int64) {
	if t.VM != nil {
		return targets[hypervisor.VM], *t.VM
	}
	return targets[hypervisor.Container], *t.App
}

// targetOf is the target of a request.
func targetOf(r Request) BulkTarget {
	if r.Target.Kind == targets[hypervisor.VM] {
		return BulkTarget{VM: &r.Target.ID}
	}
	return BulkTarget{App: &r.Target.ID}
}

// named is the target as bodies name it.
func (t BulkTarget) named() map[string]int64 {
	kind, id := t.id()
	return map[string]int64{kind: id}
}

// Skipped is a target that nothing is done with, and the problem that the target would have got alone.
type Skipped struct {
	Target BulkTarget `json:"target"`
	Error  string     `json:"error" example:"guest_busy"`
	Detail string     `json:"detail" example:"job 57 (vm.stop) is not finished yet; wait for it or cancel it"`
}

// Bulk is the answer to an action on many guests.
type Bulk struct {
	Jobs    []job.View `json:"jobs" doc:"One job for each target that was not skipped"`
	Skipped []Skipped  `json:"skipped" doc:"Targets that were refused, and the reasons; they are not changed"`
}

// prepared is a target whose job can be enqueued.
type prepared struct {
	target  BulkTarget
	request Request
	enqueue schedule.Enqueue
	// tell writes into the plan what would be done with it.
	tell func(ctx context.Context, p *plan.Plan) error
}

// bulk is one request for many guests.
type bulk struct {
	// word is what is asked for, such as "start", and kind the kind of the job for a kind of target.
	word    string
	kind    func(target string) string
	actor   *Actor
	ready   []prepared
	skipped []Skipped
	// found are those that the caller may act on, refused or not.
	found []Request
	// self is the name of the guest that the service itself runs in, where that would be taken away.
	self string
	// invalid is the first refusal of what was asked for, whatever the target.
	invalid error
}

// ActOnAll asks for an action on many guests: each target is checked as if it were asked for alone, and what is refused is skipped. All
// jobs are enqueued in one transaction, with an audit row for each target and one for the request. confirm is the name of the guest that
// the service itself runs in, where that is among the targets. Its own problem is plan_stale; see also plan.Draft.
func (s *Store) ActOnAll(ctx context.Context, a *Actor, action hypervisor.Action, all []BulkTarget, confirm *string) (Bulk, error) {
	return workOnAll(ctx, s, a, Lifecycle(action), func(context.Context, Request) (struct{}, error) { return struct{}{}, nil }, all,
		confirm)
}

// workOnAll asks for the same work on many guests. spec says what is asked for of one of them; where its problem is invalid for all of
// them, that is the problem of the request.
func workOnAll[P any](ctx context.Context, s *Store, a *Actor, work Work[P], spec func(context.Context, Request) (P, error),
	all []BulkTarget, confirm *string) (Bulk, error) {
	b := &bulk{word: work.Kind, kind: work.kind, actor: &Actor{DB: a.DB, Queue: a.Queue, Hosts: remembering(a.Hosts)}}
	if err := prepareAll(ctx, s, b, work, spec, all, confirm); err != nil {
		return Bulk{}, err
	}
	if len(b.ready) == 0 && b.invalid != nil && !slices.ContainsFunc(b.skipped, func(s Skipped) bool {
		return s.Error != string(problem.CodeInvalid)
	}) {
		return Bulk{}, b.invalid
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

// prepareAll finds the targets and checks them.
func prepareAll[P any](ctx context.Context, s *Store, b *bulk, work Work[P], spec func(context.Context, Request) (P, error),
	all []BulkTarget, confirm *string) error {
	entries, err := s.entriesOf(ctx, all)
	if err != nil {
		return err
	}
	alone := plan.With(ctx, plan.Question{}) // the question is about the whole request
	for _, target := range all {
		kind, id := target.id()
		request, err := b.admit(alone, entries, kind, id)
		if err == nil {
			request.Confirm = confirm
			b.found = append(b.found, request)
			var ready prepared
			if ready, err = prepareOne(alone, b, work, spec, request); err == nil {
				ready.target = target
				b.ready = append(b.ready, ready)
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

// prepareOne checks one target.
func prepareOne[P any](ctx context.Context, b *bulk, work Work[P], spec func(context.Context, Request) (P, error),
	request Request) (prepared, error) {
	asked, err := spec(ctx, request)
	if err != nil {
		return prepared{}, err
	}
	work = work.interrupting(asked)
	if work.Interrupts && request.Guest.IsSelf {
		b.self = request.Target.Name
	}
	enqueue, err := work.Prepare(ctx, b.actor, request, asked)
	on := b.actor.Subject(request.Guest)
	return prepared{request: request, enqueue: enqueue, tell: func(ctx context.Context, p *plan.Plan) error {
		return work.tell(ctx, on, asked, p)
	}}, err
}

// skip keeps a refusal; an error that is none of the target's ends the request.
func (b *bulk) skip(target BulkTarget, err error) error {
	p := problem.From(err)
	if p.Status() >= 500 && p.Code != problem.CodeUnsupported && p.Code != problem.CodeHypervisorError {
		return err
	}
	detail := p.Detail
	if p.Code == problem.CodeInvalid && len(p.Faults) > 0 {
		detail = fmt.Sprintf("%v: %s", p.Faults[0].Loc[len(p.Faults[0].Loc)-1], p.Faults[0].Msg)
		b.invalid = cmp.Or(b.invalid, err)
	}
	b.skipped = append(b.skipped, Skipped{Target: target, Error: string(p.Code), Detail: detail})
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
	held := identity.Owner // of the service itself
	if caller != nil {
		held = caller.On(e.TeamID)
	}
	switch {
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
	if b.self != "" {
		c.Code, c.Phrase, c.IsSelf = problem.CodeSelfTarget, b.self, true
	}
	return draft.Decide(ctx, c, func(ctx context.Context, p *plan.Plan) error {
		for _, ready := range b.ready {
			if err := ready.tell(ctx, p); err != nil {
				return err
			}
		}
		for _, s := range b.skipped {
			kind, id := s.Target.id()
			p.Warn("The %s %d is skipped: %s", kind, id, s.Detail)
		}
		if len(b.ready) == 0 { // the request itself answers without jobs
			p.Warn("Every target is skipped, so no job starts.")
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
		e.Detail("action", b.word)
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
		e.Action = b.kind(r.Target.Kind)
		e.TargetKind, e.TargetID, e.TargetName = r.Target.Kind, strconv.FormatInt(r.Target.ID, 10), r.Target.Name
		e.TeamID, e.HostID = &r.TeamID, &r.Guest.HostID
	}
}

// writeRefusal writes the trail's row of a target that is skipped.
func (b *bulk) writeRefusal(ctx context.Context, tx *db.Tx, s Skipped) error {
	kind, id := s.Target.id()
	fill := func(e *audit.Entry) {
		e.Action, e.TargetKind, e.TargetID = b.kind(kind), kind, strconv.FormatInt(id, 10)
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
