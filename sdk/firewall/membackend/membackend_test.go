package membackend_test

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/firewall"
	"github.com/hostler/hostler/sdk/firewall/firewalltest"
	"github.com/hostler/hostler/sdk/firewall/membackend"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	backend := membackend.New()
	at := backend.Add("fw.mem:8006")
	lists := []firewalltest.List{
		{Scope: firewall.Scope{Kind: firewall.ClusterScope}},
		{Scope: firewall.Scope{Kind: firewall.NodeScope, Node: "node1"}, Rules: []firewall.Rule{
			{Direction: firewall.DirectionIn, Action: "ACCEPT", Enabled: true, Macro: "SSH"},
			{Position: 1, Direction: firewall.DirectionGroup, Action: "web"},
		}},
		{Scope: firewall.Scope{Kind: firewall.GuestScope, Guest: &firewall.Guest{Kind: "vm", Node: "node1", ID: "100"}}, Rules: []firewall.Rule{
			{Direction: firewall.DirectionOut, Action: "DROP", Protocol: "tcp", DestinationPort: "25", Comment: "no mail"},
		}},
	}
	for _, list := range lists {
		at.SetRules(list.Scope, list.Rules...)
	}
	var changes, guests atomic.Int64
	changed := firewall.Scope{Kind: firewall.NodeScope, Node: "node2"}
	firewalltest.Run(t, firewalltest.Config{
		Backend: backend, FirewallType: (*membackend.Firewall)(nil),
		Target: func(_ testing.TB, capability endpoint.Capability) endpoint.Target { return at.Target(capability) },
		Lists:  func(testing.TB) []firewalltest.List { return lists },
		Guest: func(testing.TB) firewall.Guest {
			return firewall.Guest{Kind: "vm", Node: "node1", ID: fmt.Sprint(1000 + guests.Add(1))}
		},
		Change: func(testing.TB) firewall.Scope {
			rules := make([]firewall.Rule, changes.Add(1))
			at.SetRules(changed, rules...)
			return changed
		},
	})
}
