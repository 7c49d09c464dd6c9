package drivertest

import (
	"context"
	"testing"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// creationCheck tests CreationChecker: a check must create nothing, and a
// refusal must name the missing privileges and the path where they are missing.
func (s *suite) creationCheck(t *testing.T) {
	need[hypervisor.CreationChecker](t, s)
	s.run(t, "a VM and a copy", func(t *testing.T, ctx context.Context) {
		hook(t, "VM", s.VM != nil)
		hook(t, "NewGuest", s.NewGuest != nil)
		spec := s.VM(t)
		spec.Name, spec.Mark = "checked", "4f6c1c1e-6b1c-4b6e-9d1e-0a5b8f1f2a3b"
		spec.ID = s.placement(t, ctx, hypervisor.PlacementQuery{Kind: hypervisor.VM, Node: spec.Node, Name: spec.Name}).ID
		source := s.NewGuest(t, s.kind(), hypervisor.GuestStopped)
		copied := hypervisor.CloneSpec{ID: spec.ID, Name: spec.Name, Full: true}
		able := as[hypervisor.CreationChecker](t, s.host(t, endpoint.Lifecycle))
		must(t, "checking a VM", able.CheckVM(ctx, spec))
		must(t, "checking a copy", able.CheckClone(ctx, source, copied))
		ref := hypervisor.GuestRef{Kind: hypervisor.VM, Node: spec.Node, ID: spec.ID}
		if guest, err := s.host(t, endpoint.Monitoring).Guest(ctx, ref); err == nil && guest.Name == spec.Name {
			t.Errorf("a check has made %+v", guest)
		}
		if s.Alike {
			t.Skip("every token has all rights")
		}
		reader := as[hypervisor.CreationChecker](t, s.host(t, endpoint.Monitoring))
		for name, err := range map[string]error{"a VM": reader.CheckVM(ctx, spec), "a copy": reader.CheckClone(ctx, source, copied)} {
			if e := wantKind(t, err, plugin.Denied); len(e.Missing) == 0 || e.Path == "" {
				t.Errorf("%s: the error has no privilege and path: %+v", name, e)
			}
		}
	})
}
