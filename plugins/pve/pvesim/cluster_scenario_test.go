package pvesim_test

import (
	"testing"

	"github.com/hostler/hostler/plugins/pve/pvesim"
)

// TestScenariosHaveSnapshotsAndRules: whoever starts the simulator finds some of everything.
func TestScenariosHaveSnapshotsAndRules(t *testing.T) {
	t.Parallel()
	for _, opts := range []pvesim.Options{{}, {Nodes: 3}, {Scenario: pvesim.ScenarioFleet}} {
		fleet, err := pvesim.NewFleet(opts)
		noError(t, err)
		for _, c := range fleet.Hosts {
			vm, ct := c.Snapshots(100), c.Snapshots(102)
			if len(vm) != 4 || len(ct) != 1 || vm[len(vm)-1].Name != "upgraded" || vm[len(vm)-1].Parent != "before-upgrade" {
				t.Errorf("%+v: snapshots %+v, %+v", opts, vm, ct)
			}
			scopes := []pvesim.FirewallScope{pvesim.FirewallCluster, pvesim.FirewallGuest(100)}
			for _, name := range c.NodeNames() {
				scopes = append(scopes, pvesim.FirewallNode(name))
			}
			for _, scope := range scopes {
				if len(c.FirewallRules(scope)) == 0 {
					t.Errorf("%+v: no rules for %s", opts, scope)
				}
			}
		}
	}
	for _, opts := range []pvesim.Options{{Bare: true}, {Guests: -1}, {Guests: 1}} {
		c, err := pvesim.New(opts)
		noError(t, err)
		if len(c.FirewallRules(pvesim.FirewallCluster)) > 0 == opts.Bare {
			t.Errorf("%+v: rules %v", opts, c.FirewallRules(pvesim.FirewallCluster))
		}
	}
}
