package pvesim

import (
	"strings"
	"testing"

	"github.com/hostler/hostler/plugins/pve/pvesim/schema"
)

// TestEveryEndpointHasFacts: a misspelt path would be found at its first call only.
func TestEveryEndpointHasFacts(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, e := range apiEndpoints {
		name := e.method + " " + e.path
		if seen[name] {
			t.Errorf("%s is declared twice", name)
		}
		seen[name] = true
		facts := e.facts() // panics when there are none
		if facts.OnNode && !strings.HasPrefix(e.path, "/nodes/{node}") {
			t.Errorf("%s is passed on to a node that its path does not name", name)
		}
		for parameter := range e.paramsSince {
			if facts.Parameter(parameter) == nil {
				t.Errorf("%s: no parameter %s", name, parameter)
			}
		}
	}
}

func TestValuesAgainstTheirDeclaration(t *testing.T) {
	t.Parallel()
	modern, old := release{9, 2, 11}, release{8, 4, 1}
	declared := func(method, path, name string) *schema.Parameter {
		p := schema.Find(method, path).Parameter(name)
		if p == nil {
			t.Fatalf("%s %s has no %s", method, path, name)
		}
		return p
	}
	memory := declared("POST", "/nodes/{node}/lxc", "memory")
	password := declared("POST", "/access/users", "password")
	kind := declared("GET", "/nodes/{node}/network", "type")
	vms := declared("POST", "/cluster/bulk-action/guest/start", "vms")
	bandwidth := declared("POST", "/nodes/{node}/lxc", "cpulimit")
	nodes := declared("POST", "/cluster/acme/plugins", "nodes")
	email := declared("POST", "/access/users", "email")
	for _, tc := range []struct {
		p    *schema.Parameter
		v    paramValue
		rel  release
		want string
	}{
		{memory, paramValue{text: "512"}, modern, ""},
		{memory, paramValue{text: "abc"}, modern, "type check ('integer') failed - got 'abc'"},
		{memory, paramValue{text: "1"}, modern, "value must have a minimum value of 16"},
		{memory, paramValue{isList: true, list: []string{"512"}}, modern, "type check ('integer') failed - got ARRAY"},
		{password, paramValue{text: "short"}, modern, "value must be at least 8 characters long"},
		{password, paramValue{text: strings.Repeat("ü", 64)}, modern, ""},
		{password, paramValue{text: strings.Repeat("ü", 65)}, modern, "value may only be 64 characters long"},
		{kind, paramValue{text: "fabric"}, modern, ""},
		{kind, paramValue{text: "fabric"}, old,
			"value 'fabric' does not have a value in the enumeration 'bridge, bond, eth, alias, vlan, OVSBridge, OVSBond, " +
				"OVSPort, OVSIntPort, vnet, any_bridge, any_local_bridge'"},
		{vms, paramValue{text: "100"}, modern, ""},
		{vms, paramValue{isList: true, list: []string{"100", "101"}}, modern, ""},
		{vms, paramValue{isList: true, list: []string{"100", "x"}}, modern, "type check ('integer') failed - got 'x'"},
		{bandwidth, paramValue{text: "0.5"}, modern, ""},
		{bandwidth, paramValue{text: "half"}, modern, "type check ('number') failed - got 'half'"},
		{bandwidth, paramValue{text: "9000"}, modern, "value must have a maximum value of 8192"},
		{nodes, paramValue{text: "pve1,pve2"}, modern, ""},
		{nodes, paramValue{text: "pve1 -x"}, modern, "invalid format - value does not look like a valid node name\n"},
		{email, paramValue{text: ""}, modern, ""},
		{email, paramValue{text: "nobody"}, modern, "invalid format - value does not look like a valid email address\n"},
	} {
		if got := checkValue(tc.p.Name, tc.p, tc.v, tc.rel); got != tc.want {
			t.Errorf("%s=%+v: %q, want %q", tc.p.Name, tc.v, got, tc.want)
		}
	}
}

func TestParametersComeWithReleases(t *testing.T) {
	t.Parallel()
	e := serve("PUT", "/access/users/{userid}/token/{tokenid}", nil)
	v := values{"userid": {text: "a@pve"}, "tokenid": {text: "tt"}, "regenerate": {text: "1"}}
	if err := verify(e, v, release{9, 2, 0}); err != nil {
		t.Error(err.errors)
	}
	if err := verify(e, v, release{9, 1, 3}); err == nil || err.errors["regenerate"] != textUnknown {
		t.Errorf("%v", err)
	}
	stop := serve("POST", "/nodes/{node}/qemu/{vmid}/status/stop", nil).paramFrom("overrule-shutdown", "8.2")
	for rel, absent := range map[release]bool{{8, 1, 9}: true, {8, 2, 0}: false} {
		if (stop.parameter("overrule-shutdown", rel) == nil) != absent {
			t.Errorf("overrule-shutdown in %v", rel)
		}
	}
	if guest := serve("GET", "/nodes/{node}/lxc/{vmid}/config", nil); guest.kind != LXC || serve("GET", "/version", nil).kind != "" {
		t.Errorf("kind %q", guest.kind)
	}
}
