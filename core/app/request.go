package app

import (
	"context"

	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/core/plan"
	"github.com/hostler/hostler/core/problem"
)

// Request returns the request for work on the container of an app. confirm is
// the confirmation that the user sent, nil for none. The caller must have
// checked that the app belongs to the team.
//
// Problems: not_found, and invalid_state if the app has no host or its
// container does not exist. If only a plan was requested, such a refusal
// becomes the content of the plan and ends it.
func (s *Store) Request(ctx context.Context, id, team int64, confirm *string) (guest.Request, error) {
	a, err := s.Get(ctx, id)
	if err != nil {
		return guest.Request{}, err
	}
	gone := func(refused error) (guest.Request, error) {
		return guest.Request{}, plan.Begin(ctx).RefuseAndStop(ctx, refused, plan.Confirmation{})
	}
	if a.HostID == nil || a.clusterID == nil {
		return gone(problem.New(problem.CodeInvalidState, "the app %s has no host", a.Name))
	}
	if a.guestID == nil {
		return gone(problem.New(problem.CodeInvalidState, "the container of %s does not exist", a.Name))
	}
	g, err := s.Guests.Get(ctx, guest.Container, *a.guestID)
	if err != nil {
		return guest.Request{}, err
	}
	return guest.Request{Target: job.Target{Kind: "app", ID: a.ID, Name: a.Name}, Guest: g, TeamID: team, Confirm: confirm}, nil
}
