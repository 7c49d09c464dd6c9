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

// MaxTargets is the largest number of guests in one request. It bounds the jobs
// that one request can create.
const MaxTargets = 500

// BulkTarget is a VM or an app; the other is nil.
type BulkTarget struct {
	VM  *int64 `json:"vm" example:"3" doc:"ID of a VM; null for an app"`
	App *int64 `json:"app" doc:"ID of an app; null for a VM"`
}

// id returns the kind of the target in the words of the API, and its ID.
func (t BulkTarget) id() (kind string, id int64) {
	if t.VM != nil {
		return targets[hypervisor.VM], *t.VM
	}
	return targets[hypervisor.Container], *t.App
}

// targetOf returns the target of a request.
func targetOf(r Request) BulkTarget {
	if r.Target.Kind == targets[hypervisor.VM] {
		return BulkTarget{VM: &r.Target.ID}
	}
	return BulkTarget{App: &r.Target.ID}
}

// named returns the target in the form of request bodies.
func (t BulkTarget) named() map[string]int64 {
	kind, id := t.id()
	return map[string]int64{kind: id}
}

// SkippedTarget is a target that nothing is done with, and the problem that the
// target would have got alone.
type SkippedTarget struct {
	Target BulkTarget `json:"target"`
	Error  string     `json:"error" example:"guest_busy"`
	Detail string     `json:"detail" example:"job 57 (vm.stop) has not finished yet; wait for it or cancel it"`
}

// BulkResult is the answer to an action on many guests.
type BulkResult struct {
	Jobs    []job.View      `json:"jobs" doc:"One job for each target that was not skipped"`
	Skipped []SkippedTarget `json:"skipped" doc:"Targets that were refused, and the reasons; they are not changed"`
}

// prepared is a target whose job can be enqueued, and the function that adds it
// to the plan.
type prepared struct {
	target  BulkTarget
	request Request
	enqueue schedule.Enqueue
	// writePlan writes into the plan what would be done with it.
	writePlan func(ctx context.Context, p *plan.Plan) error
}

// bulkRequest is one request for several guests.
type bulkRequest struct {
	// word is the requested work, such as "start". The function kind returns
	// the kind of the job for a kind of target.
	word    string
	kind    func(target string) string
	actor   *Actor
	ready   []prepared
	skipped []SkippedTarget
	// found are the targets that the caller may act on, whether they were
	// refused or not. Only these get their name into the audit log.
	found []Request
	// self is the name of the guest that the service runs in, if the work would
	// interrupt it.
	self string
	// invalid is the first refusal that concerns the request itself and not a
	// target.
	invalid error
}

// ActOnAll enqueues a power action on several guests. Each target is checked as
// in a request for that target alone, and a refused target is skipped. All jobs
// are enqueued in one transaction, with an audit row for each target and one
// for the request. The argument confirm is the name of the guest that the
// service runs in, if that is one of the targets. Its own problem is
// plan_stale; see also plan.Builder.
func (s *Store) ActOnAll(ctx context.Context, a *Actor, action hypervisor.Action, all []BulkTarget, confirm *string) (BulkResult, error) {
	return workOnAll(ctx, s, a, Lifecycle(action), func(context.Context, Request) (struct{}, error) { return struct{}{}, nil }, all,
		confirm)
}

// workOnAll enqueues the same work for several guests. The function spec
// returns the parameters for one of them. If it returns invalid for all of
// them, that is the problem of the request.
func workOnAll[P any](ctx context.Context, s *Store, a *Actor, work Work[P], spec func(context.Context, Request) (P, error),
	all []BulkTarget, confirm *string) (BulkResult, error) {
	b := &bulkRequest{word: work.Kind, kind: work.kind, actor: &Actor{DB: a.DB, Queue: a.Queue, Hosts: newHostsCache(a.Hosts)}}
	if err := prepareAll(ctx, s, b, work, spec, all, confirm); err != nil {
		return BulkResult{}, err
	}
	// A wrong parameter, such as a storage that no node has, would otherwise be
	// reported as success with zero jobs.
	if len(b.ready) == 0 && b.invalid != nil && !slices.ContainsFunc(b.skipped, func(s SkippedTarget) bool {
		return s.Error != string(problem.CodeInvalid)
	}) {
		return BulkResult{}, b.invalid
	}
	if err := b.plan(ctx); err != nil {
		return BulkResult{}, err
	}
	var done BulkResult
	err := a.DB.Tx(ctx, func(tx *db.Tx) (err error) {
		done, err = b.enqueue(ctx, tx)
		return err
	})
	return done, err
}

