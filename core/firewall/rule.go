package firewall

import (
	"context"
	"slices"

	"github.com/hostler/hostler/core/host"
	sdk "github.com/hostler/hostler/sdk/firewall"
	"github.com/hostler/hostler/sdk/plugin"
)

// Rule is one rule as the API shows it. A field that the rule does not have is
// null.
type Rule struct {
	Position        int     `json:"pos" minimum:"0" example:"0" doc:"Position in the list; the first matching rule applies"`
	Direction       string  `json:"type" enum:"in,out,forward,group" doc:"group: the rules of the security group that action names"`
	Action          string  `json:"action" example:"ACCEPT" doc:"Action, as the hypervisor names it, or the name of a security group"`
	Enabled         int     `json:"enable" minimum:"0" maximum:"1" example:"1" doc:"1 if the rule is enabled, 0 if it is disabled"`
	Macro           *string `json:"macro" example:"SSH" doc:"Name of a predefined service of the hypervisor"`
	Interface       *string `json:"iface" example:"net0"`
	Source          *string `json:"source" example:"192.0.2.0/24" doc:"Addresses, networks, ranges or names of sets, in the hypervisor's format"`
	Destination     *string `json:"dest" example:"192.0.2.10" doc:"Same format as source"`
	SourcePort      *string `json:"sport" example:"1024:65535"`
	DestinationPort *string `json:"dport" example:"22"`
	Protocol        *string `json:"proto" example:"tcp"`
	Log             *string `json:"log" example:"info" doc:"Log level of the rule"`
	ICMPType        *string `json:"icmp_type" example:"echo-request"`
	Comment         *string `json:"comment" example:"administrators"`
	Digest          *string `json:"digest" example:"da39a3ee5e6b4b0d3255bfef95601890afd80709" doc:"Digest of the whole list, the same for each rule; it changes when any of them changes. Null if the hypervisor has none"`
}

// Rules returns the rules of a scope in their order, with their digest, nil for
// none. Problems: not_found for an unknown node, guest or group,
// capability_missing, unsupported if the backend lists no rules,
// unsupported_at_scope, and those of plugin.Problem.
func (s *Store) Rules(ctx context.Context, on Scope) ([]Rule, *string, error) {
	rows, digest, err := s.readRules(ctx, on)
	if err != nil {
		return nil, nil, err
	}
	now := host.CleanOrNil(digest)
	return showRules(rows, now), now, nil
}

// readRules returns the rules as the backend has them. A list with wrong
// positions is refused, because changes name a rule by its position.
func (s *Store) readRules(ctx context.Context, on Scope) (rows []sdk.Rule, digest string, err error) {
	rows, err = ask(ctx, s, on, func(ctx context.Context, able sdk.RuleLister, scope sdk.Scope) (found []sdk.Rule, err error) {
		if found, digest, err = able.Rules(ctx, scope); err != nil {
			return nil, err
		}
		return found, checkRules(found)
	})
	return rows, digest, err
}

// checkRules refuses a backend's list whose positions or directions are wrong.
// A change by position would hit another rule.
func checkRules(found []sdk.Rule) error {
	for i := range found {
		if found[i].Position != i {
			return plugin.Errorf(plugin.Protocol, "the backend lists rule %d at position %d", found[i].Position, i)
		}
		if !slices.Contains(sdk.Directions(), found[i].Direction) {
			return plugin.Errorf(plugin.Protocol, "rule %d has the unknown type %.40q", i, host.Clean(found[i].Direction))
		}
	}
	return nil
}

// showRules checks and converts the rules of a plugin.
func showRules(rows []sdk.Rule, digest *string) []Rule {
	all := make([]Rule, len(rows))
	for i := range rows {
		all[i] = showRule(&rows[i], digest)
	}
	return all
}

// showRule converts a rule for the API.
func showRule(r *sdk.Rule, digest *string) Rule {
	shown := Rule{
		Position: r.Position, Direction: r.Direction, Action: host.Clean(r.Action), Macro: host.CleanOrNil(r.Macro),
		Interface: host.CleanOrNil(r.Interface), Source: host.CleanOrNil(r.Source), Destination: host.CleanOrNil(r.Destination),
		SourcePort: host.CleanOrNil(r.SourcePort), DestinationPort: host.CleanOrNil(r.DestinationPort),
		Protocol: host.CleanOrNil(r.Protocol), Log: host.CleanOrNil(r.Log), ICMPType: host.CleanOrNil(r.ICMPType),
		Comment: host.CleanOrNil(r.Comment), Digest: digest,
	}
	if r.Enabled {
		shown.Enabled = 1
	}
	return shown
}
