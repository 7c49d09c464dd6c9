package cluster

import (
	"context"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/cluster"
	"github.com/hostler/hostler/core/identity"
)

type nodesInput struct {
	Host int64 `query:"host" minimum:"1" doc:"Only nodes of this host"`
}

func (h handlers) nodes(ctx context.Context, in *nodesInput) (*op.List[cluster.Node], error) {
	nodes, err := h.store.Nodes(ctx, in.Host, identity.FromContext(ctx).Visible())
	return &op.List[cluster.Node]{Total: len(nodes), Body: nodes}, err
}

func (h handlers) summary(ctx context.Context, _ *struct{}) (*op.Body[*cluster.Summary], error) {
	found, err := h.store.Summary(ctx, identity.FromContext(ctx).Visible())
	return &op.Body[*cluster.Summary]{Body: found}, err
}
