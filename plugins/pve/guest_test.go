package pve_test

import (
	"testing"

	"github.com/hostler/hostler/plugins/pve/pvesim"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// TestIDsThatNoGuestHas are told as such without asking: the hypervisor would only say that a parameter is wrong.
func TestIDsThatNoGuestHas(t *testing.T) {
	t.Parallel()
	w := newFixture(t, pvesim.Options{Guests: -1})
	host := w.host(t, endpoint.Lifecycle)
	for _, id := range []int64{-1, 0, 99, 1_000_000_000, 1 << 62} {
		ref := hypervisor.GuestRef{Kind: hypervisor.VM, Node: "pve1", ID: id}
		_, err := host.Guest(t.Context(), ref)
		wantKind(t, err, plugin.NotFound)
		_, err = host.Act(t.Context(), ref, hypervisor.Start)
		wantKind(t, err, plugin.NotFound)
	}
	_, err := host.Guest(t.Context(), hypervisor.GuestRef{Kind: "zone", Node: "pve1", ID: 100})
	wantKind(t, err, plugin.Invalid)
	if n := w.Stats().Total; n != 0 {
		t.Errorf("%d requests were sent", n)
	}
}
