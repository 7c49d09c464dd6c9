package firewall

import (
	"context"

	"github.com/hostler/hostler/core/host"
	sdk "github.com/hostler/hostler/sdk/firewall"
)

// Reference is an object that source and destination of a rule may name.
type Reference struct {
	Kind    string  `json:"type" enum:"alias,ipset"`
	Name    string  `json:"name" example:"management"`
	Text    string  `json:"ref" example:"+dc/management" doc:"Text to use in a rule"`
	Scope   *string `json:"scope" example:"cluster" doc:"Scope where it is defined: cluster, node, guest or group; null if it is none of these"`
	Comment *string `json:"comment" example:"networks of the administrators"`
}

// References returns the objects that the rules of a scope may name, for
// pickers. Problems: those of Rules.
func (s *Store) References(ctx context.Context, on Scope) ([]Reference, error) {
	found, err := ask(ctx, s, on, func(ctx context.Context, able sdk.ReferenceLister, scope sdk.Scope) ([]sdk.Reference, error) {
		return able.References(ctx, scope)
	})
	all := make([]Reference, 0, len(found))
	for _, r := range found {
		if r.Kind != sdk.AliasObject && r.Kind != sdk.IPSetObject {
			continue
		}
		all = append(all, Reference{Kind: string(r.Kind), Name: host.Clean(r.Name), Text: host.Clean(r.Text),
			Scope: host.CleanOrNil(string(r.Scope)), Comment: host.CleanOrNil(r.Comment)})
	}
	return all, err
}
