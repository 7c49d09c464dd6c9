package firewall

import "context"

// RuleChecker is implemented by firewalls that know in advance which rules their
// hypervisor refuses. It needs the Monitoring capability.
type RuleChecker interface {
	// CheckRule returns Invalid, with the field, for a rule that RuleEditor would
	// refuse at the scope regardless of the existing aliases, sets and groups. It
	// does not use the network. Nil is not a promise that the rule will be
	// accepted.
	CheckRule(ctx context.Context, scope Scope, rule Rule) error
}
