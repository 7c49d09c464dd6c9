package pve

import (
	"cmp"
	"context"

	"github.com/hostler/hostler/plugins/pve/pvefirewall"
	"github.com/hostler/hostler/sdk/firewall"
)

var _ firewall.RuleChecker = (*Firewall)(nil)

// CheckRule implements firewall.RuleChecker with the checks of Proxmox VE's own
// parser, which package pvefirewall repeats. It makes no request.
func (f *Firewall) CheckRule(_ context.Context, scope firewall.Scope, rule firewall.Rule) error {
	kinds := map[firewall.ScopeKind]pvefirewall.ScopeKind{
		firewall.ClusterScope: pvefirewall.ScopeCluster, firewall.NodeScope: pvefirewall.ScopeNode,
		firewall.GuestScope: pvefirewall.ScopeGuest, firewall.GroupScope: pvefirewall.ScopeGroup,
	}
	field, text := pvefirewall.CheckRule(kinds[scope.Kind], evaluatedRule(rule))
	if text == "" {
		return nil
	}
	return firewall.Invalid(cmp.Or(firewallFields[field], field), "%s", text)
}
