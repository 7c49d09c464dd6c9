package app

import (
	"context"

	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// Act asks for an action on an app of the team. Beside guest.Actor's problems: invalid_state when the app has no host or
// its container is not there.
func (s *Store) Act(ctx context.Context, id, team int64, action string, confirm *string) (*job.Job, *App, error) {
	wish, a, err := s.wish(ctx, id, team, hypervisor.Action(action))
	if err != nil {
		return nil, nil, err
	}
	wish.Confirm = confirm
	made, err := s.Actor.Start(ctx, wish)
	return made, a, err
}

func (s *Store) wish(ctx context.Context, id, team int64, action hypervisor.Action) (wish guest.Action, a *App, err error) {
	if a, err = s.Get(ctx, id); err != nil {
		return wish, nil, err
	}
	if a.HostID == nil || a.clusterID == nil {
		return wish, nil, problem.New(problem.CodeInvalidState, "the app %s has no host", a.Name)
	}
	if a.guestID == nil {
		return wish, nil, problem.New(problem.CodeInvalidState, "the container of %s is not there", a.Name)
	}
	g, err := s.Guests.Get(ctx, guest.Container, *a.guestID)
	if err != nil {
		return wish, nil, err
	}
	return guest.Action{Target: job.Target{Kind: "app", ID: a.ID, Name: a.Name}, Guest: g, TeamID: team, Action: action}, a, nil
}
