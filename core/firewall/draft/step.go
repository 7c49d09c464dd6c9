package draft

import (
	"context"
	"slices"

	"github.com/hostler/hostler/core/firewall"
	sdk "github.com/hostler/hostler/sdk/firewall"
	"github.com/hostler/hostler/sdk/plugin"
)

// step is one change of one scope, which the rules in force never see half done.
type step struct {
	// scope is the place of the scope among those of the draft.
	scope int
	// from and to are the scope before and after it.
	from, to sdk.State
	// act sends the next request that brings the scope from where it is to what to is. It is called again until there is nothing left, and
	// reads again each time: so it does not matter whether an earlier request was carried out. done is true once the scope is as to. It reads
	// by reader and changes by writer, for the token that may change need not be one that may read.
	act func(ctx context.Context, reader, writer sdk.Firewall) (done bool, err error)
	// within tells that a scope is on the way from from to to; nil where there is nothing between.
	within func(now sdk.State) bool
}

// errForeign says that a scope is as neither this draft nor what it began with has made it.
var errForeign = plugin.Errorf(plugin.Conflict, "somebody else has changed it meanwhile")

// have gives a firewall as A at a scope.
func have[A any](fw sdk.Firewall, scope sdk.Scope) (A, error) {
	return firewall.Able[A](scope.Kind)(fw)
}

// plain are rules without their positions, to be compared.
func plain(rules []sdk.Rule) []sdk.Rule {
	all := slices.Clone(rules)
	for i := range all {
		all[i].Position = 0
	}
	return all
}

func number(rules []sdk.Rule) []sdk.Rule {
	for i := range rules {
		rules[i].Position = i
	}
	return rules
}

// without is a list without the rule at a place.
func without(rules []sdk.Rule, at int) []sdk.Rule {
	return slices.Delete(slices.Clone(rules), at, at+1)
}

// off is a rule switched off.
func off(r sdk.Rule) sdk.Rule {
	r.Enabled = false
	return r
}

// insertion makes a rule at a place. A firewall puts new rules where it likes, so the rule is made switched off, which decides nothing,
// moved to its place, and switched on there.
func insertion(scope int, from sdk.State, at int, rule sdk.Rule) step {
	rule.Position = 0
	before := plain(from.Rules)
	to := from
	to.Rules = number(slices.Insert(slices.Clone(before), at, rule))
	after := plain(to.Rules)
	stray := func(now []sdk.Rule) int {
		if len(now) != len(before)+1 {
			return -1
		}
		if now[at] == off(rule) && slices.Equal(without(now, at), before) {
			return at
		}
		for q := range now {
			if now[q] == off(rule) && slices.Equal(without(now, q), before) {
				return q
			}
		}
		return -1
	}
	return step{scope: scope, from: from, to: to,
		within: func(now sdk.State) bool {
			q := stray(plain(now.Rules))
			now.Rules = from.Rules
			return q >= 0 && now.Equal(from)
		},
		act: func(ctx context.Context, reader, writer sdk.Firewall) (bool, error) {
			lister, err := have[sdk.RuleLister](reader, from.Scope)
			if err != nil {
				return false, err
			}
			list, digest, err := lister.Rules(ctx, from.Scope)
			if err != nil {
				return false, err
			}
			now := plain(list)
			q := stray(now)
			switch {
			case slices.Equal(now, after):
				return true, nil
			case slices.Equal(now, before):
				able, err := have[sdk.RuleEditor](writer, from.Scope)
				if err != nil {
					return false, err
				}
				_, _, err = able.CreateRule(ctx, from.Scope, off(rule), digest)
				return false, err
			case q < 0:
				return false, errForeign
			case q != at:
				able, err := have[sdk.RuleMover](writer, from.Scope)
				if err != nil {
					return false, err
				}
				return false, able.MoveRule(ctx, from.Scope, q, at, digest)
			}
			able, err := have[sdk.RuleEditor](writer, from.Scope)
			if err != nil {
				return false, err
			}
			return false, able.ChangeRule(ctx, from.Scope, at, sdk.RuleChange{Set: sdk.RuleFields{Enabled: new(true)}, Digest: digest})
		}}
}

