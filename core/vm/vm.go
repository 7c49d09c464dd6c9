// Package vm is the view of guests as virtual machines: every guest of kind vm is one, under the id of its row.
package vm

import (
	"context"

	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/job"
)

// Store reads VMs and names them for work on them.
type Store struct {
	Guests *guest.Store
	Actor  *guest.Actor
}

// List gives the VMs that may be seen.
func (s *Store) List(ctx context.Context, f guest.Filter, visible identity.VisibleTeams) ([]guest.Guest, error) {
	f.Kind = guest.VM
	return s.Guests.List(ctx, f, visible)
}

// Get gives one VM, or problem not_found.
func (s *Store) Get(ctx context.Context, id int64) (*guest.Guest, error) {
	return s.Guests.Get(ctx, guest.VM, id)
}

// Request names a VM of the team for guest.Work, or problem not_found.
func (s *Store) Request(ctx context.Context, id, team int64, confirm *string) (guest.Request, error) {
	g, err := s.Get(ctx, id)
	if err != nil {
		return guest.Request{}, err
	}
	return guest.Request{Target: job.Target{Kind: "vm", ID: g.ID, Name: g.Name}, Guest: g, TeamID: team, Confirm: confirm}, nil
}
