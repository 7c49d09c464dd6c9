package pve_test

import (
	"testing"

	"github.com/hostler/hostler/plugins/pve/pvesim"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// The hypervisor names the parameter of IPv4 when it refuses an address of IPv6; the error names ours.
func TestNetworkErrorsNameTheVersionOfIP(t *testing.T) {
	t.Parallel()
	w := newFixture(t, pvesim.Options{Scenario: pvesim.ScenarioOne, Guests: -1})
	host := w.host(t, endpoint.Lifecycle)
	stage := func(i hypervisor.Interface) error {
		i.Name, i.Type, i.Autostart = "vmbr7", hypervisor.InterfaceBridge, true
		return host.StageInterface(t.Context(), hypervisor.InterfaceChange{Node: "pve1", Want: i})
	}
	for field, i := range map[string]hypervisor.Interface{
		"cidr6": {CIDR6: "2001:db8::1/64"}, "cidr": {CIDR: "bad"}, "gateway": {CIDR: "198.51.100.2/24", Gateway: "198.51.100.1"},
	} {
		if e := wantKind(t, stage(i), plugin.Invalid); e.Field != field {
			t.Errorf("%s: the error names %q: %v", field, e.Field, e)
		}
	}
}
