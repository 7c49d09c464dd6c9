package drivertest

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// badGuestIDs returns ids that no hypervisor has, and other spellings of an
// existing id. A driver must not accept the latter: they would be a second name
// of the same guest.
func badGuestIDs(id hypervisor.GuestID) []hypervisor.GuestID {
	return []hypervisor.GuestID{
		"", ".", "..", "../" + id, id + "/..", "/" + id, id + "/", id + "/status/stop", id + "?x=1", id + "#", "%2e%2e", " " + id, id + " ",
		"+" + id, "0" + id, id + ".0", id + "\x00", id + "\n", id + "\xff", "-1", "1e2", "0", "9223372036854775808",
		hypervisor.GuestID(strings.Repeat("1", 256)), hypervisor.GuestID(strings.Repeat("n", 1<<16)),
	}
}

// guestRef tests references of guests. The UID, where a hypervisor has one,
// tells a guest apart from a later one with the same ID. Every response
// contains it, a request may omit it, and a request with a wrong UID must be
// treated as an unknown guest and must change nothing.
func (s *suite) guestRef(t *testing.T) {
	s.run(t, "ids that are none", func(t *testing.T, ctx context.Context) {
		hook(t, "NewGuest", s.NewGuest != nil)
		ref := s.NewGuest(t, s.kind(), hypervisor.GuestStopped)
		for _, id := range badGuestIDs(ref.ID) {
			bad := ref
			bad.ID, bad.UID = id, ""
			s.wantNoGuest(t, ctx, bad)
		}
		s.wantUntouched(t, ctx, ref)
	})
	s.run(t, "every answer says the UID, and none is needed", func(t *testing.T, ctx context.Context) {
		hook(t, "NewGuest", s.NewGuest != nil)
		ref, host := s.NewGuest(t, s.kinds()[len(s.kinds())-1], hypervisor.GuestRunning), s.host(t, endpoint.Monitoring)
		bare := ref
		bare.UID = ""
		got, err := host.Guest(ctx, bare)
		must(t, "reading the guest without its UID", err)
		all := gather(t, ctx, host, hypervisor.InventoryQuery{})
		i := slices.IndexFunc(all.Guests, func(g hypervisor.Guest) bool { return g.ID == ref.ID })
		if i < 0 || got.GuestRef != ref || all.Guests[i].GuestRef != ref {
			t.Fatalf("the guest is %+v, in the inventory at %d, want %+v", got.GuestRef, i, ref)
		}
		if listed := all.Guests[i].Number; (got.Number == nil) != (listed == nil) || listed != nil && *got.Number != *listed {
			t.Errorf("the guest's number is %v, but %v in the inventory", got.Number, listed)
		}
	})
	s.run(t, "a UID of another guest", func(t *testing.T, ctx context.Context) {
		hook(t, "NewGuest", s.NewGuest != nil)
		ref := s.NewGuest(t, s.kind(), hypervisor.GuestStopped)
		if ref.UID == "" {
			t.Skip("the hypervisor has no UIDs")
		}
		for _, uid := range []string{s.NewGuest(t, s.kind(), hypervisor.GuestStopped).UID, "no-such-uid", ref.UID + "x"} {
			foreign := ref
			foreign.UID = uid
			s.wantNoGuest(t, ctx, foreign)
		}
		s.wantUntouched(t, ctx, ref)
	})
	s.run(t, "a renamed guest keeps its UID", func(t *testing.T, ctx context.Context) {
		hook(t, "NewGuest and Rename", s.NewGuest != nil && s.Rename != nil)
		before := s.NewGuest(t, s.kind(), hypervisor.GuestStopped)
		after := s.Rename(t, before)
		if after.ID == before.ID || after.UID != before.UID || before.UID == "" {
			t.Fatalf("%+v became %+v", before, after)
		}
		s.wantNoGuest(t, ctx, before)
		s.wantUntouched(t, ctx, after)
	})
}

// wantNoGuest checks that every question about a guest is answered with
// NotFound or Invalid, and that nothing is done to it.
func (s *suite) wantNoGuest(t *testing.T, ctx context.Context, ref hypervisor.GuestRef) {
	t.Helper()
	check := func(what string, err error) {
		t.Helper()
		if kind := plugin.KindOf(err); err == nil || kind != plugin.NotFound && kind != plugin.Invalid {
			t.Errorf("%s of guest %.80q with UID %q: error is %v, want not found or invalid", what, ref.ID, ref.UID, err)
		}
	}
	_, err := s.host(t, endpoint.Monitoring).Guest(ctx, ref)
	check("the state", err)
	if claims[hypervisor.LifecycleManager](s) {
		id, err := as[hypervisor.LifecycleManager](t, s.host(t, endpoint.Lifecycle)).Act(ctx, ref, hypervisor.Start)
		if s.ends(t, ctx, id, err, plugin.NotFound, plugin.Invalid) {
			t.Errorf("guest %.80q with UID %q was started", ref.ID, ref.UID)
		}
	}
	if claims[hypervisor.Snapshotter](s) {
		_, err := as[hypervisor.Snapshotter](t, s.host(t, endpoint.Monitoring)).Snapshots(ctx, ref)
		check("the snapshots", err)
		id, err := s.snapshotter(t).TakeSnapshot(ctx, ref, hypervisor.SnapshotSpec{Name: "none"})
		if s.ends(t, ctx, id, err, plugin.NotFound, plugin.Invalid) {
			t.Errorf("guest %.80q with UID %q got a snapshot", ref.ID, ref.UID)
		}
	}
}

// wantUntouched checks that a guest that was made stopped is still stopped.
func (s *suite) wantUntouched(t *testing.T, ctx context.Context, ref hypervisor.GuestRef) {
	t.Helper()
	got, err := s.host(t, endpoint.Monitoring).Guest(ctx, ref)
	must(t, "reading the guest", err)
	if got.GuestRef != ref || got.Status != hypervisor.GuestStopped {
		t.Errorf("guest %+v is %s, want %+v stopped", got.GuestRef, got.Status, ref)
	}
}

// checkGuestRefs checks the form of ids and UIDs, that none occurs twice, and
// that all guests or none have UIDs.
func checkGuestRefs(t *testing.T, guests []hypervisor.Guest) {
	t.Helper()
	ids, uids := map[hypervisor.GuestID]bool{}, map[string]bool{}
	for _, g := range guests {
		if !g.ID.Valid() || g.UID != "" && !hypervisor.ValidUID(g.UID) {
			t.Errorf("guest %+v has an invalid ID or UID", g.GuestRef)
		}
		if ids[g.ID] {
			t.Errorf("guest %s occurs twice", g.ID)
		}
		if uids[g.UID] && g.UID != "" {
			t.Errorf("UID %s occurs twice", g.UID)
		}
		if (g.UID == "") != (guests[0].UID == "") {
			t.Errorf("only one of guest %+v and guest %+v has a UID", g.GuestRef, guests[0].GuestRef)
		}
		ids[g.ID], uids[g.UID] = true, true
	}
}
