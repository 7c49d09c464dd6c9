package cluster

import (
	"context"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/cluster"
	"github.com/hostler/hostler/core/identity"
)

func (h handlers) nodes(ctx context.Context, _ *struct{}) (*op.List[cluster.Node], error) {
	nodes, err := h.store.Nodes(ctx, identity.FromContext(ctx).Visible())
	return &op.List[cluster.Node]{Total: len(nodes), Body: nodes}, err
}

func (h handlers) summary(ctx context.Context, _ *struct{}) (*op.Body[*cluster.Summary], error) {
	found, err := h.store.Summary(ctx, identity.FromContext(ctx).Visible())
	return &op.Body[*cluster.Summary]{Body: found}, err
}
