package firewall

import "context"

// RuleChange is a change of one rule.
type RuleChange struct {
	// Set has the new values.
	Set RuleFields
	// Clear names fields that the rule shall not have any more. Direction, action and whether it is enabled cannot be cleared.
	Clear []string
	// Digest is that of the list that the position was taken from; empty is not checked.
	Digest string
}

// RuleFields are values of a rule's fields. What is nil stays as it is; an empty text takes the field away, as its name in Clear does.
type RuleFields struct {
	Direction, Action                                                 *string
	Enabled                                                           *bool
	Macro, Protocol, Source, Destination, SourcePort, DestinationPort *string
	Interface, Log, ICMPType, Comment                                 *string
}

// RuleEditor is satisfied by firewalls whose rules can be changed one by one. Needs the Lifecycle capability.
//
// A position that no rule has is NotFound with the field "pos"; a digest that is another by now is Conflict with the field "digest", and
// what does not fit is Invalid with the field: then nothing was changed. Scopes are as of RuleLister.
type RuleEditor interface {
	// CreateRule makes a rule, switched on only where it is Enabled, at the place where the backend puts new rules; its Position does
	// not matter. Position and after are where the rule stands in the list that has the digest after. Position is -1 and after empty
	// when the rule was made and the list could not be read then, or has been changed by somebody else since.
	CreateRule(ctx context.Context, scope Scope, rule Rule, digest string) (position int, after string, err error)
	// ChangeRule changes all that is given in one request. The rule stays where it is, unless the firewall's rules have no order.
	ChangeRule(ctx context.Context, scope Scope, position int, change RuleChange) error
	// DeleteRule takes the rule out; those below move up.
	DeleteRule(ctx context.Context, scope Scope, position int, digest string) error
}

// RuleMover is satisfied by firewalls whose rules have an order that can be changed. Needs the Lifecycle capability.
type RuleMover interface {
	// MoveRule moves the rule that stands at from to the place to, as places are counted afterwards: to 0 it is the first, and to the
	// number of rules less one the last. A place that is none is NotFound with the field "pos" for from and Invalid with the field "to"
	// for to; a digest that is another by now is Conflict with the field "digest". From and to the same changes nothing.
	MoveRule(ctx context.Context, scope Scope, from, to int, digest string) error
}

// text is where a field of a rule is that has a text and can be taken away; nil for other names.
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

// texts are the values by the names of the fields that can be taken away.
func (f *RuleFields) texts() map[string]*string {
	return map[string]*string{
		FieldMacro: f.Macro, FieldProtocol: f.Protocol, FieldSource: f.Source, FieldDestination: f.Destination,
		FieldSourcePort: f.SourcePort, FieldDestinationPort: f.DestinationPort, FieldInterface: f.Interface, FieldLog: f.Log,
		FieldICMPType: f.ICMPType, FieldComment: f.Comment,
	}
}

// Apply gives the rule as it is after the change, checked as CheckRule does. A field that cannot be cleared, or is cleared and set, is
// Invalid with its name.
func (c RuleChange) Apply(rule Rule) (Rule, error) {
	set := c.Set.texts()
	for _, name := range c.Clear {
		to := rule.text(name)
		if to == nil {
			return Rule{}, Invalid(name, "a rule has no such field that can be taken away")
		}
		if v := set[name]; v != nil && *v != "" {
			return Rule{}, Invalid(name, "it is set and taken away at once")
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
