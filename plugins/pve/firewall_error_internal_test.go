package pve

import (
	"testing"

	"github.com/hostler/hostler/sdk/plugin"
)

// A refusal does not repeat the value that was sent, which may be anything, and keeps what there may be.
func TestFirewallErrorsRepeatNoValue(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Parameter verification failed: dport: invalid format - invalid port 'canary'": "Parameter verification failed: dport: " +
			"invalid format - invalid port",
		"proto: invalid format - unknown protocol 'canary'; dport: invalid port 'canary'": "proto: invalid format - unknown protocol",
		"log: value 'canary' does not have a value in the enumeration 'emerg, alert'": "log: value does not have a value in the " +
			"enumeration 'emerg, alert'",
		"value '' is wrong": "value is wrong",
	} {
		got := firewallError(&plugin.Error{Kind: plugin.Invalid, Field: "dport", Message: text})
		if known, ok := asError(got); !ok || known.Message != want || known.Kind != plugin.Invalid || known.Field != "dport" {
			t.Errorf("%q became %v", text, got)
		}
	}
}
