package membackend

import (
	"context"
	"slices"

	"github.com/hostler/hostler/sdk/firewall"
)

var (
	_ firewall.RuleLister = (*Firewall)(nil)
	_ firewall.RuleEditor = (*Firewall)(nil)
	_ firewall.RuleMover  = (*Firewall)(nil)
)

// SetRules replaces the rules of a scope, and adds the scope. It sets the
// positions.
func (e *Endpoint) SetRules(scope firewall.Scope, rules ...firewall.Rule) {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := e.add(scope)
	s.rules = slices.Clone(rules)
	s.number()
}

// number sets the positions.
func (s *state) number() {
	for i := range s.rules {
		s.rules[i].Position = i
	}
}

// Rules implements firewall.RuleLister.
func (f *Firewall) Rules(ctx context.Context, scope firewall.Scope) (rules []firewall.Rule, sum string, err error) {
	err = f.read(ctx, "Rules", func(e *Endpoint) error {
		s, err := f.at(e, scope, "rules")
		if err != nil {
			return err
		}
		rules, sum = slices.Clone(s.rules), digest(s.rules)
		return nil
	})
	return rules, sum, err
}

// CreateRule implements firewall.RuleEditor. A new rule becomes the first one.
func (f *Firewall) CreateRule(ctx context.Context, scope firewall.Scope, rule firewall.Rule, sum string) (position int, after string,
	err error) {
	err = f.edit(ctx, "CreateRule", "rule_edit", scope, sum, func(e *Endpoint, s *state) error {
		if err := e.checkRule(rule); err != nil {
			return err
		}
		s.rules = slices.Insert(slices.Clone(s.rules), 0, rule)
		s.number()
		after = digest(s.rules)
		return nil
	})
	if err != nil {
		return 0, "", err
	}
	return 0, after, nil
}

// CheckRule implements firewall.RuleChecker. Rules are checked alike at every
// scope, also at a group that does not exist yet.
func (f *Firewall) CheckRule(ctx context.Context, _ firewall.Scope, rule firewall.Rule) error {
	return f.read(ctx, "CheckRule", func(e *Endpoint) error { return e.checkRule(rule) })
}

// ChangeRule implements firewall.RuleEditor.
func (f *Firewall) ChangeRule(ctx context.Context, scope firewall.Scope, position int, change firewall.RuleChange) error {
	return f.edit(ctx, "ChangeRule", "rule_edit", scope, change.Digest, func(e *Endpoint, s *state) error {
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
		return nil
	})
}

// DeleteRule implements firewall.RuleEditor.
func (f *Firewall) DeleteRule(ctx context.Context, scope firewall.Scope, position int, sum string) error {
	return f.edit(ctx, "DeleteRule", "rule_edit", scope, sum, func(_ *Endpoint, s *state) error {
		if position < 0 || position >= len(s.rules) {
			return missing(firewall.FieldPosition)
		}
		s.rules = slices.Delete(slices.Clone(s.rules), position, position+1)
		s.number()
		return nil
	})
}

// MoveRule implements firewall.RuleMover.
func (f *Firewall) MoveRule(ctx context.Context, scope firewall.Scope, from, to int, sum string) error {
	return f.edit(ctx, "MoveRule", "rule_move", scope, sum, func(_ *Endpoint, s *state) error {
		if from < 0 || from >= len(s.rules) {
			return missing(firewall.FieldPosition)
		}
		if to < 0 || to >= len(s.rules) {
			return firewall.Invalid(firewall.FieldTo, "this position does not exist")
		}
		rule := s.rules[from]
		s.rules = slices.Insert(slices.Delete(slices.Clone(s.rules), from, from+1), to, rule)
		s.number()
		return nil
	})
}

// edit changes the rules of a scope after checking their digest.
func (f *Firewall) edit(ctx context.Context, method, ability string, scope firewall.Scope, sum string,
	do func(*Endpoint, *state) error) error {
	return f.change(ctx, method, func(e *Endpoint) error {
		s, err := f.at(e, scope, ability)
		if err != nil {
			return err
		}
		if err := stale(sum, digest(s.rules)); err != nil {
			return err
		}
		return do(e, s)
	})
}

// checkRule returns an Invalid error for rules that this firewall does not
// accept: unknown actions and macros, and ports without a protocol.
func (e *Endpoint) checkRule(rule firewall.Rule) error {
	if err := firewall.CheckRule(rule); err != nil {
		return err
	}
	if rule.Direction != firewall.DirectionGroup && !slices.Contains(firewall.Policies(), rule.Action) {
		return firewall.Invalid(firewall.FieldAction, "unknown action")
	}
	known := func(m firewall.Macro) bool { return m.Name == rule.Macro }
	if rule.Macro != "" && !slices.ContainsFunc(e.macros, known) {
		return firewall.Invalid(firewall.FieldMacro, "unknown macro")
	}
	ports := map[string]string{firewall.FieldSourcePort: rule.SourcePort, firewall.FieldDestinationPort: rule.DestinationPort}
	for field, port := range ports {
		if port != "" && rule.Protocol == "" {
			return firewall.Invalid(field, "ports need a protocol")
		}
	}
	return nil
}
