package pve

import (
	"context"

	"github.com/hostler/hostler/plugins/pve/pveapi"
	"github.com/hostler/hostler/sdk/firewall"
)

var _ firewall.MacroLister = (*Firewall)(nil)

// Macros implements firewall.MacroLister. Every token may read the list.
func (f *Firewall) Macros(ctx context.Context) ([]firewall.Macro, error) {
	var rows []struct {
		Name        pveapi.Text `json:"macro"`
		Description pveapi.Text `json:"descr"`
	}
	if err := f.read(ctx, place{path: "/cluster/firewall/macros"}, &rows); err != nil {
		return nil, err
	}
	macros := make([]firewall.Macro, len(rows))
	for i, row := range rows {
		macros[i] = firewall.Macro{Name: string(row.Name), Description: string(row.Description)}
	}
	return macros, nil
}
