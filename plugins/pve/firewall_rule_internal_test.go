package pve

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/hostler/hostler/sdk/firewall"
)

// FuzzFirewallRules: whatever a row is, the rule has texts that go over the wire, and the digest of the rows is one.
func FuzzFirewallRules(f *testing.F) {
	f.Add(`[{"pos":0,"type":"in","action":"ACCEPT","enable":1,"digest":"x","errors":{"source":"no such alias"}}]`)
	f.Add(`[{"pos":"0","enable":"2","comment":"\u0000\ud800"},{"enable":true},{"enable":1e300},{"enable":{}},null]`)
	f.Add(`[{"type":[],"action":{"a":1},"macro":null,"":""}]`)
	f.Fuzz(func(t *testing.T, text string) {
		var rows []ruleRow
		if json.Unmarshal([]byte(text), &rows) != nil {
			return
		}
		for i, row := range rows {
			rule := row.rule(i)
			texts := []string{rule.Direction, rule.Action}
			for _, value := range ruleTexts(&rule) {
				texts = append(texts, value.value)
			}
			for _, value := range texts {
				if !utf8.ValidString(value) || strings.Contains(value, "\x00") {
					t.Errorf("%s: rule %d has %q", text, i, value)
				}
			}
		}
		if sum := digestOfRules(rows); len(sum) != len(emptyDigest) {
			t.Errorf("%s: the digest is %q", text, sum)
		}
	})
}

// FuzzFirewallForms: whatever somebody wants, what is sent has only fields of rules, one line each, and nothing both set and taken away.
func FuzzFirewallForms(f *testing.F) {
	f.Add("in", "ACCEPT", "SSH", "10.0.0.0/8", "für alle", "comment")
	f.Add("group", "web", "-", "", "\n", "dport,type")
	f.Add("forward", "", "\x00", "+dc/web", " - ", "")
	keys := []string{"type", "action", "enable", "macro", "proto", "source", "dest", "sport", "dport", "iface", "log", "icmp-type", "comment",
		"delete", "digest"}
	f.Fuzz(func(t *testing.T, direction, action, macro, source, comment, gone string) {
		check := func(form url.Values) {
			t.Helper()
			for key, values := range form {
				if !slices.Contains(keys, key) || len(values) != 1 || strings.ContainsAny(values[0], "\n\r\x00") {
					t.Errorf("what is sent has %q: %q", key, values)
				}
			}
			for name := range strings.SplitSeq(form.Get("delete"), ",") {
				if name != "" && (form.Has(name) || name == "type" || name == "action") {
					t.Errorf("%s is taken away from %v", name, form)
				}
			}
		}
		rule := firewall.Rule{Direction: direction, Action: action, Macro: macro, Source: source, Comment: comment}
		if form, err := ruleForm(rule); err == nil {
			check(form)
		}
		change := firewall.RuleChange{Clear: []string{gone}, Set: firewall.RuleFields{Action: &action, Source: &source, Comment: &comment}}
		if form, err := ruleChangeForm(change); err == nil {
			check(form)
		}
	})
}
