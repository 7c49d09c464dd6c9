package host_test

import (
	"testing"

	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/db/inventorytest"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/sdk/endpoint"
)

// What concerns a node goes to the node itself where that is enrolled, answers and has the token.
func TestByNode(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	with := []string{"monitoring", "lifecycle"}
	inventorytest.Write(t, d, inventorytest.Cluster{Name: "lab", Hosts: []inventorytest.Host{
		{Name: "a", Node: "pve1", Status: "online", Capabilities: with}, {Name: "b", Node: "pve2", Status: "online", Capabilities: with},
		{Name: "c", Node: "pve3", Status: "unreachable", Capabilities: with},
		{Name: "d", Node: "pve4", Status: "online", Capabilities: with[:1]}}},
		inventorytest.Cluster{Name: "far", Hosts: []inventorytest.Host{{Name: "e", Node: "pve5", Status: "online", Capabilities: with}}})
	for node, want := range map[string]int64{"pve1": 1, "pve2": 2, "pve3": 1, "pve4": 1, "pve5": 1} {
		if got, err := host.ByNode(t.Context(), d, 1, node, endpoint.Lifecycle); got != want || err != nil {
			t.Errorf("for %s it is the host %d, want %d: %v", node, got, want, err)
		}
	}
}
