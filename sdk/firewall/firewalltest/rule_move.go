package firewalltest

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/hostler/hostler/sdk/firewall"
	"github.com/hostler/hostler/sdk/plugin"
)

// ruleMove tests RuleMover with every pair of positions. to is the position of
// the rule after the move. Moving a rule to where it is changes nothing, not
// even the digest. An unknown source is NotFound with the field "position", an
// unknown destination Invalid with the field "to".
func (s *suite) ruleMove(t *testing.T) {
	lacks[firewall.RuleMover](t, s)
	if _, edits := firewall.As[firewall.RuleEditor](s.FirewallType); !edits {
		t.Skip("the firewall cannot create rules")
	}
	eachScope[firewall.RuleMover](t, s, "to every place", func(t *testing.T, ctx context.Context, g ground) {
		rules, move := g.makeRules(t, ctx), changes[firewall.RuleMover](t, g)
		_, digest := g.listRules(t, ctx, rules)
		for from := range rules {
			for to := range rules {
				must(t, fmt.Sprintf("moving %d to %d", from, to), move.MoveRule(ctx, g.Scope, from, to, digest))
				rule := rules[from]
				rules = slices.Insert(slices.Delete(rules, from, from+1), to, rule)
				_, now := g.listRules(t, ctx, rules)
				if now != "" && (now == digest) != (from == to) {
					t.Errorf("moving %d to %d: digest %q became %q", from, to, digest, now)
				}
				if t.Failed() {
					t.FailNow()
				}
				digest = now
			}
		}
	})
	eachScope[firewall.RuleMover](t, s, "in an empty list", func(t *testing.T, ctx context.Context, g ground) {
		move := changes[firewall.RuleMover](t, g)
		for _, to := range []int{0, 1} {
			wantField(t, fmt.Sprint("to ", to), move.MoveRule(ctx, g.Scope, 0, to, ""), plugin.NotFound, firewall.FieldPosition)
		}
	})
	eachScope[firewall.RuleMover](t, s, "what does not do", func(t *testing.T, ctx context.Context, g ground) {
		rules, move := g.makeRules(t, ctx), changes[firewall.RuleMover](t, g)
		_, digest := g.listRules(t, ctx, rules)
		for _, none := range []int{-1, len(rules), 1 << 40} {
			what := fmt.Sprint("position ", none)
			wantField(t, what, move.MoveRule(ctx, g.Scope, none, 0, digest), plugin.NotFound, firewall.FieldPosition)
			wantField(t, what, move.MoveRule(ctx, g.Scope, 0, none, digest), plugin.Invalid, firewall.FieldTo)
		}
		if digest != "" {
			wantField(t, "stale", move.MoveRule(ctx, g.Scope, 0, 1, neverADigest), plugin.Conflict, firewall.FieldDigest)
		}
		noRight(t, g, func(move firewall.RuleMover) error { return move.MoveRule(ctx, g.Scope, 0, 1, "") })
		if _, now := g.listRules(t, ctx, rules); now != digest {
			t.Errorf("digest %q became %q", digest, now)
		}
	})
}