// onRules is a step of one request on a list of rules.
func onRules(scope int, from sdk.State, to []sdk.Rule, send func(ctx context.Context, able sdk.RuleEditor, digest string) error) step {
	end := from
	end.Rules = number(plain(to))
	return once(scope, from, end, from.Scope, func(ctx context.Context, able sdk.RuleLister) (now sdk.State, digest string, err error) {
		now = from
		now.Rules, digest, err = able.Rules(ctx, from.Scope)
		return now, digest, err
	}, send)
}

// once is a step of one request: read gives the scope with the part that the step is about as it is now, and that part's digest. R and W
// are what the firewall must be able to do at a scope, which for a group may be the cluster's.
func once[R, W any](scope int, from, to sdk.State, at sdk.Scope, read func(ctx context.Context, able R) (sdk.State, string, error),
	send func(ctx context.Context, able W, digest string) error) step {
	return step{scope: scope, from: from, to: to, act: func(ctx context.Context, reader, writer sdk.Firewall) (bool, error) {
		reads, err := have[R](reader, at)
		if err != nil {
			return false, err
		}
		now, digest, err := read(ctx, reads)
		switch {
		case err != nil:
			return false, err
		case now.Equal(to):
			return true, nil
		case !now.Equal(from):
			return false, errForeign
		}
		writes, err := have[W](writer, at)
		if err != nil {
			return false, err
		}
		return false, send(ctx, writes, digest)
	}}
}

func deletion(scope int, from sdk.State, at int) step {
	return onRules(scope, from, without(from.Rules, at), func(ctx context.Context, able sdk.RuleEditor, digest string) error {
		return able.DeleteRule(ctx, from.Scope, at, digest)
	})
}

// replacement makes another rule of the one at a place, in one request.
func replacement(scope int, from sdk.State, at int, rule sdk.Rule) step {
	rule.Position = 0
	to := plain(from.Rules)
	was := to[at]
	to[at] = rule
	return onRules(scope, from, to, func(ctx context.Context, able sdk.RuleEditor, digest string) error {
		change := differing(was, rule)
		change.Digest = digest
		return able.ChangeRule(ctx, from.Scope, at, change)
	})
}

// differing is the change that makes one rule of another.
func differing(was, rule sdk.Rule) (c sdk.RuleChange) {
	if was.Direction != rule.Direction {
		c.Set.Direction = &rule.Direction
	}
	if was.Action != rule.Action {
		c.Set.Action = &rule.Action
	}
	if was.Enabled != rule.Enabled {
		c.Set.Enabled = &rule.Enabled
	}
	for _, f := range []struct {
		name    string
		was, is string
		set     **string
	}{
		{sdk.FieldMacro, was.Macro, rule.Macro, &c.Set.Macro}, {sdk.FieldProtocol, was.Protocol, rule.Protocol, &c.Set.Protocol},
		{sdk.FieldSource, was.Source, rule.Source, &c.Set.Source}, {sdk.FieldDestination, was.Destination, rule.Destination, &c.Set.Destination},
		{sdk.FieldSourcePort, was.SourcePort, rule.SourcePort, &c.Set.SourcePort},
		{sdk.FieldDestinationPort, was.DestinationPort, rule.DestinationPort, &c.Set.DestinationPort},
		{sdk.FieldInterface, was.Interface, rule.Interface, &c.Set.Interface}, {sdk.FieldLog, was.Log, rule.Log, &c.Set.Log},
		{sdk.FieldICMPType, was.ICMPType, rule.ICMPType, &c.Set.ICMPType}, {sdk.FieldComment, was.Comment, rule.Comment, &c.Set.Comment},
	} {
		switch {
		case f.was == f.is:
		case f.is == "":
			c.Clear = append(c.Clear, f.name)
		default:
			*f.set = &f.is
		}
	}
	return c
}
