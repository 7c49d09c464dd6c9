package draft

import (
	"context"
	"slices"

	"github.com/hostler/hostler/core/firewall"
	"github.com/hostler/hostler/sdk/endpoint"
	sdk "github.com/hostler/hostler/sdk/firewall"
	"github.com/hostler/hostler/sdk/plugin"
)

// checkRules refuses new rules that the firewall would refuse at the commit, if
// the firewall can tell. Rules that exist already are not checked: the draft
// must not fail because of them.
func (s *Store) checkRules(ctx context.Context, r *record, q *Request, place map[ScopeRef]int) error {
	if !slices.ContainsFunc(r.Scopes, func(sc stored) bool { return !sameRules(sc.Before.Rules, sc.After.Rules) }) {
		return nil
	}
	_, err := firewall.WithFirewall(ctx, s.Firewalls, r.HostID, endpoint.Monitoring, func(ctx context.Context, fw sdk.Firewall) (struct{},
		error) {
		for i := range r.Scopes {
			sc := &r.Scopes[i]
			able, err := have[sdk.RuleChecker](fw, sc.After.Scope)
			if err != nil {
				continue // it judges them itself
			}
			for _, rule := range sc.After.Rules {
				if slices.ContainsFunc(sc.Before.Rules, func(was sdk.Rule) bool { return alike(was, rule) }) {
					continue
				}
				err := able.CheckRule(ctx, sc.After.Scope, rule)
				if err != nil && plugin.KindOf(err) != plugin.Invalid {
					return struct{}{}, err
				}
				if err != nil {
					in, part := q.origin(rule, place, i)
					return struct{}{}, inBody(in, err, part...)
				}
			}
		}
		return struct{}{}, nil
	})
	return err
}

// origin finds the change that made a rule of a scope; for a filling it is the
// whole body.
func (q *Request) origin(rule sdk.Rule, place map[ScopeRef]int, scope int) (in where, part []any) {
	for n := len(q.Changes) - 1; n >= 0; n-- {
		c := &q.Changes[n]
		if place[c.On] != scope || c.Rule == nil {
			continue
		}
		// Of a change of a rule only what it sets is known.
		made, err := sdk.RuleChange{Set: c.Rule.fields()}.Apply(rule)
		made.Macro = rule.Macro // the firewall's own letters
		if err == nil && alike(made, rule) {
			return change(n), []any{"rule"}
		}
	}
	return where{"body"}, nil
}
