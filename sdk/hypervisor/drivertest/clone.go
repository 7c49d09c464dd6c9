package drivertest

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// cloneOfRunningContainer expects that a full clone of a running container is
// Refused. The kind matters: Conflict would mean that the ID is taken, and the
// service would try again with another ID.
func (s *suite) cloneOfRunningContainer(t *testing.T, ctx context.Context, cloner hypervisor.Cloner) {
	t.Helper()
	source := s.NewGuest(t, hypervisor.Container, hypervisor.GuestRunning)
	for try := range 50 {
		name := fmt.Sprintf("running-%s-%d", source.ID, try)
		free := s.placement(t, ctx, hypervisor.PlacementQuery{Kind: source.Kind, Node: source.Node, Name: name}).ID
		id, err := cloner.Clone(ctx, source, hypervisor.CloneSpec{ID: free, Name: name, Full: true})
		if plugin.KindOf(err) == plugin.Conflict {
			continue // another was faster
		}
		if s.ends(t, ctx, id, err, plugin.Refused) {
			t.Error("a full copy was made of a running container")
		}
		return
	}
	t.Fatal("no ID stayed free")
}

// clone tests Cloner: a full clone, and the refusals of a taken ID, of a linked
// clone of a guest that is not a template, and of a running container.
func (s *suite) clone(t *testing.T) {
	need[hypervisor.Cloner](t, s)
	need[hypervisor.Provisioner](t, s)
	for _, kind := range s.kinds() {
		s.run(t, "a full copy of a "+string(kind), func(t *testing.T, ctx context.Context) {
			hook(t, "SnapshotGuest", s.SnapshotGuest != nil)
			source := s.SnapshotGuest(t, kind, hypervisor.GuestStopped)
			cloner := as[hypervisor.Cloner](t, s.host(t, endpoint.Lifecycle))
			for try := range 50 {
				name := fmt.Sprintf("copy-%s-%d", source.ID, try)
				id := s.placement(t, ctx, hypervisor.PlacementQuery{Kind: kind, Node: source.Node, Name: name}).ID
				task, err := cloner.Clone(ctx, source, hypervisor.CloneSpec{ID: id, Name: name, Full: true})
				if plugin.KindOf(err) == plugin.Conflict || !s.ends(t, ctx, task, err) {
					continue // another was faster
				}
				s.wantOperation(t, ctx, source, task, hypervisor.OperationClone)
				made, err := s.host(t, endpoint.Monitoring).Guest(ctx, hypervisor.GuestRef{Kind: kind, Node: source.Node, ID: id})
				must(t, "reading the copy", err)
				if made.Name != name || made.Status != hypervisor.GuestStopped || made.Lock != "" {
					t.Errorf("the copy is %+v", made)
				}
				s.destroy(t, ctx, made.GuestRef)
				return
			}
			t.Fatal("no copy could be made")
		})
	}
	s.run(t, "refusals", func(t *testing.T, ctx context.Context) {
		hook(t, "NewGuest", s.NewGuest != nil)
		source, other := s.NewGuest(t, s.kind(), hypervisor.GuestStopped), s.NewGuest(t, s.kind(), hypervisor.GuestStopped)
		cloner := as[hypervisor.Cloner](t, s.host(t, endpoint.Lifecycle))
		id, err := cloner.Clone(ctx, source, hypervisor.CloneSpec{ID: other.ID, Name: string(other.ID), Full: true})
		if s.ends(t, ctx, id, err, plugin.Conflict) {
			t.Error("a copy was made under the id of another guest")
		}
		free := s.placement(t, ctx, hypervisor.PlacementQuery{Kind: source.Kind, Node: source.Node, Name: "linked-" + string(source.ID)}).ID
		id, err = cloner.Clone(ctx, source, hypervisor.CloneSpec{ID: free, Name: "linked-" + string(source.ID)})
		if s.ends(t, ctx, id, err, plugin.Conflict) {
			t.Error("a linked copy was created of a guest that is not a template")
		}
		if slices.Contains(s.kinds(), hypervisor.Container) {
			s.cloneOfRunningContainer(t, ctx, cloner)
		}
	})
}
