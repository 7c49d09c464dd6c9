package draft

import (
	"context"
	"maps"
	"slices"

	"github.com/hostler/hostler/core/firewall"
	sdk "github.com/hostler/hostler/sdk/firewall"
	"github.com/hostler/hostler/sdk/plugin"
)

// step is one change of one scope that is never half in effect. It holds the
// change and not the whole list: a draft may have thousands of steps, and a
// scope thousands of rules.
type step struct {
	// scope is the place of the scope among those of the draft.
	scope int
	// apply makes the change of a scope that is as before the step. It changes
	// the lists of the state in place: see owned.
	apply func(s *sdk.State)
	// act sends the next request that brings the scope from where it is to what
	// apply makes of from. It is called again until there is nothing left, and
	// reads again each time: so it does not matter whether an earlier request
	// was carried out. done is true once the scope is as it shall be. It reads
	// by reader and changes by writer, for the token that may change need not
	// be one that may read.
	act func(ctx context.Context, reader, writer sdk.Firewall, from sdk.State) (done bool, err error)
	// within reports whether a scope is on the way from from to what apply
	// makes of it; nil where there is nothing between.
	within func(from, now sdk.State) bool
	// takes is the name that the step takes away; nil for none.
	takes *object
	// options says that the step changes options.
	options bool
}

// owned returns a state with its own copies of all lists, which may be changed
// in place.
func owned(s sdk.State) sdk.State {
	s.Rules, s.Aliases, s.IPSets = slices.Clone(s.Rules), slices.Clone(s.Aliases), slices.Clone(s.IPSets)
	for i := range s.IPSets {
		s.IPSets[i].Members = slices.Clone(s.IPSets[i].Members)
	}
	s.Options.Other = maps.Clone(s.Options.Other)
	return s
}

// ownedAll is owned for several states.
func ownedAll(all []sdk.State) []sdk.State {
	all = slices.Clone(all)
	for i := range all {
		all[i] = owned(all[i])
	}
	return all
}

// errForeign reports that a scope is in a state that neither this draft nor its
// beginning has made.
var errForeign = plugin.Errorf(plugin.Conflict, "someone else changed it in the meantime")

// have returns the firewall as the ability A at a scope.
func have[A any](fw sdk.Firewall, scope sdk.Scope) (A, error) {
	return firewall.AsAbility[A](scope.Kind)(fw)
}

// plain returns rules without positions, for comparison.
func plain(rules []sdk.Rule) []sdk.Rule {
	all := slices.Clone(rules)
	for i := range all {
		all[i].Position = 0
	}
	return all
}

// number sets the positions of rules to their indexes.
func number(rules []sdk.Rule) []sdk.Rule {
	for i := range rules {
		rules[i].Position = i
	}
	return rules
}

// alike reports whether two rules are equal apart from their positions.
func alike(a, b sdk.Rule) bool {
	a.Position, b.Position = 0, 0
	return a == b
}

// sameRules reports whether two lists have equal rules in the same order.
func sameRules(a, b []sdk.Rule) bool { return slices.EqualFunc(a, b, alike) }

// off returns a rule disabled.
func off(r sdk.Rule) sdk.Rule {
	r.Enabled = false
	return r
}

// insertRule inserts a rule into a list, in place.
func insertRule(rules []sdk.Rule, at int, rule sdk.Rule) []sdk.Rule {
	return number(slices.Insert(rules, at, rule))
}

// takeRule removes the rule at an index, in place.
func takeRule(rules []sdk.Rule, at int) []sdk.Rule { return number(slices.Delete(rules, at, at+1)) }

// has reports whether list is other with one rule inserted at an index.
func has(list, other []sdk.Rule, at int, rule sdk.Rule) bool {
	return len(list) == len(other)+1 && alike(list[at], rule) && sameRules(list[:at], other[:at]) && sameRules(list[at+1:], other[at:])
}

// stray returns the index at which list has a rule that other lacks, with
// everything else equal; it tries at first. -1 means that there is none.
func stray(list, other []sdk.Rule, at int, rule sdk.Rule) int {
	if len(list) != len(other)+1 {
		return -1
	}
	if has(list, other, at, rule) {
		return at
	}
	for q := range list {
		if has(list, other, q, rule) {
			return q
		}
	}
	return -1
}

