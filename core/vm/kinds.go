package vm

import (
	"context"

	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/schedule"
	"github.com/hostler/hostler/core/scope"
	"github.com/hostler/hostler/sdk/hypervisor"
)

type actParams struct {
	VMID int64 `json:"vm_id" minimum:"1" example:"3" doc:"The VM"`
}

// Kinds are the actions that a schedule may ask for: vm.start to vm.reset.
func (s *Store) Kinds() []schedule.Kind {
	var kinds []schedule.Kind
	for _, action := range hypervisor.Actions(hypervisor.VM) {
		kind := schedule.Of("vm."+string(action), "Ask a VM to "+guest.Verb(action),
			func(ctx context.Context, p actParams) (schedule.Enqueue, error) {
				found, err := schedule.Require(ctx, s.Actor.DB, scope.VM, p.VMID, identity.Operator)
				if err != nil {
					return nil, err
				}
				r, err := s.Request(ctx, p.VMID, found.TeamID, nil)
				if err != nil {
					return nil, err
				}
				return guest.Lifecycle(action).Prepare(ctx, s.Actor, r, struct{}{})
			})
		kind.Scope = "vms"
		kinds = append(kinds, kind)
	}
	return kinds
}
