package vm

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

type actParams struct {
	VMID int64 `json:"vm_id" minimum:"1" example:"3" doc:"ID of the VM"`
}

type snapshotParams struct {
	VMID   *int64           `json:"vm_id,omitempty" minimum:"1" example:"3" doc:"ID of the VM"`
	Select *guest.Selection `json:"select,omitempty" doc:"Selects the VMs at each run; replaces vm_id"`
	guest.ScheduledSnapshot
	Memory bool `json:"vmstate,omitempty" doc:"Include the memory in the snapshot"`
	guest.Retention
}

// Kinds are what a schedule may ask for: vm.start to vm.reset, and vm.snapshot_create.
func (s *Store) Kinds() []schedule.Kind {
	var kinds []schedule.Kind
	for _, action := range hypervisor.Actions(hypervisor.VM) {
		verb := guest.Verb(action)
		kind := schedule.NewKind("vm."+string(action), strings.ToUpper(verb[:1])+verb[1:]+" a VM",
			func(ctx context.Context, p actParams) (schedule.Enqueue, error) {
				r, err := s.scheduled(ctx, p.VMID)
				if err != nil {
					return nil, err
				}
				return guest.Lifecycle(action).Prepare(ctx, s.Actor, r, struct{}{})
			})
		kind.Scope = "vms"
		kinds = append(kinds, kind)
	}
	snapshot := schedule.NewKind("vm.snapshot_create", "Take a snapshot of a VM",
		func(ctx context.Context, p snapshotParams) (schedule.Enqueue, error) {
			spec, err := p.At(time.Now())
			if err != nil {
				return nil, err
			}
			spec.Memory = p.Memory
			chosen, err := guest.ChooseTargets(p.VMID, nil, nil, p.Select, "vm_id and select")
			if err != nil {
				return nil, err
			}
			guests, err := s.Guests.ScheduledGuests(ctx, s.Actor, chosen, "vm")
			if err != nil {
				return nil, err
			}
			return guests.Each(ctx, func(ctx context.Context, r guest.Request) (schedule.Enqueue, error) {
				return guest.PrepareSnapshot(ctx, s.Actor, r, spec)
			})
		})
	snapshot.Scope = "vms"
	return append(kinds, snapshot)
}

// scheduled names a VM for work that a schedule asks for, after a check that its writer may have it done.
func (s *Store) scheduled(ctx context.Context, id int64) (guest.Request, error) {
	found, err := schedule.Require(ctx, s.Actor.DB, scope.VM, id, identity.Operator)
	if err != nil {
		return guest.Request{}, err
	}
	return s.Request(ctx, id, found.TeamID, nil)
}
