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
	for _, id := range []hypervisor.GuestID{"-1", "0", "99", "1000000000", "4611686018427387904", "", "web", "0100", "+100",
		"100/..", "../100", "1e3", "١٠٠", "100\x00", "100\n"} {
		ref := hypervisor.GuestRef{Kind: hypervisor.VM, Node: "pve1", ID: id}
		_, err := host.Guest(t.Context(), ref)
		wantKind(t, err, plugin.NotFound)
		_, err = host.Act(t.Context(), ref, hypervisor.Start)
		wantKind(t, err, plugin.NotFound)
	}
	_, err := host.Guest(t.Context(), hypervisor.GuestRef{Kind: "zone", Node: "pve1", ID: "100"})
	wantKind(t, err, plugin.Invalid)
	if n := w.Stats().Total; n != 0 {
		t.Errorf("%d requests were sent", n)
	}
}
