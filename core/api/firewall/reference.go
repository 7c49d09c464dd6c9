package firewall

import (
	"context"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/firewall"
)

func (h handlers) registerReferences(a *op.API, d declared) {
	op.Get(a, d.path+"/refs", h.references, d.read("list_%_refs", "List the objects for firewall rules", "/refs",
		"Lists the aliases and IP sets that `source` and `dest` of rules can use in this scope, including those of "+
			"the cluster. On most hypervisors, nodes have neither aliases nor IP sets: 501 `unsupported_at_scope`."))
}

func (h handlers) references(ctx context.Context, _ *struct{}) (*op.List[firewall.Reference], error) {
	on, err := h.scope(ctx)
	if err != nil {
		return nil, err
	}
	all, err := h.Firewalls.References(ctx, on)
	return &op.List[firewall.Reference]{Total: len(all), Body: all}, err
}
