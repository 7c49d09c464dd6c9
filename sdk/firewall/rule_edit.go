package firewall

import "context"

// RuleChange is a change of one rule.
type RuleChange struct {
	// Set contains the new values.
	Set RuleFields
	// Clear names the fields to remove. Direction, action and enabled cannot be
	// removed.
	Clear []string
	// Digest is the digest of the list that the position comes from. An empty value
	// is not checked.
	Digest string
}

// RuleFields are values of a rule's fields. A nil field keeps the present value. A
// pointer to an empty string removes the field, as its name in RuleChange.Clear
// does.
type RuleFields struct {
	Direction, Action                                                 *string
	Enabled                                                           *bool
	Macro, Protocol, Source, Destination, SourcePort, DestinationPort *string
	Interface, Log, ICMPType, Comment                                 *string
}

// RuleEditor is implemented by firewalls whose rules can be changed one by one. It
// needs the Lifecycle capability.
//
// A position without rule is NotFound with the field "pos". An outdated digest is
// Conflict with the field "digest", and a wrong value is Invalid with the field.
// Nothing is changed in these cases. Scopes are treated as by RuleLister.
type RuleEditor interface {
	// CreateRule creates a rule at the place where the backend inserts new rules.
	// It is enabled only if rule.Enabled is true; rule.Position is ignored.
	// CreateRule returns the position of the rule in the list whose digest is
	// after. If the rule was created but the list could not be read, or was changed
	// by another user in between, the position is -1 and after is empty.
	CreateRule(ctx context.Context, scope Scope, rule Rule, digest string) (position int, after string, err error)
	// ChangeRule applies the whole change in one request. The rule keeps its
	// position, unless the rules of the firewall have no order.
	ChangeRule(ctx context.Context, scope Scope, position int, change RuleChange) error
	// DeleteRule deletes a rule. The following rules move up by one.
	DeleteRule(ctx context.Context, scope Scope, position int, digest string) error
}

// RuleMover is implemented by firewalls whose rules have an order that can be
// changed. It needs the Lifecycle capability.
type RuleMover interface {
	// MoveRule moves the rule at position from to position to, counted after the
	// move: 0 makes it the first rule, and the number of rules minus one the last.
	// A wrong position is NotFound with the field "pos" for from, and Invalid with
	// the field "to" for to. An outdated digest is Conflict with the field
	// "digest". Equal positions change nothing.
	MoveRule(ctx context.Context, scope Scope, from, to int, digest string) error
}

// text returns a pointer to the field of a rule that can be removed, or nil for
// another name.
func (r *Rule) text(field string) *string {
	switch field {
	case FieldMacro:
		return &r.Macro
	case FieldProtocol:
		return &r.Protocol
	case FieldSource:
		return &r.Source
	case FieldDestination:
		return &r.Destination
	case FieldSourcePort:
		return &r.SourcePort
	case FieldDestinationPort:
		return &r.DestinationPort
	case FieldInterface:
		return &r.Interface
	case FieldLog:
		return &r.Log
	case FieldICMPType:
		return &r.ICMPType
	case FieldComment:
		return &r.Comment
	}
	return nil
}

// texts returns the values of the fields that can be removed, by their names.
func (f *RuleFields) texts() map[string]*string {
	return map[string]*string{
		FieldMacro: f.Macro, FieldProtocol: f.Protocol, FieldSource: f.Source, FieldDestination: f.Destination,
		FieldSourcePort: f.SourcePort, FieldDestinationPort: f.DestinationPort, FieldInterface: f.Interface, FieldLog: f.Log,
		FieldICMPType: f.ICMPType, FieldComment: f.Comment,
	}
}

// Apply returns the rule after the change, validated by CheckRule. A field that
// cannot be removed, or that is both set and cleared, is Invalid.
func (c RuleChange) Apply(rule Rule) (Rule, error) {
	set := c.Set.texts()
	for _, name := range c.Clear {
		to := rule.text(name)
		if to == nil {
			return Rule{}, Invalid(name, "a rule has no optional field of this name")
		}
		if v := set[name]; v != nil && *v != "" {
			return Rule{}, Invalid(name, "the request both sets and clears it")
		}
		*to = ""
	}
	for name, value := range set {
		if value != nil {
			*rule.text(name) = *value
		}
	}
	if c.Set.Direction != nil {
		rule.Direction = *c.Set.Direction
	}
	if c.Set.Action != nil {
		rule.Action = *c.Set.Action
	}
	if c.Set.Enabled != nil {
		rule.Enabled = *c.Set.Enabled
	}
	return rule, CheckRule(rule)
}
