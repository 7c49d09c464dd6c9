package hypervisor

import (
	"context"

	"github.com/hostler/hostler/sdk/plugin/wire"
	hypervisorv1 "github.com/hostler/hostler/sdk/proto/hostler/hypervisor/v1"
)

func (h *remoteHost) PowerNode(ctx context.Context, node string, command PowerCommand) error {
	_, err := wire.Call(ctx, hypervisorv1.NewNodePowerServiceClient(h.client.conn).PowerNode, &hypervisorv1.PowerNodeRequest{
		Target: h.target, Node: wire.Text(node), Command: wire.Text(string(command)),
	})
	return err
}

type nodePowerServer struct {
	hypervisorv1.UnimplementedNodePowerServiceServer
	*server
}

func (s *nodePowerServer) PowerNode(ctx context.Context, req *hypervisorv1.PowerNodeRequest) (*hypervisorv1.PowerNodeResponse, error) {
	return serve(ctx, s.server, req, func(host NodePowerManager) (*hypervisorv1.PowerNodeResponse, error) {
		return &hypervisorv1.PowerNodeResponse{}, host.PowerNode(ctx, req.GetNode(), PowerCommand(req.GetCommand()))
	})
}
