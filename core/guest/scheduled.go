package guest

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/core/schedule"
)

// Selection selects the guests of a schedule by a tag or by host. It is
// evaluated at each run, so new guests are included.
type Selection struct {
	Tag    *string `json:"tag,omitempty" minLength:"1" maxLength:"128" example:"prod" doc:"Guests with this tag, case-insensitive, without templates; backups select templates that have a tag backup-<n>d"`
	HostID *int64  `json:"host_id,omitempty" minimum:"1" doc:"Guests on this host, without templates; backups select templates that have a tag backup-<n>d"`
}

// Retention limits how many of its results a schedule keeps.
type Retention struct {
	Keep *int64 `json:"keep,omitempty" minimum:"1" maximum:"365" example:"7" doc:"Number of newest items to keep; after a successful run, older items that this schedule created for the guest are deleted"`
}

// ScheduleTargets is what a schedule acts on. Either Targets or Select is set.
type ScheduleTargets struct {
	Targets []NamedTarget
	Select  *Selection
	// PromisedTemplates also selects templates whose tags promise backups.
	PromisedTemplates bool
}

// PromiseTag is a PostgreSQL regular expression for tags that promise backups,
// such as backup-7d.
const PromiseTag = "^backup-[1-9][0-9]{0,3}d$"

// ScheduledGuests contains the guests of a schedule that its writer may work on now.
// Of several guests, those that are refused are left out. The refusal of a
// single guest is the problem, and so is the first refusal if all are refused.
// A selection without guests is not a problem before the schedule runs.
type ScheduledGuests struct {
	requests []Request
	selected bool
}

// ScheduledGuests finds the guests. The kinds are "vm" and "app", as far as the kind
// of the schedule applies to them. Problems: invalid unless exactly one way of
// choosing was used, and those of the operation on a single guest.
func (s *Store) ScheduledGuests(ctx context.Context, a *Actor, c ScheduleTargets, kinds ...string) (*ScheduledGuests, error) {
	if c.Select != nil {
		return s.selected(ctx, c, kinds)
	}
	all, err := Targets(c.Targets)
	if err != nil {
		return nil, invalidParams("each target must name either a vm or an app, and must be listed only once")
	}
	entries, err := s.entriesOf(ctx, all)
	if err != nil {
		return nil, err
	}
	b := &bulkRequest{actor: a}
	found, first := &ScheduledGuests{}, error(nil)
	for _, target := range all {
		kind, id := target.id()
		request, err := b.admit(ctx, entries, kind, id)
		if err != nil {
			if first == nil {
				first = err
			}
			continue
		}
		found.requests = append(found.requests, request)
	}
	if len(found.requests) == 0 {
		return nil, first
	}
	return found, nil
}

// selected returns what a selection matches among the guests that the caller
// may work on.
func (s *Store) selected(ctx context.Context, c ScheduleTargets, kinds []string) (*ScheduledGuests, error) {
	sel := *c.Select
	if (sel.Tag == nil) == (sel.HostID == nil) {
		return nil, invalidParams("select must have either a tag or a host_id")
	}
	caller := identity.FromContext(ctx)
	visible := identity.VisibleTeams{All: true, Teams: []int64{}}
	if caller != nil {
		visible = caller.Visible()
	}
	var where conditions
	where.visible(visible)
	where.add(sel.Tag != nil, "share_tag(g.tags, ARRAY[?::text])", sel.Tag)
	where.add(sel.HostID != nil, "g.host_id = ?", sel.HostID)
	where.add(!c.PromisedTemplates, "NOT g.template")
	where.add(c.PromisedTemplates, "(NOT g.template OR EXISTS (SELECT FROM unnest(g.tags) tag WHERE tag ~ ?))", PromiseTag)
	rows, err := s.DB.Pool.Query(ctx, "SELECT "+entryColumns+" FROM "+entryJoin+where.clause()+order, where.args...)
	if err != nil {
		return nil, db.Problem(fmt.Errorf("selecting guests: %w", err))
	}
	entries, err := collectEntries(rows)
	if err != nil {
		return nil, db.Problem(err)
	}
	self, err := s.Self.Guests(ctx)
	if err != nil {
		return nil, err
	}
	found := &ScheduledGuests{selected: true}
	for i := range entries {
		e := &entries[i]
		request := e.request()
		if request == nil || !slices.Contains(kinds, request.Target.Kind) || caller != nil && caller.On(e.TeamID) < identity.Operator {
			continue
		}
		e.markSelf(self)
		found.requests = append(found.requests, *request)
	}
	return found, nil
}

