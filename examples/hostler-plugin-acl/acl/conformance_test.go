package acl_test

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/firewall"
	"github.com/hostler/hostler/sdk/firewall/firewalltest"
	"github.com/hostler/hostler/sdk/plugin"

	"example.com/hostler-plugin-acl/acl"
	"example.com/hostler-plugin-acl/aclserver"
)

// The suite runs each of its cases twice: with the backend itself, and over gRPC as the service calls it. Cases about abilities that
// the firewall does not have are skipped, and so are those whose hook is left out.
func TestConformance(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.Set("web", aclserver.Rule{Direction: "out", Action: "deny", Protocol: "tcp", Port: "25", Comment: "no mail"},
		aclserver.Rule{Direction: "in", Action: "allow", Enabled: true, Source: "192.0.2.0/24"})
	var changes, guests atomic.Int64
	firewalltest.Run(t, firewalltest.Config{
		Backend: acl.New(), FirewallType: (*acl.Firewall)(nil), Target: w.target,
		Lists: func(testing.TB) []firewalltest.List {
			return []firewalltest.List{
				{Scope: firewall.Scope{Kind: firewall.ClusterScope}},
				{Scope: guest("web"), Rules: []firewall.Rule{
					{Direction: "in", Action: "allow", Enabled: true, Source: "192.0.2.0/24"},
					{Position: 1, Direction: "out", Action: "deny", Protocol: "tcp", DestinationPort: "25", Comment: "no mail"},
				}},
			}
		},
		Change: func(testing.TB) firewall.Scope {
			w.Set("changed", aclserver.Rule{Direction: "in", Action: "deny", Comment: fmt.Sprint(changes.Add(1))})
			return guest("changed")
		},
		Empty: func(t testing.TB, kind firewall.ScopeKind) firewalltest.EmptyScope {
			if kind == firewall.ClusterScope {
				return firewalltest.EmptyScope{Scope: firewall.Scope{Kind: kind}, Target: start(t).target}
			}
			name := fmt.Sprint("guest", guests.Add(1))
			w.Set(name)
			return firewalltest.EmptyScope{Scope: guest(name), Target: w.target}
		},
		Rules: []firewall.Rule{
			{Direction: "in", Action: "allow", Enabled: true, Protocol: "tcp", DestinationPort: "22", Source: "192.0.2.7",
				Comment: "administrators"},
			{Direction: "out", Action: "deny", Protocol: "udp", Destination: "198.51.100.0/24", Comment: "not these"},
			{Direction: "in", Action: "deny", Enabled: true, Protocol: "icmp", Comment: "für niemanden"},
		},
	})
}

// What a list cannot say is refused: a rule with less in it would let more through.
func TestWhatListsDoNotHave(t *testing.T) {
	t.Parallel()
	w := start(t)
	fw, err := acl.New().Open(t.Context(), w.target(t, endpoint.Lifecycle))
	if err != nil {
		t.Fatal(err)
	}
	scope := firewall.Scope{Kind: firewall.ClusterScope}
	for field, rule := range map[string]firewall.Rule{
		firewall.FieldMacro: {Macro: "SSH"}, firewall.FieldSourcePort: {SourcePort: "1"}, firewall.FieldInterface: {Interface: "eth0"},
		firewall.FieldLog: {Log: "info"}, firewall.FieldICMPType: {ICMPType: "8"},
	} {
		rule.Direction, rule.Action = "in", "allow"
		_, _, err := fw.(firewall.RuleEditor).CreateRule(t.Context(), scope, rule, "")
		if e, ok := err.(*plugin.Error); !ok || e.Kind != plugin.Invalid || e.Field != field {
			t.Errorf("%s: %v, want invalid", field, err)
		}
	}
	if rules, _, err := fw.(firewall.RuleLister).Rules(t.Context(), scope); err != nil || len(rules) != 0 {
		t.Errorf("rules are %+v, %v", rules, err)
	}
}

// fixture is a server with the hooks of the suite.
type fixture struct {
	*aclserver.Server
	http *httptest.Server
}

func start(t testing.TB) fixture {
	t.Helper()
	server := aclserver.New()
	for _, c := range endpoint.Capabilities() {
		server.Admit("token of "+string(c), c == endpoint.Lifecycle)
	}
	w := fixture{server, httptest.NewTLSServer(server)}
	t.Cleanup(w.http.Close)
	return w
}

func (w fixture) target(_ testing.TB, c endpoint.Capability) endpoint.Target {
	return endpoint.Target{
		Address: strings.TrimPrefix(w.http.URL, "https://"), Fingerprint: endpoint.Fingerprint(w.http.Certificate()), AllowLocal: true,
		Credential: endpoint.Credential{Capability: c, ID: string(c), Secret: plugin.Secret("token of " + string(c))},
	}
}

func guest(name string) firewall.Scope {
	return firewall.Scope{Kind: firewall.GuestScope, Guest: &firewall.Guest{Kind: "vm", Node: "node1", ID: name}}
}
