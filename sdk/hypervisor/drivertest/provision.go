package drivertest

import (
	"context"
	"fmt"
	"testing"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// placement asks where a guest can be made, with the token for monitoring.
func (s *suite) placement(t *testing.T, ctx context.Context, query hypervisor.PlacementQuery) hypervisor.Placement {
	t.Helper()
	query.ID, query.Storages, query.Bridges = true, true, true
	p, err := as[hypervisor.Provisioner](t, s.host(t, endpoint.Monitoring)).Placement(ctx, query)
	must(t, "asking for a placement", err)
	return p
}

// newVM makes a VM through the driver and waits for it. Somebody else may take
// the id first; then it tries again.
func (s *suite) newVM(t *testing.T, ctx context.Context, mark string) (ref hypervisor.GuestRef, spec hypervisor.VMSpec, taskID string) {
	t.Helper()
	hook(t, "VM", s.VM != nil)
	for try := range 50 {
		spec = s.VM(t)
		spec.Name, spec.Mark = "made-"+mark[:8]+fmt.Sprint(try), mark
		spec.ID = s.placement(t, ctx, hypervisor.PlacementQuery{Kind: hypervisor.VM, Node: spec.Node, Name: spec.Name}).ID
		if spec.ID == "" {
			continue
		}
		id, err := as[hypervisor.Provisioner](t, s.host(t, endpoint.Lifecycle)).CreateVM(ctx, spec)
		if plugin.KindOf(err) == plugin.Conflict || !s.ends(t, ctx, id, err) {
			continue
		}
		ref = hypervisor.GuestRef{Kind: hypervisor.VM, Node: spec.Node, ID: spec.ID}
		guest, err := s.host(t, endpoint.Monitoring).Guest(ctx, ref)
		must(t, "reading the new VM", err)
		return guest.GuestRef, spec, id
	}
	t.Fatal("no VM could be created")
	return ref, spec, ""
}

// destroy destroys a guest, which must succeed.
func (s *suite) destroy(t *testing.T, ctx context.Context, ref hypervisor.GuestRef) (taskID string) {
	t.Helper()
	id, err := as[hypervisor.Provisioner](t, s.host(t, endpoint.Lifecycle)).Destroy(ctx, ref, hypervisor.DestroySpec{Purge: true})
	if !s.ends(t, ctx, id, err) {
		t.Fatalf("destroying %+v failed: %v", ref, err)
	}
	return id
}

// provision tests Provisioner. A placement answers only what the query asks
// for. Creating a guest under a taken ID is a Conflict, and a running guest is
// never destroyed.
func (s *suite) provision(t *testing.T) {
	need[hypervisor.Provisioner](t, s)
	s.run(t, "what is usual is where guests can be", func(t *testing.T, ctx context.Context) {
		hook(t, "VM", s.VM != nil)
		usual, spec := s.described(t).Usual, s.VM(t)
		p := s.placement(t, ctx, hypervisor.PlacementQuery{Kind: hypervisor.Container, Node: spec.Node, Name: spec.Name})
		for _, storage := range p.Storages {
			if storage.Name == usual.Storage && !storage.VMs && !storage.Containers {
				t.Errorf("the usual storage %s cannot store disks", storage.Name)
			}
		}
		if usual.Storage != "" && usual.Storage == usual.Bridge {
			t.Errorf("storage and network are both called %s", usual.Storage)
		}
	})
	s.run(t, "placement", func(t *testing.T, ctx context.Context) {
		hook(t, "VM", s.VM != nil)
		spec := s.VM(t)
		query := hypervisor.PlacementQuery{Kind: hypervisor.VM, Node: spec.Node, Name: "placed", Image: spec.Image}
		p := s.placement(t, ctx, query)
		if !p.ID.Valid() || len(p.Bridges) == 0 || len(p.OSTypes) == 0 || p.ImageFound != (spec.Image != "") {
			t.Errorf("placement is %+v", p)
		}
		found := false
		for _, storage := range p.Storages {
			found = found || storage.Name == spec.Storage && storage.VMs && storage.Available
		}
		if !found {
			t.Errorf("storage %s is not among %+v", spec.Storage, p.Storages)
		}
		query.Image = "nowhere:iso/none.iso"
		if s.placement(t, ctx, query).ImageFound {
			t.Error("an image that does not exist was found")
		}
		at := as[hypervisor.Provisioner](t, s.host(t, endpoint.Monitoring))
		bare, err := at.Placement(ctx, hypervisor.PlacementQuery{Kind: query.Kind, Node: query.Node, Name: query.Name})
		must(t, "asking for nothing", err)
		if bare.ID != "" || len(bare.Storages) > 0 || len(bare.Bridges) > 0 || bare.Limits != p.Limits {
			t.Errorf("without a question the placement is %+v", bare)
		}
		query.Node, query.Storages = "no-such-node", true
		_, err = at.Placement(ctx, query)
		wantKind(t, err, plugin.NotFound)
	})
	s.run(t, "the life of a VM", func(t *testing.T, ctx context.Context) {
		const mark = "4f6c1c1e-6b1c-4b6e-9d1e-0a5b8f1f2a3b"
		ref, spec, id := s.newVM(t, ctx, mark)
		s.wantOperation(t, ctx, ref, id, hypervisor.OperationCreate)
		again := spec
		id, err := as[hypervisor.Provisioner](t, s.host(t, endpoint.Lifecycle)).CreateVM(ctx, again)
		if s.ends(t, ctx, id, err, plugin.Conflict) {
			t.Error("a second VM was made under the id of the first")
		}
		if reader, ok := hypervisor.As[hypervisor.ConfigReader](s.host(t, endpoint.Monitoring)); ok {
			config, err := reader.Config(ctx, ref)
			must(t, "reading the configuration", err)
			if !config.HasMark(mark) || config.Cores == nil || *config.Cores != spec.Cores || config.MemoryMB == nil ||
				*config.MemoryMB != spec.MemoryMB || config.OSType != spec.OSType || len(config.NICs) != 1 ||
				config.NICs[0].Bridge != spec.Bridge || !config.NICs[0].Firewall {
				t.Errorf("made %+v, got %+v", spec, config)
			}
		}
		task := s.destroy(t, ctx, ref)
		s.wantOperation(t, ctx, ref, task, hypervisor.OperationDestroy)
		// The id may be taken by another guest that is made at the same time.
		left, err := s.host(t, endpoint.Monitoring).Guest(ctx, ref)
		if err == nil && left.Name == spec.Name {
			t.Errorf("the deleted VM still exists: %+v", left)
		} else if err != nil {
			wantKind(t, err, plugin.NotFound)
		}
	})
	s.run(t, "what runs is not destroyed", func(t *testing.T, ctx context.Context) {
		hook(t, "NewGuest", s.NewGuest != nil)
		ref := s.NewGuest(t, s.kind(), hypervisor.GuestRunning)
		id, err := as[hypervisor.Provisioner](t, s.host(t, endpoint.Lifecycle)).Destroy(ctx, ref, hypervisor.DestroySpec{})
		if s.ends(t, ctx, id, err, plugin.Conflict) {
			t.Error("a running guest was deleted")
		}
		s.eventually(t, ctx, ref, hypervisor.GuestRunning)
	})
	s.run(t, "without the privilege", func(t *testing.T, ctx context.Context) {
		hook(t, "Lacking", s.Lacking != nil)
		hook(t, "NewGuest", s.NewGuest != nil)
		ref := s.NewGuest(t, s.kind(), hypervisor.GuestStopped)
		host := s.host(t, endpoint.Monitoring)
		if s.Alike {
			t.Skip("every token has all rights")
		}
		_, err := as[hypervisor.Provisioner](t, host).Destroy(ctx, ref, hypervisor.DestroySpec{})
		if e := wantKind(t, err, plugin.Denied); len(e.Missing) == 0 {
			t.Error("the error names no privilege")
		}
		s.eventually(t, ctx, ref, hypervisor.GuestStopped)
	})
}
