package hypervisor

import (
	"context"

	"github.com/hostler/hostler/sdk/plugin/wire"
	hypervisorv1 "github.com/hostler/hostler/sdk/proto/hostler/hypervisor/v1"
)

func (h *remoteHost) networks() hypervisorv1.NetworkManageServiceClient {
	return hypervisorv1.NewNetworkManageServiceClient(h.client.conn)
}

type networkManageServer struct {
	hypervisorv1.UnimplementedNetworkManageServiceServer
	*server
}

func (h *remoteHost) NodeNetwork(ctx context.Context, node string) (NodeNetwork, error) {
	answer, err := wire.Call(ctx, h.networks().NodeNetwork, &hypervisorv1.NodeNetworkRequest{Target: h.target, Node: wire.Text(node)})
	if err != nil {
		return NodeNetwork{}, err
	}
	return nodeNetworkFromProto(answer), nil
}

func (s *networkManageServer) NodeNetwork(ctx context.Context, req *hypervisorv1.NodeNetworkRequest) (
	*hypervisorv1.NodeNetworkResponse, error) {
	return serve(ctx, s.server, req, func(host NetworkManager) (*hypervisorv1.NodeNetworkResponse, error) {
		n, err := host.NodeNetwork(ctx, req.GetNode())
		return nodeNetworkToProto(n), err
	})
}

func (h *remoteHost) StageInterface(ctx context.Context, change InterfaceChange) error {
	req := interfaceChangeToProto(change)
	req.Target = h.target
	_, err := wire.Call(ctx, h.networks().StageInterface, req)
	return err
}

func (s *networkManageServer) StageInterface(ctx context.Context, req *hypervisorv1.StageInterfaceRequest) (
	*hypervisorv1.StageInterfaceResponse, error) {
	return serve(ctx, s.server, req, func(host NetworkManager) (*hypervisorv1.StageInterfaceResponse, error) {
		if req.GetWant() == nil {
			return nil, wire.MissingPart("want")
		}
		return &hypervisorv1.StageInterfaceResponse{}, host.StageInterface(ctx, interfaceChangeFromProto(req))
	})
}

func (h *remoteHost) StageRemoval(ctx context.Context, node, name string) error {
	req := &hypervisorv1.StageRemovalRequest{Target: h.target, Node: wire.Text(node), Name: wire.Text(name)}
	_, err := wire.Call(ctx, h.networks().StageRemoval, req)
	return err
}

func (s *networkManageServer) StageRemoval(ctx context.Context, req *hypervisorv1.StageRemovalRequest) (
	*hypervisorv1.StageRemovalResponse, error) {
	return serve(ctx, s.server, req, func(host NetworkManager) (*hypervisorv1.StageRemovalResponse, error) {
		return &hypervisorv1.StageRemovalResponse{}, host.StageRemoval(ctx, req.GetNode(), req.GetName())
	})
}

func (h *remoteHost) RevertNetwork(ctx context.Context, node string) error {
	_, err := wire.Call(ctx, h.networks().RevertNetwork, &hypervisorv1.RevertNetworkRequest{Target: h.target, Node: wire.Text(node)})
	return err
}

func (s *networkManageServer) RevertNetwork(ctx context.Context, req *hypervisorv1.RevertNetworkRequest) (
	*hypervisorv1.RevertNetworkResponse, error) {
	return serve(ctx, s.server, req, func(host NetworkManager) (*hypervisorv1.RevertNetworkResponse, error) {
		return &hypervisorv1.RevertNetworkResponse{}, host.RevertNetwork(ctx, req.GetNode())
	})
}

func (h *remoteHost) ApplyNetwork(ctx context.Context, node string) (string, error) {
	answer, err := wire.Call(ctx, h.networks().ApplyNetwork, &hypervisorv1.ApplyNetworkRequest{Target: h.target, Node: wire.Text(node)})
	return answer.GetTaskId(), err
}

