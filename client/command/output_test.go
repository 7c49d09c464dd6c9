package command_test

import (
	"strings"
	"testing"
)

const oneGuest = `[{"id":4,"name":"web","status":"running","host":"lab","node":"pve1","vmid":101,"uptime_s":null,"tags":["a"],
	"description":"on\u202etop","locked":"yes","deep":{"a":1}}]`

func TestOutput_PrintsTheFormatThatIsAskedFor(t *testing.T) {
	f := &fake{}
	f.answer("GET /api/v1/vms", 200, oneGuest)
	f.answer("GET /api/v1/jobs/7", 200, `{"id":7,"kind":"vm.start","progress":0.50,"done":false}`)
	run := f.start(t)
	for _, c := range []struct {
		words string
		want  []string
		not   string
	}{
		{"vm list -o name", []string{"web\n"}, "NAME"},
		{"vm list -o json", []string{`"vmid":101`, `\u202e`}, "NAME"},
		{"vm list -o yaml", []string{
			"- deep:\n    a: 1\n", `description: "on\u202Etop"`, `locked: "yes"`, "uptime_s: null", "vmid: 101",
		}, "NAME"},
		{"vm list -o wide", []string{"DESCRIPTION", "LOCKED", "VMID"}, "DEEP"},
		{"vm list", []string{"NAME", "VMID"}, "LOCKED"},
		{"job show 7 -o yaml", []string{"id: 7\nkind: vm.start\nprogress: 0.50\ndone: false\n"}, "KIND"},
		{"job show 7 -o name", []string{"7\n"}, "vm.start"},
	} {
		status, out, said := run("", strings.Fields(c.words)...)
		if status != 0 || c.not != "" && strings.Contains(out, c.not) || said != "" {
			t.Errorf("%s: %d %s %s", c.words, status, out, said)
		}
		for _, part := range c.want {
			if !strings.Contains(strings.ToLower(out), strings.ToLower(part)) {
				t.Errorf("%s has no %q:\n%s", c.words, part, out)
			}
		}
	}
	for _, words := range []string{"vm list -o xml", "vm list -o yaml --jq .", "vm list -o wide --columns id", "vm list -o name --json"} {
		if status, _, said := run("", strings.Fields(words)...); status != 2 || !strings.Contains(said, "--output") {
			t.Errorf("%s: %d %s", words, status, said)
		}
	}
}

func TestFirewallTest_TakesAddressesGuestsAndNodes(t *testing.T) {
	f := &fake{}
	f.answer("GET /api/v1/guests", 200, `[{"id":4,"kind":"vm","name":"web"},{"id":5,"kind":"container","app_id":2,"name":"wiki"}]`)
	f.answer("GET /api/v1/nodes", 200, `[]`)
	f.answer("GET /api/v1/cluster/nodes", 200, `[{"node":"pve1","host":"lab","host_id":3}]`)
	f.answer("POST /api/v1/firewall/test", 200, `{"verdict":"drop","summary":"no rule"}`)
	run := f.start(t)
	for words, want := range map[string]string{
		"192.0.2.7 web":      `{"dport":443,"from":{"address":"192.0.2.7"},"protocol":"tcp","to":{"vm_id":4}}`,
		"outside app:2":      `{"dport":443,"from":{"outside":true},"protocol":"tcp","to":{"app_id":2}}`,
		"wiki node:lab/pve1": `{"dport":443,"from":{"app_id":2},"protocol":"tcp","to":{"host_id":3,"node":"pve1"}}`,
		"2001:db8::1 vm:4":   `{"dport":443,"from":{"address":"2001:db8::1"},"protocol":"tcp","to":{"vm_id":4}}`,
	} {
		status, out, said := run("", append([]string{"firewall", "test", "--protocol", "tcp", "--dport", "443"}, strings.Fields(words)...)...)
		if got := f.asked[len(f.asked)-1]; status != 0 || got != "POST /api/v1/firewall/test "+want || !strings.Contains(out, "drop") {
			t.Errorf("%s: %d, asked %s: %s %s", words, status, got, out, said)
		}
	}
	status, _, said := run("", "firewall", "test", "nobody", "web", "--protocol", "tcp")
	if status != 5 || !strings.Contains(said, "nobody") {
		t.Errorf("a guest that does not exist: %d %s", status, said)
	}
}
