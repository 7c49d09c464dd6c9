package pvesim_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/hostler/hostler/plugins/pve/pvesim"
	"github.com/hostler/hostler/plugins/pve/pvetest"
)

// recordedRules are the rules that the recorded server had, in their order.
func recordedRules() []pvesim.FirewallRule {
	return []pvesim.FirewallRule{
		{Type: "in", Action: "ACCEPT", Source: "10.0.0.1-10.0.0.7", Comment: "umlaut äöü € %20"},
		{Type: "in", Action: "ACCEPT"},
		{Type: "forward", Action: "ACCEPT"},
		{Type: "in", Action: "ACCEPT", Proto: "icmp", ICMPType: "echo-request"},
		{Type: "in", Action: "ACCEPT", Interface: "net0"},
		{Type: "group", Action: "nosuchgroup"},
		{Type: "in", Action: "ACCEPT", Source: "+set2"},
		{Type: "out", Action: "REJECT", Macro: "HTTP", Dest: "10.0.0.1,10.0.0.2"},
		{Type: "in", Action: "DROP", Source: "10.0.0.0/8", Log: "info"},
		{Type: "in", Action: "ACCEPT", Enable: true, Proto: "tcp", Dport: "22", Comment: "r0"},
	}
}

// firewallPreparations give every scope the recorded rules, and take away what was not there yet or any more.
func (w *recordedServer) firewallPreparations() []preparation {
	c := w.cluster
	scopes := []pvesim.FirewallScope{pvesim.FirewallCluster, pvesim.FirewallNode("pve1"), pvesim.FirewallGuest(100),
		pvesim.FirewallGuest(101)}
	each := func(change func([]pvesim.FirewallRule) []pvesim.FirewallRule) func() {
		return func() {
			for _, scope := range scopes {
				w.must(c.SetFirewallRules(scope, change(c.FirewallRules(scope))...))
			}
		}
	}
	return []preparation{
		{"", func() {
			w.must(c.SetFirewallIPSet(pvesim.FirewallCluster, "set2"))
			for _, scope := range scopes {
				rules := slices.DeleteFunc(recordedRules(), func(r pvesim.FirewallRule) bool {
					return r.Type == "forward" && strings.HasPrefix(string(scope), "guest") || r.Source == "+set2" && strings.HasPrefix(string(scope),
						"node")
				})
				w.must(c.SetFirewallRules(scope, rules...))
			}
		}},
		{"firewall_options__after_set", func() {
			for _, scope := range scopes[1:] {
				c.SetFirewallOptions(scope, map[string]any{"enable": 1, "log_level_in": "info"})
			}
			c.SetFirewallOptions(pvesim.FirewallCluster, map[string]any{"policy_in": "DROP", "policy_out": "ACCEPT"})
		}},
		{"firewall_options__enabled", func() {
			c.SetFirewallOptions(pvesim.FirewallCluster, map[string]any{"enable": 1, "policy_out": "ACCEPT"})
		}},
		{"firewall_rules__empty", each(func([]pvesim.FirewallRule) []pvesim.FirewallRule { return nil })},
		{"firewall_rules_0__after", each(func(rules []pvesim.FirewallRule) []pvesim.FirewallRule {
			rules[0].Comment = ""
			return rules
		})},
		{"firewall_rules__with_group", each(func(rules []pvesim.FirewallRule) []pvesim.FirewallRule {
			rules[0] = pvesim.FirewallRule{Type: "group", Action: "grp1", Interface: "net0"}
			return rules
		})},
		{"firewall_rules__with_group nodes_pve1_firewall_rules__ipset", func() { c.RemoveFirewallIPSet(pvesim.FirewallCluster, "set2") }},
	}
}

// TestFirewallDigestsAreTheRealOnes gives the simulator the rules of recorded lists and compares the digests.
func TestFirewallDigestsAreTheRealOnes(t *testing.T) {
	t.Parallel()
	compared := 0
	for _, e := range pvetest.Exchanges(t) {
		if e.Method != "GET" || !strings.HasSuffix(e.Path, "/firewall/rules") || e.Status != 200 {
			continue
		}
		var body struct{ Data []map[string]any }
		noError(t, json.Unmarshal(e.Response, &body))
		if len(body.Data) == 0 {
			continue
		}
		w := newRecordedServer(t)
		noError(t, w.cluster.SetFirewallIPSet(pvesim.FirewallCluster, "set2"))
		var rules []pvesim.FirewallRule
		for _, r := range body.Data {
			text := func(name string) string { s, _ := r[name].(string); return s }
			rules = append(rules, pvesim.FirewallRule{
				Type: text("type"), Action: text("action"), Enable: r["enable"] == 1.0, Macro: text("macro"), Interface: text("iface"),
				Source: text("source"),
				Dest:   text("dest"), Proto: text("proto"), Sport: text("sport"), Dport: text("dport"), ICMPType: text("icmp-type"), Log: text("log"),
				Comment: text("comment"),
			})
		}
		noError(t, w.cluster.SetFirewallRules(pvesim.FirewallNode("pve1"), rules[:0]...))
		scope := pvesim.FirewallCluster
		if strings.Contains(e.Path, "/101/") {
			scope = pvesim.FirewallGuest(101)
		}
		noError(t, w.cluster.SetFirewallRules(scope, rules...))
		path := map[pvesim.FirewallScope]string{pvesim.FirewallCluster: "/cluster/firewall/rules", pvesim.FirewallGuest(101): e.Path}[scope]
		have := w.do("GET", path, "").([]any)
		for i, row := range have {
			if got := row.(map[string]any)["digest"]; got != body.Data[i]["digest"] {
				t.Fatalf("%s: digest %v, recorded %v", e.Case, got, body.Data[i]["digest"])
			}
		}
		compared++
	}
	if compared < 10 {
		t.Errorf("only %d lists were compared", compared)
	}
}