// Each prepares the work on each guest. The first job is returned as the
// schedule's job; each further one gets an audit row of its own. Guests that
// are refused or busy are left out, unless all are.
func (c *ScheduledGuests) Each(ctx context.Context, prepare func(context.Context, Request) (schedule.Enqueue, error)) (schedule.Enqueue,
	error) {
	var ready []prepared
	var first error
	for _, request := range c.requests {
		enqueue, err := prepare(ctx, request)
		if err == nil {
			ready = append(ready, prepared{request: request, enqueue: enqueue})
		} else if first == nil {
			first = err
		}
	}
	if len(ready) == 0 && first != nil {
		if c.selected { // others may be selected at the next run
			first = problem.New(problem.CodeInvalidState, "all selected guests are refused: %s", problem.From(first).Detail)
			return func(context.Context, *db.Tx) (*job.Job, error) { return nil, first }, nil
		}
		return nil, first
	}
	if len(ready) == 0 {
		none := problem.New(problem.CodeInvalidState, "the selection matches no guest that the schedule's author may act on")
		return func(context.Context, *db.Tx) (*job.Job, error) { return nil, none }, nil
	}
	return func(ctx context.Context, tx *db.Tx) (*job.Job, error) { return enqueueEach(ctx, tx, ready) }, nil
}

// enqueueEach enqueues the jobs and returns the first one.
func enqueueEach(ctx context.Context, tx *db.Tx, ready []prepared) (first *job.Job, err error) {
	var busy error
	for _, r := range ready {
		if first == nil {
			made, err := r.enqueue(ctx, tx)
			switch {
			case err != nil && problem.CodeOf(err) == problem.CodeGuestBusy:
				busy = err
			case err != nil:
				return nil, err
			default:
				first = made
			}
			continue
		}
		if err := enqueueFurther(ctx, tx, r); err != nil {
			return nil, err
		}
	}
	if first == nil {
		return nil, busy
	}
	return first, nil
}

// enqueueFurther enqueues the job of a further guest and writes its audit row.
// A busy guest is skipped.
func enqueueFurther(ctx context.Context, tx *db.Tx, r prepared) error {
	about := func(e *audit.Entry) {
		e.TargetKind, e.TargetID, e.TargetName = r.request.Target.Kind, strconv.FormatInt(r.request.Target.ID, 10), r.request.Target.Name
		e.TeamID, e.HostID = &r.request.TeamID, &r.request.Guest.HostID
	}
	own := audit.BeginAnother(ctx, about)
	made, err := r.enqueue(own, tx)
	if err != nil {
		if problem.CodeOf(err) == problem.CodeGuestBusy {
			return nil
		}
		return err
	}
	entry := audit.Entry{ActorType: audit.ActorSystem}
	if attempt := audit.FromContext(own); attempt != nil {
		entry = attempt.Entry()
	}
	about(&entry)
	entry.Action, entry.JobID, entry.Result = made.Kind, &made.ID, audit.ResultOK
	if made.ScheduleID != nil {
		entry.Detail("schedule", *made.ScheduleID)
	}
	return audit.WriteEntry(tx, entry)
}

// invalidParams returns invalid for the parameters of a schedule.
func invalidParams(msg string) error {
	return problem.InvalidField(msg, "value_error", "body", "params")
}

// ChooseTargets combines the ways of choosing that a kind of schedule has: the ID of
// one guest, several targets, or a selection. Exactly one of them must be
// given; names lists them for the error.
func ChooseTargets(vm, app *int64, targets []NamedTarget, sel *Selection, names string) (ScheduleTargets, error) {
	given := 0
	for _, is := range []bool{vm != nil, app != nil, len(targets) > 0, sel != nil} {
		if is {
			given++
		}
	}
	if given != 1 {
		return ScheduleTargets{}, invalidParams("must have exactly one of " + names)
	}
	if vm != nil || app != nil {
		targets = []NamedTarget{{VM: vm, App: app}}
	}
	return ScheduleTargets{Targets: targets, Select: sel}, nil
}
