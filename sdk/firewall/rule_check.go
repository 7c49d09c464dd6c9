package firewall

import "context"

// RuleChecker is satisfied by firewalls that know what their hypervisor refuses of a rule before it is asked. Needs the Monitoring
// capability.
type RuleChecker interface {
	// CheckRule is Invalid with the field at fault where RuleEditor would refuse the rule at the scope whatever aliases, sets and groups
	// there are. It uses no network. Nil promises nothing.
	CheckRule(ctx context.Context, scope Scope, rule Rule) error
}
