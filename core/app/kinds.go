package app

import (
	"context"
	"strings"
	"time"

	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/schedule"
	"github.com/hostler/hostler/core/scope"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// actParams are the parameters of a schedule that starts, stops or restarts an
// app.
type actParams struct {
	AppID int64 `json:"app_id" minimum:"1" example:"2" doc:"ID of the app"`
}

// snapshotParams are the parameters of a schedule that takes snapshots: one
// app, or a selection that is evaluated at each run.
type snapshotParams struct {
	AppID  *int64           `json:"app_id,omitempty" minimum:"1" example:"2" doc:"ID of the app"`
	Select *guest.Selection `json:"select,omitempty" doc:"Selects the apps at each run; replaces app_id"`
	guest.ScheduledSnapshot
	guest.Retention
}

// Kinds returns what a schedule may request: app.start to app.restart, one for
// each lifecycle action of containers, and app.snapshot_create.
//
// Each function runs when the schedule is due, with the rights of the user who
// wrote the schedule. It checks these rights again, because they may have been
// revoked since.
func (s *Store) Kinds() []schedule.Kind {
	var kinds []schedule.Kind
	for _, action := range hypervisor.Actions(hypervisor.Container) {
		verb := guest.Verb(action)
		kind := schedule.NewKind("app."+string(action), strings.ToUpper(verb[:1])+verb[1:]+" an app",
			func(ctx context.Context, p actParams) (schedule.Enqueue, error) {
				r, err := s.scheduled(ctx, p.AppID)
				if err != nil {
					return nil, err
				}
				return guest.Lifecycle(action).Prepare(ctx, s.Actor, r, struct{}{})
			})
		kind.Scope = "apps"
		kinds = append(kinds, kind)
	}
	snapshot := schedule.NewKind("app.snapshot_create", "Take a snapshot of an app",
		func(ctx context.Context, p snapshotParams) (schedule.Enqueue, error) {
			spec, err := p.At(time.Now())
			if err != nil {
				return nil, err
			}
			chosen, err := guest.ChooseTargets(nil, p.AppID, nil, p.Select, "app_id and select")
			if err != nil {
				return nil, err
			}
			guests, err := s.Guests.ScheduledGuests(ctx, s.Actor, chosen, "app")
			if err != nil {
				return nil, err
			}
			return guests.Each(ctx, func(ctx context.Context, r guest.Request) (schedule.Enqueue, error) {
				return guest.PrepareSnapshot(ctx, s.Actor, r, spec)
			})
		})
	snapshot.Scope = "apps"
	return append(kinds, snapshot)
}

// scheduled returns the request for an app that a schedule names. It fails
// unless the author of the schedule is still an operator of the app's team.
func (s *Store) scheduled(ctx context.Context, id int64) (guest.Request, error) {
	found, err := schedule.Require(ctx, s.Actor.DB, scope.App, id, identity.Operator)
	if err != nil {
		return guest.Request{}, err
	}
	return s.Request(ctx, id, found.TeamID, nil)
}
