package firewall

import (
	"context"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/firewall"
)

func (h handlers) registerReferences(a *op.API, d declared) {
	op.Get(a, d.path+"/refs", h.references, d.read("list_%_refs", "List what rules may name in the firewall", "/refs",
		"The aliases and IP sets that `source` and `dest` of rules may name here, those of the cluster too, for pickers. A node has none of "+
			"its own with most hypervisors: 501 `unsupported_at_scope`."))
}

func (h handlers) references(ctx context.Context, _ *struct{}) (*op.List[firewall.Reference], error) {
	on, err := h.scope(ctx)
	if err != nil {
		return nil, err
	}
	all, err := h.Firewalls.References(ctx, on)
	return &op.List[firewall.Reference]{Total: len(all), Body: all}, err
}
