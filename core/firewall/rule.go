package firewall

import (
	"context"
	"slices"

	"github.com/hostler/hostler/core/host"
	sdk "github.com/hostler/hostler/sdk/firewall"
	"github.com/hostler/hostler/sdk/plugin"
)

// Rule is one rule as the API shows it. What the rule does not have is null.
type Rule struct {
	Position        int     `json:"pos" minimum:"0" example:"0" doc:"Place in the list: the first rule that fits decides"`
	Direction       string  `json:"type" enum:"in,out,forward,group" doc:"group stands for the rules of the security group that action names"`
	Action          string  `json:"action" example:"ACCEPT" doc:"What the rule does, in the hypervisor's words, or the name of a security group"`
	Enabled         int     `json:"enable" minimum:"0" maximum:"1" example:"1" doc:"1 when the rule holds, 0 when it is switched off"`
	Macro           *string `json:"macro" example:"SSH" doc:"A service that the hypervisor knows"`
	Interface       *string `json:"iface" example:"net0"`
	Source          *string `json:"source" example:"192.0.2.0/24" doc:"Addresses, networks, ranges or names of sets, in the hypervisor's form"`
	Destination     *string `json:"dest" example:"192.0.2.10" doc:"As source"`
	SourcePort      *string `json:"sport" example:"1024:65535"`
	DestinationPort *string `json:"dport" example:"22"`
	Protocol        *string `json:"proto" example:"tcp"`
	Log             *string `json:"log" example:"info" doc:"Level at which the rule logs"`
	ICMPType        *string `json:"icmp_type" example:"echo-request"`
	Comment         *string `json:"comment" example:"administrators"`
	Digest          *string `json:"digest" example:"da39a3ee5e6b4b0d3255bfef95601890afd80709" doc:"Of the whole list, the same on each of its rules: it changes when one of them does. Null where the hypervisor has none"`
}

// directions are the directions that rules may have.
var directions = []string{sdk.DirectionIn, sdk.DirectionOut, sdk.DirectionForward, sdk.DirectionGroup}

// Rules asks the backend for the rules of a scope, in their order. Problems: not_found for a node or a guest that is not there,
// capability_missing, unsupported where the backend lists no rules, and what plugin.Problem makes of the backend's errors.
func (s *Store) Rules(ctx context.Context, on Scope) ([]Rule, error) {
	return ask(ctx, s, on, func(ctx context.Context, able sdk.RuleLister, scope sdk.Scope) ([]Rule, error) {
		found, digest, err := able.Rules(ctx, scope)
		if err != nil {
			return nil, err
		}
		return rulesOf(found, host.CleanOrNil(digest))
	})
}

// rulesOf makes what a plugin says fit for JSON. A list that is out of order is refused: what is done to a rule later names it
// by its place.
func rulesOf(found []sdk.Rule, digest *string) ([]Rule, error) {
	all := make([]Rule, len(found))
	for i := range found {
		r := &found[i]
		if r.Position != i {
			return nil, plugin.Errorf(plugin.Protocol, "the backend lists rule %d at place %d", r.Position, i)
		}
		if !slices.Contains(directions, r.Direction) {
			return nil, plugin.Errorf(plugin.Protocol, "rule %d has the unknown type %.40q", i, host.Clean(r.Direction))
		}
		all[i] = Rule{
			Position: i, Direction: r.Direction, Action: host.Clean(r.Action), Macro: host.CleanOrNil(r.Macro),
			Interface: host.CleanOrNil(r.Interface), Source: host.CleanOrNil(r.Source), Destination: host.CleanOrNil(r.Destination),
			SourcePort: host.CleanOrNil(r.SourcePort), DestinationPort: host.CleanOrNil(r.DestinationPort),
			Protocol: host.CleanOrNil(r.Protocol), Log: host.CleanOrNil(r.Log), ICMPType: host.CleanOrNil(r.ICMPType),
			Comment: host.CleanOrNil(r.Comment), Digest: digest,
		}
		if r.Enabled {
			all[i].Enabled = 1
		}
	}
	return all, nil
}
