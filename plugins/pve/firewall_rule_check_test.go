package pve_test

import (
	"testing"

	"github.com/hostler/hostler/plugins/pve/pvesim"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/firewall"
	"github.com/hostler/hostler/sdk/plugin"
)

// What the hypervisor refuses is refused before, with the same field, and nothing else is.
func TestRulesAreCheckedAsTheHypervisorDoes(t *testing.T) {
	t.Parallel()
	w := newFirewalls(t, pvesim.Options{})
	fw := w.firewall(t, endpoint.Lifecycle)
	scope := firewall.Scope{Kind: firewall.ClusterScope}
	rule := func(change func(*firewall.Rule)) firewall.Rule {
		r := firewall.Rule{Direction: firewall.DirectionIn, Action: "ACCEPT", Protocol: "tcp"}
		change(&r)
		return r
	}
	var rules []firewall.Rule
	for _, ports := range []string{
		"22", "80,443", "1000:2000", "http,https", "22,80:90,ssh", "65535", "0", "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15",
		"1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16", "1:2,3:4,5:6,7:8,9:10,11:12,13:14,15:16", "65536", "90:80", "80,", ",80", "nonsense", "80-90",
		"22 80", "1:", ":1", "-1", "80,,443", "1:2:3",
	} {
		rules = append(rules, rule(func(r *firewall.Rule) { r.DestinationPort = ports }), rule(func(r *firewall.Rule) { r.SourcePort = ports }))
	}
	rules = append(rules,
		rule(func(r *firewall.Rule) { r.Protocol, r.DestinationPort = "", "22" }),
		rule(func(r *firewall.Rule) { r.Protocol, r.DestinationPort = "gre", "22" }),
		rule(func(r *firewall.Rule) { r.Protocol = "nonsense" }), rule(func(r *firewall.Rule) { r.Action = "EXPLODE" }),
		rule(func(r *firewall.Rule) { r.Protocol, r.ICMPType = "icmp", "nonsense" }),
		rule(func(r *firewall.Rule) { r.Protocol, r.ICMPType = "icmp", "echo-request" }),
		rule(func(r *firewall.Rule) { r.Source = "192.0.2.300" }), rule(func(r *firewall.Rule) { r.Source = "192.0.2.0/24" }),
		rule(func(r *firewall.Rule) { r.Source, r.Destination = "192.0.2.1", "2001:db8::1" }),
		rule(func(r *firewall.Rule) { r.Protocol, r.Macro = "", "NoSuchMacro" }),
	)
	refused := 0
	for _, r := range rules {
		checked := fw.CheckRule(t.Context(), scope, r)
		_, _, made := fw.CreateRule(t.Context(), scope, r, "")
		if (checked == nil) != (made == nil) {
			t.Errorf("%+v: checked %v, made %v", r, checked, made)
			continue
		}
		if made == nil {
			continue
		}
		refused++
		if a, b := wantKind(t, checked, plugin.Invalid), wantKind(t, made, plugin.Invalid); a.Field != b.Field {
			t.Errorf("%+v: checked %v, made %v", r, a, b)
		}
	}
	if refused < 20 || refused > len(rules)-15 {
		t.Errorf("%d of %d were refused", refused, len(rules))
	}
	// Names may be made by the same draft.
	for _, name := range []string{"+set", "dc/alias", "alias", "+guest/set"} {
		must(t, name, fw.CheckRule(t.Context(), scope, rule(func(r *firewall.Rule) { r.Source = name })))
	}
}