// insertion is the step that inserts a rule. A firewall may put a new rule
// anywhere. So the rule is created disabled, which decides nothing, moved to
// its place, and enabled there: three requests, none of which has a wrong rule
// in force.
func insertion(scope, at int, rule sdk.Rule) step {
	rule.Position = 0
	return step{scope: scope,
		apply: func(s *sdk.State) { s.Rules = insertRule(s.Rules, at, rule) },
		within: func(from, now sdk.State) bool {
			q := stray(now.Rules, from.Rules, at, off(rule))
			now.Rules = from.Rules
			return q >= 0 && now.Equal(from)
		},
		act: func(ctx context.Context, reader, writer sdk.Firewall, from sdk.State) (bool, error) {
			lister, err := have[sdk.RuleLister](reader, from.Scope)
			if err != nil {
				return false, err
			}
			now, digest, err := lister.Rules(ctx, from.Scope)
			if err != nil {
				return false, err
			}
			q := stray(now, from.Rules, at, off(rule))
			switch {
			case has(now, from.Rules, at, rule):
				return true, nil
			case sameRules(now, from.Rules):
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

// request is a step of one request about a part of a scope. R and W are the
// abilities that the firewall needs for reading and writing, which for a group
// are those of the cluster.
type request[R, W any] struct {
	scope int
	// at is where the firewall must be able to do it; nil where the scope is.
	at *sdk.Scope
	// apply makes the change, of a state that need have no more than the part.
	apply func(s *sdk.State)
	// part is what the step is about, with lists of its own.
	part func(s sdk.State) sdk.State
	// read gives the part as it is now, of a scope that is as from otherwise, and its digest.
	read func(ctx context.Context, able R, from sdk.State) (sdk.State, string, error)
	// send makes the request of a scope that is as from.
	send func(ctx context.Context, able W, from sdk.State, digest string) error
}

// step returns the step of a typed request. It reads the list first and sends
// the change under the digest of that list, so a change by somebody else in
// between is noticed.
func (r request[R, W]) step() step {
	return step{scope: r.scope, apply: r.apply, act: func(ctx context.Context, reader, writer sdk.Firewall, from sdk.State) (bool, error) {
		at := from.Scope
		if r.at != nil {
			at = *r.at
		}
		reads, err := have[R](reader, at)
		if err != nil {
			return false, err
		}
		now, digest, err := r.read(ctx, reads, from)
		if err != nil {
			return false, err
		}
		before, after := r.part(from), r.part(from)
		r.apply(&after)
		switch {
		case now.Equal(after):
			return true, nil
		case !now.Equal(before):
			return false, errForeign
		}
		writes, err := have[W](writer, at)
		if err != nil {
			return false, err
		}
		return false, r.send(ctx, writes, from, digest)
	}}
}

// onRules is a step of one request about a list of rules.
func onRules(scope int, apply func(rules []sdk.Rule) []sdk.Rule,
	send func(ctx context.Context, able sdk.RuleEditor, from sdk.State, digest string) error) step {
	return request[sdk.RuleLister, sdk.RuleEditor]{scope: scope,
		apply: func(s *sdk.State) { s.Rules = apply(s.Rules) },
		part:  func(s sdk.State) sdk.State { return sdk.State{Scope: s.Scope, Rules: slices.Clone(s.Rules)} },
		read: func(ctx context.Context, able sdk.RuleLister, from sdk.State) (now sdk.State, digest string, err error) {
			now.Scope = from.Scope
			now.Rules, digest, err = able.Rules(ctx, from.Scope)
			return now, digest, err
		},
		send: send}.step()
}

// deletion is the step that deletes a rule.
func deletion(scope, at int) step {
	return onRules(scope, func(rules []sdk.Rule) []sdk.Rule { return takeRule(rules, at) },
		func(ctx context.Context, able sdk.RuleEditor, from sdk.State, digest string) error {
			return able.DeleteRule(ctx, from.Scope, at, digest)
		})
}

// replacement is the step that replaces a rule at its place, in one request.
func replacement(scope, at int, rule sdk.Rule) step {
	rule.Position = at
	return onRules(scope, func(rules []sdk.Rule) []sdk.Rule {
		rules[at] = rule
		return rules
	}, func(ctx context.Context, able sdk.RuleEditor, from sdk.State, digest string) error {
		change := differing(from.Rules[at], rule)
		change.Digest = digest
		return able.ChangeRule(ctx, from.Scope, at, change)
	})
}

// differing returns the change that turns one rule into another.
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
