package firewalltest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/firewall"
	"github.com/hostler/hostler/sdk/plugin"
)

// usualRules returns the rules for a Config without Rules: one of each action,
// with protocols, ports, addresses and comments.
func usualRules() []firewall.Rule {
	return []firewall.Rule{
		{Direction: firewall.DirectionIn, Action: "ACCEPT", Enabled: true, Protocol: "tcp", DestinationPort: "22",
			Comment: "for administrators"},
		{Direction: firewall.DirectionOut, Action: "DROP", Protocol: "tcp", DestinationPort: "25", Destination: "192.0.2.0/24",
			Comment: "no mail"},
		{Direction: firewall.DirectionIn, Action: "REJECT", Enabled: true, Protocol: "udp", Source: "198.51.100.7", SourcePort: "1024:65535",
			DestinationPort: "53", Comment: "für niemanden"},
	}
}

// ruleEdit tests RuleEditor. The backend decides where a new rule goes, and
// returns its position and the new digest. An unknown position is NotFound with
// the field "position", with and without a digest.
func (s *suite) ruleEdit(t *testing.T) {
	lacks[firewall.RuleEditor](t, s)
	eachScope[firewall.RuleEditor](t, s, "made, changed and deleted", func(t *testing.T, ctx context.Context, g ground) {
		rules := g.makeRules(t, ctx)
		edit := changes[firewall.RuleEditor](t, g)
		_, digest := g.listRules(t, ctx, rules)
		for _, change := range []firewall.RuleChange{
			{Set: firewall.RuleFields{Comment: ptr("another comment"), Enabled: ptr(!rules[1].Enabled)}, Digest: digest},
			{Set: firewall.RuleFields{Comment: ptr("")}},
			{Set: firewall.RuleFields{Comment: ptr("once more")}},
			{Set: firewall.RuleFields{Enabled: ptr(rules[1].Enabled)}, Clear: []string{firewall.FieldComment}},
			{Set: firewall.RuleFields{Direction: &rules[2].Direction, Action: &rules[2].Action}},
		} {
			at := slices.Index(bare(g.listAny(t, ctx)), rules[1])
			must(t, "changing", edit.ChangeRule(ctx, g.Scope, at, change))
			after, err := change.Apply(rules[1])
			must(t, "applying the change", err)
			rules[1] = after
			digest = g.changed(t, ctx, digest, rules)
		}
		at := slices.Index(bare(g.listAny(t, ctx)), rules[1])
		must(t, "deleting", edit.DeleteRule(ctx, g.Scope, at, digest))
		rules = slices.Delete(rules, 1, 2)
		g.changed(t, ctx, digest, rules)
		for len(rules) > 0 {
			must(t, "deleting", edit.DeleteRule(ctx, g.Scope, len(rules)-1, ""))
			left := bare(g.listAny(t, ctx))
			if len(left) != len(rules)-1 {
				t.Fatalf("%d rules are left of %d", len(left), len(rules))
			}
			rules = left
		}
	})
	eachScope[firewall.RuleEditor](t, s, "a digest that is another by now", func(t *testing.T, ctx context.Context, g ground) {
		rules := g.makeRules(t, ctx)
		edit := changes[firewall.RuleEditor](t, g)
		_, before := g.listRules(t, ctx, rules)
		if before == "" {
			t.Skip("there are no digests")
		}
		must(t, "changing", edit.ChangeRule(ctx, g.Scope, 0, firewall.RuleChange{Set: firewall.RuleFields{Comment: ptr("someone else's")}}))
		now := g.listAny(t, ctx)
		for _, stale := range []string{before, neverADigest} {
			_, _, err := edit.CreateRule(ctx, g.Scope, s.Rules[0], stale)
			wantField(t, "creating", err, plugin.Conflict, firewall.FieldDigest)
			err = edit.ChangeRule(ctx, g.Scope, 1, firewall.RuleChange{Set: firewall.RuleFields{Comment: ptr("ours")}, Digest: stale})
			wantField(t, "changing", err, plugin.Conflict, firewall.FieldDigest)
			wantField(t, "deleting", edit.DeleteRule(ctx, g.Scope, 1, stale), plugin.Conflict, firewall.FieldDigest)
		}
		g.listRules(t, ctx, bare(now))
	})
	eachScope[firewall.RuleEditor](t, s, "positions that are none", func(t *testing.T, ctx context.Context, g ground) {
		rules := g.makeRules(t, ctx)
		edit := changes[firewall.RuleEditor](t, g)
		_, digest := g.listRules(t, ctx, rules)
		for _, at := range []int{-1, len(rules), 1 << 40} {
			what := fmt.Sprint("position ", at)
			err := edit.ChangeRule(ctx, g.Scope, at, firewall.RuleChange{Set: firewall.RuleFields{Comment: ptr("c")}, Digest: digest})
			wantField(t, what, err, plugin.NotFound, firewall.FieldPosition)
			wantField(t, what, edit.DeleteRule(ctx, g.Scope, at, digest), plugin.NotFound, firewall.FieldPosition)
		}
		if _, now := g.listRules(t, ctx, rules); now != digest {
			t.Errorf("digest %q became %q", digest, now)
		}
	})
	eachScope[firewall.RuleEditor](t, s, "positions of an empty list", func(t *testing.T, ctx context.Context, g ground) {
		edit := changes[firewall.RuleEditor](t, g)
		_, digest := g.listRules(t, ctx, nil)
		for _, digest := range []string{"", digest} {
			err := edit.ChangeRule(ctx, g.Scope, 0, firewall.RuleChange{Set: firewall.RuleFields{Comment: ptr("c")}, Digest: digest})
			wantField(t, "changing", err, plugin.NotFound, firewall.FieldPosition)
			wantField(t, "deleting", edit.DeleteRule(ctx, g.Scope, 0, digest), plugin.NotFound, firewall.FieldPosition)
		}
	})
	eachScope[firewall.RuleEditor](t, s, "what does not do", s.badRules)
	eachScope[firewall.RuleEditor](t, s, "no right", func(t *testing.T, ctx context.Context, g ground) {
		rules := g.makeRules(t, ctx)
		noRight(t, g, func(edit firewall.RuleEditor) error {
			_, _, err := edit.CreateRule(ctx, g.Scope, s.Rules[0], "")
			return err
		})
		noRight(t, g, func(edit firewall.RuleEditor) error {
			return edit.ChangeRule(ctx, g.Scope, 0, firewall.RuleChange{Set: firewall.RuleFields{Comment: ptr("c")}})
		})
		noRight(t, g, func(edit firewall.RuleEditor) error { return edit.DeleteRule(ctx, g.Scope, 0, "") })
		g.listRules(t, ctx, rules)
	})
	if !has[firewall.RuleEditor](s, firewall.GroupScope) {
		return
	}
	s.run(t, "groups that are none", func(t *testing.T, ctx context.Context) {
		edit := open[firewall.RuleEditor](t, s, s.Target(t, endpoint.Lifecycle))
		for _, name := range append(hostileNames(), "no-such-group") {
			scope := firewall.Scope{Kind: firewall.GroupScope, Group: name}
			_, _, err := edit.CreateRule(ctx, scope, s.Rules[0], "")
			wantNone(t, name, err)
			wantNone(t, name, edit.DeleteRule(ctx, scope, 0, ""))
		}
	})
}