func (s *networkManageServer) ApplyNetwork(ctx context.Context, req *hypervisorv1.ApplyNetworkRequest) (
	*hypervisorv1.ApplyNetworkResponse, error) {
	return serve(ctx, s.server, req, func(host NetworkManager) (*hypervisorv1.ApplyNetworkResponse, error) {
		task, err := host.ApplyNetwork(ctx, req.GetNode())
		return &hypervisorv1.ApplyNetworkResponse{TaskId: wire.Text(task)}, err
	})
}

func nodeNetworkToProto(n NodeNetwork) *hypervisorv1.NodeNetworkResponse {
	return &hypervisorv1.NodeNetworkResponse{
		Interfaces: wire.Each(n.Interfaces, interfaceToProto), Current: wire.Each(n.Current, interfaceToProto), Diff: wire.Text(n.Diff),
		Unclear: n.Unclear, Restore: wire.Text(n.Restore), Undo: wire.Text(n.Undo),
	}
}

func nodeNetworkFromProto(n *hypervisorv1.NodeNetworkResponse) NodeNetwork {
	return NodeNetwork{
		Interfaces: wire.Each(n.GetInterfaces(), interfaceFromProto), Current: wire.Each(n.GetCurrent(), interfaceFromProto),
		Diff: n.GetDiff(), Unclear: n.GetUnclear(), Restore: n.GetRestore(), Undo: n.GetUndo(),
	}
}

// interfaceChangeToProto leaves the target out.
func interfaceChangeToProto(c InterfaceChange) *hypervisorv1.StageInterfaceRequest {
	req := &hypervisorv1.StageInterfaceRequest{Node: wire.Text(c.Node), Want: interfaceToProto(c.Want)}
	if c.Was != nil {
		req.Was = interfaceToProto(*c.Was)
	}
	return req
}

func interfaceChangeFromProto(req *hypervisorv1.StageInterfaceRequest) InterfaceChange {
	c := InterfaceChange{Node: req.GetNode(), Want: interfaceFromProto(req.GetWant())}
	if req.GetWas() != nil {
		was := interfaceFromProto(req.GetWas())
		c.Was = &was
	}
	return c
}

func interfaceToProto(i Interface) *hypervisorv1.NetworkInterface {
	out := &hypervisorv1.NetworkInterface{
		Name: wire.Text(i.Name), Type: wire.Text(i.Type), Active: i.Active, Autostart: i.Autostart, Cidr: wire.Text(i.CIDR),
		Gateway: wire.Text(i.Gateway), Cidr6: wire.Text(i.CIDR6), Gateway6: wire.Text(i.Gateway6), Ports: wire.Texts(i.Ports),
		Device: wire.Text(i.Device), Vlan: i.VLAN, VlanAware: i.VLANAware, Vlans: wire.Text(i.VLANs), BondMode: wire.Text(i.BondMode),
		BondPrimary: wire.Text(i.BondPrimary), BondHash: wire.Text(i.BondHash), Mtu: i.MTU, Comment: wire.Text(i.Comment),
		AltNames: wire.Texts(i.AltNames), Dynamic: i.Dynamic, Dynamic6: i.Dynamic6,
	}
	if len(i.Options) > 0 {
		out.Options = make(map[string]string, len(i.Options))
	}
	for key, value := range i.Options {
		out.Options[wire.Text(key)] = wire.Text(value)
	}
	return out
}

func interfaceFromProto(i *hypervisorv1.NetworkInterface) Interface {
	return Interface{
		Name: i.GetName(), Type: i.GetType(), Active: i.GetActive(), Autostart: i.GetAutostart(), CIDR: i.GetCidr(),
		Gateway: i.GetGateway(), CIDR6: i.GetCidr6(), Gateway6: i.GetGateway6(), Ports: i.GetPorts(), Device: i.GetDevice(),
		VLAN: i.Vlan, VLANAware: i.GetVlanAware(), VLANs: i.GetVlans(), BondMode: i.GetBondMode(), BondPrimary: i.GetBondPrimary(),
		BondHash: i.GetBondHash(), MTU: i.Mtu, Comment: i.GetComment(), AltNames: i.GetAltNames(), Options: i.GetOptions(),
		Dynamic: i.GetDynamic(), Dynamic6: i.GetDynamic6(),
	}
}
