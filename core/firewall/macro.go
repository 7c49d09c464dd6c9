package firewall

import (
	"context"

	"github.com/hostler/hostler/core/host"
	sdk "github.com/hostler/hostler/sdk/firewall"
)

// Macro is a service that rules can name instead of protocol and ports.
type Macro struct {
	Name        string  `json:"name" example:"SSH"`
	Description *string `json:"description" example:"Secure shell traffic"`
}

// Macros returns the macros of a cluster, for pickers. Problems: those of
// Rules.
func (s *Store) Macros(ctx context.Context, on Scope) ([]Macro, error) {
	found, err := ask(ctx, s, on, func(ctx context.Context, able sdk.MacroLister, _ sdk.Scope) ([]sdk.Macro, error) {
		return able.Macros(ctx)
	})
	all := make([]Macro, len(found))
	for i, m := range found {
		all[i] = Macro{Name: host.Clean(m.Name), Description: host.CleanOrNil(m.Description)}
	}
	return all, err
}