// prepareAll looks up the targets and checks each.
func prepareAll[P any](ctx context.Context, s *Store, b *bulkRequest, work Work[P], spec func(context.Context, Request) (P, error),
	all []BulkTarget, confirm *string) error {
	entries, err := s.entriesOf(ctx, all)
	if err != nil {
		return err
	}
	// A question about the plan concerns the whole request. Without this each
	// target would answer with its own plan.
	alone := plan.WithRequest(ctx, plan.Request{}) // the question is about the whole request
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
	// The jobs take locks of the guests. A fixed order keeps two requests for
	// the same guests from deadlocking.
	slices.SortStableFunc(b.ready, func(x, y prepared) int { return cmp.Compare(x.request.Guest.ID, y.request.Guest.ID) })
	return nil
}

// prepareOne checks one target and returns what enqueues its job.
func prepareOne[P any](ctx context.Context, b *bulkRequest, work Work[P], spec func(context.Context, Request) (P, error),
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
	return prepared{request: request, enqueue: enqueue, writePlan: func(ctx context.Context, p *plan.Plan) error {
		return work.writePlan(ctx, on, asked, p)
	}}, err
}

// skip records the refusal of a target. An error that does not concern the
// target, such as a lost database, ends the request.
func (b *bulkRequest) skip(target BulkTarget, err error) error {
	p := problem.From(err)
	// A driver without the ability, or a hypervisor that does not answer,
	// affects this target only.
	if p.Status() >= 500 && p.Code != problem.CodeUnsupported && p.Code != problem.CodeHypervisorError {
		return err
	}
	detail := p.Detail
	if p.Code == problem.CodeInvalid && len(p.Faults) > 0 {
		detail = fmt.Sprintf("%v: %s", p.Faults[0].Loc[len(p.Faults[0].Loc)-1], p.Faults[0].Msg)
		b.invalid = cmp.Or(b.invalid, err)
	}
	b.skipped = append(b.skipped, SkippedTarget{Target: target, Error: string(p.Code), Detail: detail})
	return nil
}

// entriesOf reads the rows of all targets in one query, regardless of who may
// see them. The function admit checks the rights.
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

// admit checks the caller's rights on one target, with the same results as the
// operation on that target alone.
func (b *bulkRequest) admit(ctx context.Context, entries map[string]*Entry, kind string, id int64) (Request, error) {
	caller := identity.FromContext(ctx)
	if needed := kind + "s:write"; caller != nil && caller.Scopes != nil && !slices.Contains(caller.Scopes, needed) {
		return Request{}, problem.New(problem.CodeForbidden, "the API key needs the scope %s", needed).With("scope", needed)
	}
	e := entries[kind+strconv.FormatInt(id, 10)]
	if e == nil {
		// The app may exist although its container is missing. Its owner then
		// gets invalid_state, while others learn nothing.
		thing, err := schedule.Require(ctx, b.actor.DB, scopeOf[kind], id, identity.Operator)
		if err == nil {
			err = problem.New(problem.CodeInvalidState, "the container of %s does not exist", thing.Name)
		}
		return Request{}, err
	}
	held := identity.Owner // of the service itself
	if caller != nil {
		held = caller.On(e.TeamID)
	}
	switch {
	// Somebody without a role in the team must not learn that the guest exists.
	case held == identity.NoRole:
		return Request{}, problem.New(problem.CodeNotFound, "%s not found", kind)
	case held < identity.Operator:
		return Request{}, problem.New(problem.CodeForbidden, "this requires the role %s", identity.Operator)
	}
	name := e.Name
	if e.App != nil {
		name = *e.App
	}
	return Request{Target: job.Target{Kind: kind, ID: id, Name: name}, Guest: &e.Guest, TeamID: e.TeamID}, nil
}

