package membackend_test

import (
	"errors"
	"testing"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/firewall"
	"github.com/hostler/hostler/sdk/firewall/membackend"
	"github.com/hostler/hostler/sdk/plugin"
)

func TestFaults(t *testing.T) {
	t.Parallel()
	backend := membackend.New()
	at, on := backend.Add("fw.mem:8006"), firewall.Scope{Kind: firewall.ClusterScope}
	fw, err := backend.Open(t.Context(), at.Target(endpoint.Lifecycle))
	if err != nil {
		t.Fatal(err)
	}
	mem, rule, fault := fw.(*membackend.Firewall), firewall.Rule{Direction: "in", Action: "DROP"}, errors.New("fault")
	wantRules := func(want int) {
		t.Helper()
		if rules, _, err := mem.Rules(t.Context(), on); err != nil || len(rules) != want {
			t.Errorf("%d rules, %v, want %d", len(rules), err, want)
		}
	}
	at.FailCall("CreateRule", fault)
	if _, _, err := mem.CreateRule(t.Context(), on, rule, ""); !errors.Is(err, fault) {
		t.Errorf("error is %v", err)
	}
	wantRules(0)
	at.FailCall("CreateRule", nil)
	at.LoseAnswer("CreateRule", fault)
	if _, _, err := mem.CreateRule(t.Context(), on, rule, ""); !errors.Is(err, fault) {
		t.Errorf("error is %v", err)
	}
	wantRules(1)
	at.LoseAnswer("CreateRule", nil)
	_, digest, err := mem.Rules(t.Context(), on)
	if err != nil {
		t.Fatal(err)
	}
	var seen []string
	at.Before(func(method string) { // somebody else is quicker
		seen = append(seen, method)
		at.Before(nil)
		at.SetRules(on, rule, rule, rule)
	})
	if err := mem.DeleteRule(t.Context(), on, 0, digest); plugin.KindOf(err) != plugin.Conflict {
		t.Errorf("error is %v, want a conflict", err)
	}
	if wantRules(3); len(seen) != 1 || seen[0] != "DeleteRule" {
		t.Errorf("calls were %q", seen)
	}
	at.Fail(fault)
	if _, _, err := mem.Rules(t.Context(), on); !errors.Is(err, fault) {
		t.Errorf("error is %v", err)
	}
}
