package backup

import (
	"context"

	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/core/plan"
	"github.com/hostler/hostler/core/problem"
)

// Restore requests a job that restores a backup, or returns only the plan. By
// default it creates a new guest. With Over it replaces the guest that was
// backed up; confirm must then be the name of that guest.
//
// Problems in addition to those of guest.RestoreNew and guest.RestoreOver:
// not_found, invalid for fields that only a new guest can have, and
// invalid_state if the guest to replace no longer exists or is a container that
// is not an app.
func (s *Store) Restore(ctx context.Context, id int64, order guest.RestoreRequest, confirm *string) (guest.CreateResult, error) {
	b, err := s.read(ctx, id)
	if err != nil {
		return guest.CreateResult{}, err
	}
	of := guest.RestoreSource{ID: b.ID, HostID: b.HostID, TeamID: b.teamID, Name: b.phrase(), GuestID: b.guestID, Backup: b.at}
	if b.Verified != nil {
		of.Backup.Verified = *b.Verified
	}
	if b.Suspicion != nil {
		of.Suspicion = *b.Suspicion
	}
	if !order.Over {
		return guest.RestoreNew(ctx, s.Actor, of, order)
	}
	var faults []problem.Fault
	for field, given := range map[string]bool{"newid": order.NewID != nil, "name": order.Name != nil, "node": order.Node != nil,
		"new_identity": order.NewIdentity != nil} {
		if given {
			faults = append(faults, problem.Fault{Loc: []any{"body", field}, Msg: "is only allowed when restoring to a new guest",
				Type: "value_error"})
		}
	}
	if len(faults) > 0 {
		return guest.CreateResult{}, problem.Invalid(faults...)
	}
	request, err := s.over(ctx, b)
	if err := plan.Begin(ctx).RefuseAndStop(ctx, err, plan.Confirmation{}); err != nil {
		return guest.CreateResult{}, err
	}
	request.Confirm = confirm
	return guest.RestoreOver(ctx, s.Actor, request, of, order)
}

// over returns the request for the guest that was backed up.
func (s *Store) over(ctx context.Context, b stored) (guest.Request, error) {
	switch {
	case b.guestID == nil:
		return guest.Request{}, problem.New(problem.CodeInvalidState, "guest %s no longer exists; restore it to a new ID", b.phrase())
	case b.Kind == guest.Container && b.App == nil:
		return guest.Request{}, problem.New(problem.CodeInvalidState, "the container %s is not an app; adopt it first", b.phrase())
	}
	g, err := s.Guests.Get(ctx, b.Kind, *b.guestID)
	if err != nil {
		return guest.Request{}, err
	}
	target := job.Target{Kind: "vm", ID: g.ID, Name: g.Name}
	if b.App != nil {
		target = job.Target{Kind: "app", ID: *b.App, Name: b.Name}
	}
	return guest.Request{Target: target, Guest: g, TeamID: b.teamID}, nil
}

// phrase is what the service calls the backup: the name of its guest, or the
// guest's ID on the hypervisor if the name is unknown.
func (b stored) phrase() string {
	if b.Name != "" {
		return b.Name
	}
	return b.GuestRef
}