var scopeOf = map[string]string{targets[hypervisor.VM]: scope.VM, targets[hypervisor.Container]: scope.App}

// plan answers a request for the plan, or refuses the request if the plan has
// changed since the caller saw it.
func (b *bulkRequest) plan(ctx context.Context) error {
	draft, c := plan.Begin(ctx), plan.Confirmation{Given: true} // what was not confirmed is skipped
	if b.self != "" {
		c.Code, c.Phrase, c.IsSelf = problem.CodeSelfTarget, b.self, true
	}
	return draft.Finish(ctx, c, func(ctx context.Context, p *plan.Plan) error {
		for _, ready := range b.ready {
			if err := ready.writePlan(ctx, p); err != nil {
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

// enqueue enqueues all jobs and writes the audit rows, in one transaction.
func (b *bulkRequest) enqueue(ctx context.Context, tx *db.Tx) (BulkResult, error) {
	done := BulkResult{Jobs: []job.View{}, Skipped: slices.Clone(b.skipped)}
	if done.Skipped == nil {
		done.Skipped = []SkippedTarget{}
	}
	ids := []int64{}
	for _, ready := range b.ready {
		own := audit.BeginAnother(ctx, b.entry(ready.request))
		made, err := ready.enqueue(own, tx)
		// Another request took this guest between the check and now. The others
		// go on.
		if p := problem.From(err); err != nil && p.Code == problem.CodeGuestBusy {
			done.Skipped = append(done.Skipped, SkippedTarget{Target: ready.target, Error: string(p.Code), Detail: p.Detail})
			continue
		}
		if err != nil {
			return BulkResult{}, err
		}
		if err := audit.Write(own, tx); err != nil {
			return BulkResult{}, err
		}
		done.Jobs, ids = append(done.Jobs, made.View()), append(ids, made.ID)
	}
	for _, s := range done.Skipped {
		if err := b.writeRefusal(ctx, tx, s); err != nil {
			return BulkResult{}, err
		}
	}
	// The row of the request itself has the totals; the targets have their own
	// rows.
	audit.Describe(ctx, func(e *audit.Entry) {
		e.Detail("action", b.word)
		e.Detail("jobs", len(done.Jobs))
		e.Detail("skipped", len(done.Skipped))
	})
	if err := idempotency.SaveData(ctx, kept{Jobs: ids, Skipped: done.Skipped}); err != nil {
		return BulkResult{}, err
	}
	return done, audit.Write(ctx, tx)
}

// entry returns a function that fills in the audit row of one target.
func (b *bulkRequest) entry(r Request) func(*audit.Entry) {
	return func(e *audit.Entry) {
		e.Action = b.kind(r.Target.Kind)
		e.TargetKind, e.TargetID, e.TargetName = r.Target.Kind, strconv.FormatInt(r.Target.ID, 10), r.Target.Name
		e.TeamID, e.HostID = &r.TeamID, &r.Guest.HostID
	}
}

// writeRefusal writes the audit row of a skipped target. The name of the target
// is only in it if the caller may see the target.
func (b *bulkRequest) writeRefusal(ctx context.Context, tx *db.Tx, s SkippedTarget) error {
	kind, id := s.Target.id()
	fill := func(e *audit.Entry) {
		e.Action, e.TargetKind, e.TargetID = b.kind(kind), kind, strconv.FormatInt(id, 10)
	}
	for _, r := range b.found {
		if r.Target.Kind == kind && r.Target.ID == id {
			fill = b.entry(r)
		}
	}
	refused := audit.FromContext(audit.BeginAnother(ctx, fill))
	if refused == nil {
		return nil
	}
	entry := refused.Entry()
	entry.Result, entry.Error = audit.ResultRefused, s.Error
	return audit.WriteEntry(tx, entry)
}

// kept is stored for idempotent repetition: the answer is rebuilt from it.
type kept struct {
	Jobs    []int64         `json:"jobs"`
	Skipped []SkippedTarget `json:"skipped"`
}
