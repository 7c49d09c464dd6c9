package app

import (
	"context"

	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/schedule"
	"github.com/hostler/hostler/core/scope"
	"github.com/hostler/hostler/sdk/hypervisor"
)

type actParams struct {
	AppID int64 `json:"app_id" minimum:"1" example:"2" doc:"The app"`
}

// Kinds are the actions that a schedule may ask for: app.start to app.restart.
func (s *Store) Kinds() []schedule.Kind {
	var kinds []schedule.Kind
	for _, action := range hypervisor.Actions(hypervisor.Container) {
		kind := schedule.Of("app."+string(action), "Ask an app to "+guest.Verb(action),
			func(ctx context.Context, p actParams) (schedule.Enqueue, error) {
				found, err := schedule.Require(ctx, s.Actor.DB, scope.App, p.AppID, identity.Operator)
				if err != nil {
					return nil, err
				}
				r, err := s.Request(ctx, p.AppID, found.TeamID, nil)
				if err != nil {
					return nil, err
				}
				return guest.Lifecycle(action).Prepare(ctx, s.Actor, r, struct{}{})
			})
		kind.Scope = "apps"
		kinds = append(kinds, kind)
	}
	return kinds
}
