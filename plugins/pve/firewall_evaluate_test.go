package pve_test

import (
	"testing"

	"github.com/hostler/hostler/plugins/pve/pvesim"
	"github.com/hostler/hostler/sdk/firewall"
)

// evaluated is a container with an address on a NIC with the firewall.
func (w *fixture) evaluated(t testing.TB, address string) firewall.Guest {
	t.Helper()
	nic := "name=eth0,bridge=vmbr0,hwaddr=BC:24:11:00:00:01,firewall=1,ip=" + address + "/24,type=veth"
	return *guestScope(w.guest(t, pvesim.GuestSpec{Type: pvesim.LXC, Config: map[string]any{"net0": nic}})).Guest
}
