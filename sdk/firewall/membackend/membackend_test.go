package membackend_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

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
	log := firewalltest.LogSetup{Scope: firewall.Scope{Kind: firewall.NodeScope, Node: "node1"}, Lines: writtenLog()}
	at.AddLog(log.Scope, log.Lines...)
	for _, list := range lists {
		at.SetRules(list.Scope, list.Rules...)
	}
	from, to := firewall.Guest{Kind: "vm", Node: "node1", ID: "201"}, firewall.Guest{Kind: "container", Node: "node2", ID: "202"}
	for i, guest := range []firewall.Guest{from, to} {
		nic := membackend.NIC{Name: "eth0", Address: fmt.Sprintf("192.0.2.%d", i+1)}
		at.SetNICs(firewall.Scope{Kind: firewall.GuestScope, Guest: &guest}, nic)
	}
	at.SetNICs(firewall.Scope{Kind: firewall.NodeScope, Node: "node1"}, membackend.NIC{Name: "br0", Address: "192.0.2.254"})
	var changes, guests atomic.Int64
	changed := firewall.Scope{Kind: firewall.NodeScope, Node: "node2"}
	firewalltest.Run(t, firewalltest.Config{
		Backend: backend, FirewallType: (*membackend.Firewall)(nil),
		Target: func(_ testing.TB, capability endpoint.Capability) endpoint.Target { return at.Target(capability) },
		Lists:  func(testing.TB) []firewalltest.List { return lists },
		Guest: func(testing.TB) firewall.Guest {
			return firewall.Guest{Kind: "vm", Node: "node1", ID: fmt.Sprint(1000 + guests.Add(1))}
		},
		Empty: func(_ testing.TB, kind firewall.ScopeKind) firewalltest.EmptyScope {
			return emptyScope(backend, kind, guests.Add(1))
		},
		Options: map[firewall.ScopeKind]firewall.Options{
			firewall.ClusterScope: someOptions(), firewall.NodeScope: someOptions(), firewall.GuestScope: someOptions(),
		},
		Evaluated: func(testing.TB) firewalltest.EvaluationSetup {
			target := func(_ testing.TB, capability endpoint.Capability) endpoint.Target { return at.Target(capability) }
			return firewalltest.EvaluationSetup{Target: target, From: from, To: to, Node: "node1"}
		},
		Log: func(testing.TB) []firewalltest.LogSetup { return []firewalltest.LogSetup{log} },
		Change: func(testing.TB) firewall.Scope {
			rules := make([]firewall.Rule, changes.Add(1))
			at.SetRules(changed, rules...)
			return changed
		},
	})
}

// emptyScope is one at an endpoint of its own.
func emptyScope(backend interface {
	Add(string) *membackend.Endpoint
}, kind firewall.ScopeKind, n int64) firewalltest.EmptyScope {
	at := backend.Add(fmt.Sprintf("fw%d.mem:8006", n))
	scope := map[firewall.ScopeKind]firewall.Scope{
		firewall.ClusterScope: {Kind: kind}, firewall.NodeScope: {Kind: kind, Node: "node1"}, firewall.GroupScope: {Kind: kind, Group: "empty"},
		firewall.GuestScope: {Kind: kind, Guest: &firewall.Guest{Kind: "vm", Node: "node1", ID: "100"}},
	}[kind]
	at.AddScope(scope)
	return firewalltest.EmptyScope{
		Scope: scope, Target: func(_ testing.TB, capability endpoint.Capability) endpoint.Target { return at.Target(capability) },
	}
}

func someOptions() firewall.Options {
	yes, no := true, false
	return firewall.Options{
		Enable: &yes, DHCP: &no, NDP: &yes, RADV: &no, MACFilter: &no, IPFilter: &yes, PolicyIn: "DROP", PolicyOut: "ACCEPT",
		PolicyForward: "REJECT", LogLevelIn: "info", LogLevelOut: "nolog", LogLevelForward: "err", Other: map[string]string{"nosmurfs": "1"},
	}
}

func writtenLog() []firewall.LogLine {
	at := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	return []firewall.LogLine{
		{N: 1, Text: "the log begins"},
		{N: 2, Text: "100 DROP tcp 192.0.2.1 22", Entry: &firewall.LogEntry{Time: at, Guest: "100", Action: "DROP", Protocol: "tcp",
			Source: "192.0.2.1", DestinationPort: "22"}},
		{N: 3, Text: "ACCEPT icmp", Entry: &firewall.LogEntry{Time: at.Add(time.Minute), Action: "ACCEPT", Protocol: "icmp"}},
	}
}
