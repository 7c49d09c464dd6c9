package firewall_test

import (
	"strings"
	"testing"

	"github.com/hostler/hostler/sdk/firewall"
	"github.com/hostler/hostler/sdk/plugin"
)

func TestApplyARuleChange(t *testing.T) {
	t.Parallel()
	rule := firewall.Rule{
		Position: 3, Direction: "in", Action: "ACCEPT", Enabled: true, Macro: "SSH", Protocol: "tcp", Source: "a", Destination: "b",
		SourcePort: "1", DestinationPort: "2", Interface: "net0", Log: "info", ICMPType: "8", Comment: "c",
	}
	set := func(text string) *string { return &text }
	off := false
	for what, of := range map[string]struct {
		change firewall.RuleChange
		want   firewall.Rule
	}{
		"nothing": {firewall.RuleChange{}, rule},
		"everything set": {firewall.RuleChange{Set: firewall.RuleFields{
			Direction: set("out"), Action: set("DROP"), Enabled: &off, Macro: set("M"), Protocol: set("udp"), Source: set("s"),
			Destination: set("d"), SourcePort: set("10"), DestinationPort: set("20"), Interface: set("net1"), Log: set("err"), ICMPType: set("0"),
			Comment: set("new"),
		}}, firewall.Rule{
			Position: 3, Direction: "out", Action: "DROP", Macro: "M", Protocol: "udp", Source: "s", Destination: "d", SourcePort: "10",
			DestinationPort: "20", Interface: "net1", Log: "err", ICMPType: "0", Comment: "new",
		}},
		"everything cleared": {firewall.RuleChange{Clear: []string{"macro", "proto", "source", "dest", "sport", "dport", "iface", "log",
			"icmp_type", "comment"}}, firewall.Rule{Position: 3, Direction: "in", Action: "ACCEPT", Enabled: true}},
		"set to nothing": {firewall.RuleChange{Set: firewall.RuleFields{
			Macro: set(""), Protocol: set(""), Source: set(""), Destination: set(""), SourcePort: set(""), DestinationPort: set(""),
			Interface: set(""), Log: set(""), ICMPType: set(""), Comment: set(""),
		}}, firewall.Rule{Position: 3, Direction: "in", Action: "ACCEPT", Enabled: true}},
	} {
		if got, err := of.change.Apply(rule); err != nil || got != of.want {
			t.Errorf("%s: %+v, %v, want %+v", what, got, err, of.want)
		}
	}
	for field, change := range map[string]firewall.RuleChange{
		"type": {Set: firewall.RuleFields{Direction: set("")}}, "action": {Set: firewall.RuleFields{Action: set("")}},
		"none": {Clear: []string{"none"}}, "comment": {Set: firewall.RuleFields{Comment: set("x")}, Clear: []string{"comment"}},
		"enable": {Clear: []string{"enable"}}, "source": {Set: firewall.RuleFields{Source: set("a\nb")}},
		"dest": {Set: firewall.RuleFields{Destination: set(strings.Repeat("d", firewall.MaxText+1))}},
	} {
		_, err := change.Apply(rule)
		if e, ok := err.(*plugin.Error); !ok || e.Kind != plugin.Invalid || e.Field != field {
			t.Errorf("%s: error is %v, want invalid for it", field, err)
		}
	}
}

func TestCheckText(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "für alle", "a\u00a0b", strings.Repeat("n", 20)} {
		if err := firewall.CheckText("f", text, 20); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
	for _, text := range []string{"n\x00", "\n", "\x7f", "\u0085", "\u2028", "\xff", strings.Repeat("n", 21), strings.Repeat("ü", 11)} {
		if err := firewall.CheckText("f", text, 20); plugin.KindOf(err) != plugin.Invalid {
			t.Errorf("%q: %v, want invalid", text, err)
		}
	}
	for text, ok := range map[string]bool{
		"a": true, "web-1_x.y": true, "10": true, strings.Repeat("n", 64): true, strings.Repeat("n", 65): false, "": false, "..": false,
		".a": false, "-a": false, "a/b": false, "a\n": false, "ä": false,
	} {
		if err := firewall.CheckName("name", text); (err == nil) != ok {
			t.Errorf("name %q: %v", text, err)
		}
	}
}
