// Package vm is the view of guests as virtual machines: every guest of kind vm is one, under the id of its row.
package vm

import (
	"context"

	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// Store reads VMs and asks for changes of their power state.
type Store struct {
	Guests *guest.Store
	Actor  *guest.Actor
}

// List gives the VMs that may be seen.
func (s *Store) List(ctx context.Context, f guest.Filter, visible identity.Visible) ([]guest.Guest, error) {
	f.Kind = guest.VM
	return s.Guests.List(ctx, f, visible)
}

// Get gives one VM, or problem not_found.
func (s *Store) Get(ctx context.Context, id int64) (*guest.Guest, error) {
	return s.Guests.Get(ctx, guest.VM, id)
}

// Act asks for an action on a VM of the team; see guest.Actor for the problems.
func (s *Store) Act(ctx context.Context, id, team int64, action string, confirm *string) (*job.Job, *guest.Guest, error) {
	wish, err := s.wish(ctx, id, team, hypervisor.Action(action))
	if err != nil {
		return nil, nil, err
	}
	wish.Confirm = confirm
	made, err := s.Actor.Start(ctx, wish)
	return made, wish.Guest, err
}

func (s *Store) wish(ctx context.Context, id, team int64, action hypervisor.Action) (guest.Action, error) {
	g, err := s.Get(ctx, id)
	if err != nil {
		return guest.Action{}, err
	}
	return guest.Action{Target: job.Target{Kind: "vm", ID: g.ID, Name: g.Name}, Guest: g, TeamID: team, Action: action}, nil
}