// badRules tries rules that are none, and wants the list as it was.
func (s *suite) badRules(t *testing.T, ctx context.Context, g ground) {
	rules := g.makeRules(t, ctx)
	edit := changes[firewall.RuleEditor](t, g)
	_, digest := g.listRules(t, ctx, rules)
	bad := func(field string, spoil func(*firewall.Rule)) {
		t.Helper()
		rule := s.Rules[0]
		spoil(&rule)
		_, _, err := edit.CreateRule(ctx, g.Scope, rule, digest)
		wantField(t, "creating with a bad "+field, err, plugin.Invalid, field)
	}
	bad(firewall.FieldDirection, func(r *firewall.Rule) { r.Direction = "sideways" })
	bad(firewall.FieldDirection, func(r *firewall.Rule) { r.Direction = "" })
	bad(firewall.FieldAction, func(r *firewall.Rule) { r.Action = "" })
	bad(firewall.FieldAction, func(r *firewall.Rule) { r.Action = "perhaps not" })
	for _, text := range hostileTexts() {
		for field, to := range map[string]func(*firewall.Rule) *string{
			firewall.FieldAction:          func(r *firewall.Rule) *string { return &r.Action },
			firewall.FieldProtocol:        func(r *firewall.Rule) *string { return &r.Protocol },
			firewall.FieldSource:          func(r *firewall.Rule) *string { return &r.Source },
			firewall.FieldDestination:     func(r *firewall.Rule) *string { return &r.Destination },
			firewall.FieldDestinationPort: func(r *firewall.Rule) *string { return &r.DestinationPort },
			firewall.FieldComment:         func(r *firewall.Rule) *string { return &r.Comment },
		} {
			bad(field, func(r *firewall.Rule) { *to(r) = text })
		}
		change := firewall.RuleChange{Set: firewall.RuleFields{Comment: &text}, Digest: digest}
		wantField(t, "changing", edit.ChangeRule(ctx, g.Scope, 0, change), plugin.Invalid, firewall.FieldComment)
	}
	for _, name := range []string{"none", "", firewall.FieldAction, firewall.FieldDirection, firewall.FieldEnabled, "comment,dport"} {
		change := firewall.RuleChange{Clear: []string{name}, Digest: digest}
		wantField(t, "clearing "+name, edit.ChangeRule(ctx, g.Scope, 0, change), plugin.Invalid, name)
	}
	if _, now := g.listRules(t, ctx, rules); now != digest {
		t.Errorf("digest %q became %q", digest, now)
	}
}

