package pvesim_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/hostler/hostler/plugins/pve/pvesim"
)

func TestFirewallRuleFields(t *testing.T) {
	t.Parallel()
	c, root := snapshotHost(t)
	const path = "/nodes/pve1/qemu/100/firewall/rules"
	noError(t, c.SetFirewallAlias(pvesim.FirewallCluster, "Web", "10.9.0.1"))
	read := func() row {
		var r row
		root.get(path+"/0", &r)
		delete(r, "digest")
		return r
	}
	equal := func(want row) {
		t.Helper()
		if got := read(); !jsonEqual(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
	}
	root.decode("POST", path, "type=in&action=ACCEPT&macro=ssh&source=web&iface=net0&log=info", nil)
	equal(row{"pos": "0", "type": "in", "action": "ACCEPT", "enable": 0, "macro": "SSH", "source": "web", "iface": "net0", "log": "info",
		"ipversion": 4})
	root.decode("PUT", path+"/0", "enable=1&macro=-&proto=tcp&dport=80,443,8000:8010&comment=x", nil)
	equal(row{
		"pos": "0", "type": "in", "action": "ACCEPT", "enable": 1, "proto": "tcp", "dport": "80,443,8000:8010", "comment": "x", "source": "web",
		"iface": "net0", "log": "info", "ipversion": 4,
	})
}

func TestFirewallRuleUpdates(t *testing.T) {
	t.Parallel()
	c, root := snapshotHost(t)
	const path = "/cluster/firewall/rules"
	noError(t, c.SetFirewallRules(pvesim.FirewallCluster, pvesim.FirewallRule{
		Type: "in", Action: "ACCEPT", Enable: true, Proto: "tcp", Dport: "22", Source: "2001:db8::/32", Comment: "c", Log: "info",
	}))
	for _, step := range []struct {
		form string
		want row
	}{
		{"comment=d", row{"comment": "d", "enable": 1, "ipversion": 6}},
		{"delete=comment,log", row{"comment": nil, "log": nil, "dport": "22"}},
		{"source=&enable=0", row{"source": nil, "ipversion": nil, "enable": 0}},
		{"action=DROP&dport=1:1024", row{"action": "DROP", "dport": "1:1024"}},
		{"delete=dport,proto&type=out", row{"type": "out", "proto": nil}},
	} {
		root.decode("PUT", path+"/0", step.form, nil)
		var got row
		root.get(path+"/0", &got)
		for k, v := range step.want {
			if have, _ := json.Marshal(got[k]); string(have) != jsonText(v) {
				t.Errorf("after %s %s is %s, want %v", step.form, k, have, v)
			}
		}
	}
	for form, text := range map[string]string{
		"delete=type": "unable to delete required property 'type'", "delete=bogus": "no such property ('bogus')",
		"action=NOPE": "unknown action 'NOPE'",
		"dport=22":    "missing property - 'dport' requires this property", "type=group&action=x!": "value does not match the regex pattern",
	} {
		if ans := root.refused("PUT", path+"/0", form, 400, "Parameter verification failed."); !strings.Contains(string(ans.body), text) {
			t.Errorf("%s: %s", form, ans.body)
		}
	}
	if rules := c.FirewallRules(pvesim.FirewallCluster); len(rules) != 1 || rules[0].Type != "out" || rules[0].Dport != "" {
		t.Errorf("a refused update changed the rule: %+v", rules)
	}
}

func jsonText(v any) string {
	b, _ := json.Marshal(v)
	return string(b)
}

func TestFirewallRulesThatAreRefused(t *testing.T) {
	t.Parallel()
	c, root := snapshotHost(t)
	noError(t, c.SetFirewallAlias(pvesim.FirewallGuest(100), "own", "10.0.0.1"))
	noError(t, c.SetFirewallIPSet(pvesim.FirewallGuest(100), "ownset", "10.0.0.0/8"))
	noError(t, c.SetFirewallIPSet(pvesim.FirewallCluster, "dcset"))
	const cluster, node, vm, ct = "/cluster/firewall/rules", "/nodes/pve1/firewall/rules", "/nodes/pve1/qemu/100/firewall/rules",
		"/nodes/pve1/lxc/101/firewall/rules"
	for _, tc := range []struct{ path, form, field, text string }{
		{cluster, "source=10.0.0.5/24", "source", "invalid format - invalid IP address: Invalid prefix 10.0.0.5/24\n"},
		{cluster, "source=10.0.0.9-10.0.0.1", "source", "invalid format - invalid IP address: 10.0.0.9-10.0.0.1 is no range\n"},
		{cluster, "source=10.0.0.1-10.0.0.2,10.0.0.9", "source", "invalid format - you can't use a range in a list\n"},
		{cluster, "dest=10.0.0.1,::1", "dest", "invalid format - detected mixed ipv4/ipv6 addresses in address list '10.0.0.1,::1'\n"},
		{cluster, "dest=10.0.0.1,", "dest", "invalid format - extraneous commas in list\n"},
		{cluster, "source=10.0.0.1&dest=::1", "dest", "detected mixed ipv4/ipv6 adresses in rule"},
		{cluster, "proto=icmp&source=::1", "source", "detected mixed ipv4/ipv6 adresses in rule"},
		{cluster, "source=%2Bnope", "source", "no such ipset 'nope'"},
		{cluster, "source=guest/own", "source", "no such alias 'guest/own'"},
		{cluster, "source=%2Bbad!", "source", "invalid ipset name '+bad!'"},
		{node, "source=%2Bguest/dcset", "source", "no such ipset 'dcset'"},
		{vm, "source=dc/own", "source", "no such alias 'dc/own'"},
		{ct, "source=own", "source", "no such alias 'own'"},
		{vm, "source=%2Bdc/ownset", "source", "no such ipset 'ownset'"},
		{vm, "iface=vmbr0", "iface", "value does not match the regex pattern 'net\\d+'"},
		{vm, "type=forward", "type", "invalid rule type 'forward' for rule_env 'vm'"},
		{ct, "type=forward", "type", "invalid rule type 'forward' for rule_env 'ct'"},
		{cluster, "proto=nope", "proto", "invalid format - unknown protocol 'nope'\n"},
		{cluster, "proto=gre&dport=22", "dport", "protocol 'gre' does not support ports"},
		{cluster, "sport=22", "proto", "missing property - 'sport' requires this property"},
		{cluster, "proto=tcp&dport=9:1", "dport", "invalid format - backwards range '9:1' not allowed, did you mean '1:9'?\n"},
		{cluster, "proto=tcp&dport=1,,2", "dport", "invalid format - extraneous commas in list\n"},
		{cluster, "proto=tcp&dport=1:2,3:4,5:6,7:8,9:10,11:12,13:14,15:16", "dport",
			"invalid format - too many entries in port list (> 15 numbers)\n"},
		{cluster, "proto=tcp&sport=echo-request", "sport", "invalid format - invalid port 'echo-request'\n"},
		{cluster, "proto=tcp&dport=nosuchservice", "dport", "invalid format - invalid port 'nosuchservice'\n"},
		{cluster, "icmp-type=echo-request", "proto", "missing property - 'icmp-type' requires this property"},
		{cluster, "proto=icmp&icmp-type=packet-too-big", "icmp-type", "invalid icmp-type 'packet-too-big' for proto 'icmp'"},
		{cluster, "proto=icmp&icmp-type=echo-request&dport=echo-reply", "icmp-type", "'icmp-type' cannot be specified together with 'dport'"},
		{cluster, "macro=HTTP&proto=udp", "proto", "parameter 'proto' already define in macro (value = 'tcp')"},
		{cluster, "log=loud", "log",
			"value 'loud' does not have a value in the enumeration 'emerg, alert, crit, err, warning, notice, info, debug, nolog'"},
		{cluster, "enable=-1", "enable", "value must have a minimum value of 0"},
		{cluster, "type=in&action=A", "action", "value does not match the regex pattern"},
	} {
		form := tc.form
		if !strings.Contains(form, "type=in") && !strings.Contains(form, "type=forward") {
			form = "type=in&" + form
		}
		if !strings.Contains(form, "action=") {
			form += "&action=ACCEPT"
		}
		ans := root.refused("POST", tc.path, form, 400, "Parameter verification failed.")
		var body struct{ Errors map[string]string }
		noError(t, json.Unmarshal(ans.body, &body))
		if body.Errors[tc.field] != tc.text || len(body.Errors) != 1 {
			t.Errorf("%s %s: %q", tc.path, tc.form, body.Errors)
		}
	}
	for _, form := range []string{
		"source=own", "source=%2Bownset", "dest=guest/OWN", "source=%2Bdcset", "source=%2Bdc/dcset", "source=%2Bsdn/zone-all",
		"proto=tcp&dport=ssh",
		"proto=icmp&dport=echo-request", "proto=47", "proto=icmpv6&icmp-type=packet-too-big&source=fe80::/10", "macro=ping", "iface=net12",
	} {
		root.decode("POST", vm, "type=in&action=ACCEPT&"+form, nil)
	}
}
