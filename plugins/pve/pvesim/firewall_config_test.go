package pvesim_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/hostler/hostler/plugins/pve/pvesim"
)

// wholeFirewall is what POST /firewall takes; the last member is one that it does not know.
const wholeFirewall = `{
"cluster": {"options": {"enable": 1795219200, "policy_in": "DROP"}, "aliases": [{"name": "Web", "cidr": "10.0.0.1", "comment": "c"}],
  "ipsets": [{"name": "Set1", "comment": "s",
    "entries": [{"cidr": "web"}, {"cidr": "10.9.0.0/24", "nomatch": 1, "comment": "m"}]}],
  "groups": [{"group": "grp1", "rules": [{"pos": 0, "type": "in", "action": "ACCEPT", "enable": 1, "macro": "HTTP"}]}],
  "rules": [{"pos": 0, "type": "group", "action": "grp1", "enable": 1},
    {"pos": 1, "type": "in", "action": "DROP", "source": "+gone", "log": "info"}]},
"host": {"options": {"nosmurfs": 0},
  "rules": [{"pos": 0, "type": "in", "action": "ACCEPT", "icmp-type": "echo-request", "proto": "icmp"}]},
"guests": {"999": {"options": {"enable": 1},
  "rules": [{"type": "out", "action": "REJECT", "iface": "net0", "enable": 1, "comment": "x"}]}},
"packets": []}`

func TestFirewallsInOneCall(t *testing.T) {
	t.Parallel()
	c, root := snapshotHost(t)
	noError(t, c.SetFirewallRules(pvesim.FirewallGuest(100), pvesim.FirewallRule{Type: "in", Action: "DROP"})) // is gone then
	h := c.ControlHandler()
	control(t, h, "POST", "/firewall", wholeFirewall, 200)
	if got := root.members("/cluster/firewall/ipset/set1"); got != "!10.9.0.0/24#m web" {
		t.Errorf("set1 is %q", got)
	}
	var rules []row
	root.get("/cluster/firewall/rules", &rules)
	if len(rules) != 2 || rules[0]["action"] != "grp1" || rules[1]["log"] != "info" ||
		!jsonEqual(rules[1]["errors"], row{"source": "no such ipset 'gone'"}) {
		t.Errorf("%v", rules)
	}
	if left := c.FirewallRules(pvesim.FirewallGuest(100)); len(left) != 0 {
		t.Errorf("%+v", left)
	}
	answer := jsonText(control(t, h, "GET", "/firewall", "", 200))
	var status struct {
		Nodes      []pvesim.FirewallNodeStatus
		Configured map[pvesim.FirewallScope]pvesim.FirewallConfig
	}
	noError(t, json.Unmarshal([]byte(answer), &status))
	if len(status.Nodes) != 1 || len(status.Configured) != 3 {
		t.Fatalf("%s", answer)
	}
	before := c.Firewalls()
	noError(t, c.SetFirewalls(status.Configured)) // what is told can be put again
	if !jsonEqual(before, c.Firewalls()) {
		t.Errorf("%s\nbecame\n%s", jsonText(before), jsonText(c.Firewalls()))
	}
	for _, bad := range []string{
		`{"nodes": {"pve9": {}}}`, `{"guests": {"x": {}}}`, `{"guests": {"1": {}}}`,
		`{"host": {"aliases": [{"name": "web", "cidr": "10.0.0.1"}]}}`,
		`{"guests": {"100": {"groups": [{"group": "grp1"}]}}}`, `{"cluster": {"aliases": [{"name": "w", "cidr": "10.0.0.1"}]}}`,
		`{"cluster": {"aliases": [{"name": "web", "cidr": "10.0.0"}]}}`, `{"cluster": {"ipsets": [{"name": "9"}]}}`,
		`{"cluster": {"groups": [{"group": "9"}]}}`, `{"cluster": {"rules": [{"type": 1}]}}`, `{"cluster": {"rules": [{"moon": "x"}]}}`, `{`,
	} {
		control(t, h, "POST", "/firewall", bad, 400)
	}
	if !jsonEqual(before, c.Firewalls()) {
		t.Error("a refused call changed something")
	}
}

func TestFirewallControl(t *testing.T) {
	t.Parallel()
	c, root := snapshotHost(t)
	for call, wanted := range map[string]int{
		`/firewall/clients {"clients": [{"network": "127.0.0.0/8", "as": "10.99.0.200/32"}]}`: 200,
		`/firewall/clients {"clients": [{"network": "127.0.0.0/8"}]}`:                         400,
		`/firewall/clients {"clients": [{"network": "127"}]}`:                                 400,
		`/firewall/log {"node": "pve1", "lines": ["0 6 x", "y"]}`:                             200,
		`/firewall/log {"node": "pve1", "lines": ["a\nb"]}`:                                   400,
		`/firewall/log {"node": "pve9", "lines": ["a"]}`:                                      400,
		`/option {"firewall_ms": 10000}`:                                                      200,
	} {
		path, body, _ := strings.Cut(call, " ")
		control(t, c.ControlHandler(), "POST", path, body, wanted)
	}
	if status := c.FirewallStatus(); len(status.Clients) != 1 || status.DelayMS != 10_000 {
		t.Errorf("%+v", status)
	}
	if lines, _ := root.logOf("/nodes/pve1/firewall/log"); len(lines) != 2 {
		t.Errorf("%q", lines)
	}
}

// TestFirewallIsCloned: the copy of a guest has a firewall of its own from the start.
func TestFirewallIsCloned(t *testing.T) {
	t.Parallel()
	c, root := snapshotHost(t)
	noError(t, c.SetFirewallIPSet(pvesim.FirewallGuest(100), "own", "10.0.0.0/8"))
	noError(t, c.SetFirewallRules(pvesim.FirewallGuest(100), pvesim.FirewallRule{Type: "in", Action: "DROP", Source: "+own"}))
	root.decode("POST", "/nodes/pve1/qemu/777/firewall/rules", "type=in&action=ACCEPT", nil) // left by a guest of before
	root.post("/nodes/pve1/qemu/100/clone", "newid=777&full=1")
	all := c.Firewalls()
	if original := all[pvesim.FirewallGuest(100)]; len(original.Rules) != 1 || !jsonEqual(original, all[pvesim.FirewallGuest(777)]) {
		t.Errorf("%s", jsonText(all))
	}
	root.decode("DELETE", "/nodes/pve1/qemu/777/firewall/ipset/own?force=1", "", nil)
	if len(c.Firewalls()[pvesim.FirewallGuest(100)].IPSets) != 1 {
		t.Error("the original lost its set too")
	}
}
