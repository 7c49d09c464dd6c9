package membackend

import (
	"cmp"
	"context"
	"slices"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/firewall"
)

// ListBackend is a backend in the shape of access control lists: rules of the
// cluster that can only be read, and rules of guests without an order, with a
// log. It has no node scopes, options, groups or names for addresses. It shows
// whether a caller relies on something that not every backend has.
type ListBackend struct{ *Backend }

// NewLists returns a ListBackend without endpoints.
func NewLists() ListBackend {
	return ListBackend{&Backend{endpoints: map[string]*Endpoint{}, scopes: []firewall.ScopeAbilities{
		{Kind: firewall.ClusterScope, Abilities: []string{"rules"}},
		{Kind: firewall.GuestScope, Abilities: []string{"rules", "rule_edit", "log"}},
	}}}
}

// Open implements firewall.Backend.
func (l ListBackend) Open(_ context.Context, target endpoint.Target) (firewall.Firewall, error) {
	return &ListFirewall{l.open(target)}, nil
}

// ListFirewall is an endpoint of a ListBackend as one token sees it.
type ListFirewall struct{ fw *Firewall }

var (
	_ firewall.RuleLister           = (*ListFirewall)(nil)
	_ firewall.RuleEditor           = (*ListFirewall)(nil)
	_ firewall.LogReader            = (*ListFirewall)(nil)
	_ firewall.ScopeAbilityReporter = (*ListFirewall)(nil)
)

// CanAt implements firewall.ScopeAbilityReporter.
func (l *ListFirewall) CanAt(kind firewall.ScopeKind, ability string) bool {
	return l.fw.CanAt(kind, ability)
}

// Rules implements firewall.RuleLister. They are sorted: the order means
// nothing, but is always the same.
func (l *ListFirewall) Rules(ctx context.Context, scope firewall.Scope) ([]firewall.Rule, string, error) {
	return l.fw.Rules(ctx, scope)
}

// CreateRule implements firewall.RuleEditor. The position of the new rule
// follows from the sorting.
func (l *ListFirewall) CreateRule(ctx context.Context, scope firewall.Scope, rule firewall.Rule, sum string) (position int,
	after string, err error) {
	err = l.edit(ctx, "CreateRule", scope, sum, func(e *Endpoint, s *state) error {
		if err := e.checkRule(rule); err != nil {
			return err
		}
		s.rules = append(slices.Clone(s.rules), rule)
		position, after = s.sort(len(s.rules)-1), digest(s.rules)
		return nil
	})
	if err != nil {
		return 0, "", err
	}
	return position, after, nil
}

// ChangeRule implements firewall.RuleEditor. The rule may have another position
// afterwards.
func (l *ListFirewall) ChangeRule(ctx context.Context, scope firewall.Scope, position int, change firewall.RuleChange) error {
	return l.edit(ctx, "ChangeRule", scope, change.Digest, func(e *Endpoint, s *state) error {
		if position < 0 || position >= len(s.rules) {
			return missing(firewall.FieldPosition)
		}
		rule, err := change.Apply(s.rules[position])
		if err != nil {
			return err
		}
		if err := e.checkRule(rule); err != nil {
			return err
		}
		s.rules = slices.Clone(s.rules)
		s.rules[position] = rule
		s.sort(position)
		return nil
	})
}

// DeleteRule implements firewall.RuleEditor.
func (l *ListFirewall) DeleteRule(ctx context.Context, scope firewall.Scope, position int, sum string) error {
	return l.fw.DeleteRule(ctx, scope, position, sum)
}

// Log implements firewall.LogReader.
func (l *ListFirewall) Log(ctx context.Context, scope firewall.Scope, query firewall.LogQuery) (firewall.Log, error) {
	return l.fw.Log(ctx, scope, query)
}

// Close implements firewall.Firewall.
func (l *ListFirewall) Close() error { return nil }

// edit changes the rules of a scope after checking their digest.
func (l *ListFirewall) edit(ctx context.Context, method string, scope firewall.Scope, sum string, do func(*Endpoint, *state) error) error {
	return l.fw.edit(ctx, method, "rule_edit", scope, sum, do)
}

// sort sorts the rules, numbers them, and returns the new position of the rule
// that was at place.
func (s *state) sort(place int) int {
	for i := range s.rules {
		s.rules[i].Position = i
	}
	slices.SortStableFunc(s.rules, func(a, b firewall.Rule) int {
		return cmp.Or(cmp.Compare(a.Direction, b.Direction), cmp.Compare(a.Action, b.Action), cmp.Compare(a.Protocol, b.Protocol),
			cmp.Compare(a.DestinationPort, b.DestinationPort), cmp.Compare(a.Comment, b.Comment))
	})
	at := slices.IndexFunc(s.rules, func(r firewall.Rule) bool { return r.Position == place })
	s.number()
	return at
}
