package drivertest

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// unfitting tests actions on guests in a state that does not allow them.
// Hypervisors differ: one refuses, one accepts the call and fails in the task,
// one finds nothing to do. In each case the driver must report what happened.
func (s *suite) unfitting(t *testing.T) {
	for _, c := range []struct {
		kind   hypervisor.GuestKind
		status string
		action hypervisor.Action
	}{
		{hypervisor.VM, hypervisor.GuestPaused, hypervisor.Shutdown},
		{hypervisor.Container, hypervisor.GuestPaused, hypervisor.Shutdown},
		{hypervisor.VM, hypervisor.GuestRunning, hypervisor.Start},
		{hypervisor.VM, hypervisor.GuestStopped, hypervisor.Stop},
		{hypervisor.VM, hypervisor.GuestStopped, hypervisor.Restart},
		{hypervisor.Container, hypervisor.GuestRunning, hypervisor.Start},
		{hypervisor.Container, hypervisor.GuestStopped, hypervisor.Stop},
		{hypervisor.Container, hypervisor.GuestStopped, hypervisor.Restart},
	} {
		s.run(t, string(c.kind)+" "+string(c.action)+" while "+c.status, func(t *testing.T, ctx context.Context) {
			hook(t, "NewGuest", s.NewGuest != nil)
			s.made(t, c.kind)
			if !slices.Contains(s.actions(t, c.kind), c.action) {
				t.Skipf("a %s does not support %s", c.kind, c.action)
			}
			ref := s.guestIn(t, ctx, c.kind, c.status)
			host := s.host(t, endpoint.Lifecycle)
			want := c.status
			id, err := as[hypervisor.LifecycleManager](t, host).Act(ctx, ref, c.action)
			switch {
			case err != nil:
				wantKind(t, err, plugin.Conflict)
			case id == "":
				want = after[c.action]
			default:
				if _, result := wait(t, ctx, host, id, 0); result.OK() {
					want = after[c.action]
				}
			}
			got, readErr := s.host(t, endpoint.Monitoring).Guest(ctx, ref)
			must(t, "reading the guest", readErr)
			if got.Status != want {
				t.Errorf("the guest is %s, want %s after %q, %v", got.Status, want, id, err)
			}
		})
	}
	s.run(t, "a paused guest is paused in the inventory too", func(t *testing.T, ctx context.Context) {
		hook(t, "NewGuest", s.NewGuest != nil)
		ref := s.guestIn(t, ctx, s.kind(), hypervisor.GuestPaused)
		host := s.host(t, endpoint.Monitoring)
		tick := time.NewTicker(50 * time.Millisecond) // some hypervisors' lists lag behind their guests
		defer tick.Stop()
		for {
			all := gather(t, ctx, host, hypervisor.InventoryQuery{})
			i := slices.IndexFunc(all.Guests, func(g hypervisor.Guest) bool { return g.GuestRef == ref })
			if i >= 0 && all.Guests[i].Status == hypervisor.GuestPaused {
				return
			}
			select {
			case <-tick.C:
			case <-ctx.Done():
				t.Fatalf("guest %+v is not paused in the inventory (row %d)", ref, i)
			}
		}
	})
}

// eventually waits until a guest is in a state.
func (s *suite) eventually(t *testing.T, ctx context.Context, ref hypervisor.GuestRef, status string) {
	t.Helper()
	host := s.host(t, endpoint.Monitoring)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		got, err := host.Guest(ctx, ref)
		must(t, "reading the guest", err)
		if got.Status == status {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("the guest is %s, want %s", got.Status, status)
		}
	}
}

// guestIn makes a guest that runs, is stopped or is paused.
func (s *suite) guestIn(t *testing.T, ctx context.Context, kind hypervisor.GuestKind, status string) hypervisor.GuestRef {
	t.Helper()
	if status != hypervisor.GuestPaused {
		return s.NewGuest(t, kind, status)
	}
	if !slices.Contains(s.actions(t, kind), hypervisor.Pause) {
		t.Skipf("a %s cannot pause", kind)
	}
	ref := s.NewGuest(t, kind, hypervisor.GuestRunning)
	s.act(t, ctx, ref, hypervisor.Pause)
	return ref
}
