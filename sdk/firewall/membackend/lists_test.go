package membackend_test

import (
	"sync/atomic"
	"testing"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/firewall"
	"github.com/hostler/hostler/sdk/firewall/firewalltest"
	"github.com/hostler/hostler/sdk/firewall/membackend"
)

func TestConformanceOfLists(t *testing.T) {
	t.Parallel()
	backend := membackend.NewLists()
	at := backend.Add("lists.mem:8443")
	guest := firewall.Scope{Kind: firewall.GuestScope, Guest: &firewall.Guest{Kind: "container", Node: "node1", ID: "web"}}
	at.AddLog(guest, writtenLog()...)
	var scopes atomic.Int64
	firewalltest.Run(t, firewalltest.Config{
		Backend: backend, FirewallType: (*membackend.ListFirewall)(nil),
		Target: func(_ testing.TB, capability endpoint.Capability) endpoint.Target { return at.Target(capability) },
		Lists: func(testing.TB) []firewalltest.List {
			return []firewalltest.List{{Scope: firewall.Scope{Kind: firewall.ClusterScope}}, {Scope: guest}}
		},
		Empty: func(_ testing.TB, kind firewall.ScopeKind) firewalltest.EmptyScope {
			return emptyScope(backend, kind, scopes.Add(1))
		},
		Log: func(testing.TB) []firewalltest.LogSetup {
			return []firewalltest.LogSetup{{Scope: guest, Lines: writtenLog()}}
		},
	})
}