// makeRules makes the suite's rules in the scope, and gives them in the order in which they stand.
func (g ground) makeRules(t *testing.T, ctx context.Context) (rules []firewall.Rule) {
	t.Helper()
	edit := changes[firewall.RuleEditor](t, g)
	before, digest := g.listRules(t, ctx, nil)
	if len(before) > 0 {
		t.FailNow()
	}
	for _, rule := range g.s.Rules {
		at, after, err := edit.CreateRule(ctx, g.Scope, rule, digest)
		if err != nil || at < 0 || at > len(rules) {
			t.Fatalf("creating among %d rules: position %d, %v", len(rules), at, err)
		}
		rules = slices.Insert(rules, at, rule)
		found, now := g.listRules(t, ctx, rules)
		if after != now || now != "" && now == digest {
			t.Errorf("creating reports that digest %q became %q, but it is %q", digest, after, now)
		}
		if len(found) != len(rules) {
			t.FailNow()
		}
		if bare(found)[at] != rule {
			t.Errorf("creating reports the rule at %d, but this position has %+v", at, found[at])
		}
		digest = now
	}
	return rules
}

// listRules wants exactly these rules, in this order where there is one, and
// gives them with the digest.
func (g ground) listRules(t *testing.T, ctx context.Context, want []firewall.Rule) ([]firewall.Rule, string) {
	t.Helper()
	found, digest, err := reads[firewall.RuleLister](t, g).Rules(ctx, g.Scope)
	must(t, "listing", err)
	for i, r := range found {
		if r.Position != i {
			t.Errorf("rule %d is at the position %d", i, r.Position)
		}
	}
	got := bare(found)
	if !has[firewall.RuleMover](g.s, g.Scope.Kind) { // the order means nothing
		got, want = sorted(got), sorted(want)
	}
	if !slices.Equal(got, want) {
		t.Errorf("rules are\n%+v, want\n%+v", got, want)
	}
	return found, digest
}

// listAny returns the rules without comparing them.
func (g ground) listAny(t *testing.T, ctx context.Context) []firewall.Rule {
	t.Helper()
	found, _, err := reads[firewall.RuleLister](t, g).Rules(ctx, g.Scope)
	must(t, "listing", err)
	return found
}

// changed wants these rules and another digest than before.
func (g ground) changed(t *testing.T, ctx context.Context, before string, want []firewall.Rule) string {
	t.Helper()
	_, digest := g.listRules(t, ctx, want)
	if digest != "" && digest == before {
		t.Errorf("the digest stays %q", before)
	}
	return digest
}

// bare is the rules without their positions.
func bare(rules []firewall.Rule) []firewall.Rule {
	rules = slices.Clone(rules)
	for i := range rules {
		rules[i].Position = 0
	}
	return rules
}

// sorted returns the rules in a canonical order, for backends whose rules have
// no order.
func sorted(rules []firewall.Rule) []firewall.Rule {
	return slices.SortedFunc(slices.Values(rules), func(a, b firewall.Rule) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
}
