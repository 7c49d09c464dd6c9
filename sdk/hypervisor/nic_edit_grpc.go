package hypervisor

import (
	"context"

	"github.com/hostler/hostler/sdk/plugin/wire"
	hypervisorv1 "github.com/hostler/hostler/sdk/proto/hostler/hypervisor/v1"
)

func (h *remoteHost) nicEdit() hypervisorv1.NICEditServiceClient {
	return hypervisorv1.NewNICEditServiceClient(h.client.conn)
}

type nicEditServer struct {
	hypervisorv1.UnimplementedNICEditServiceServer
	*server
}

func (h *remoteHost) NICs(ctx context.Context, guest GuestRef) (NICList, error) {
	answer, err := wire.Call(ctx, h.nicEdit().NICs, &hypervisorv1.NICsRequest{Target: h.target, Guest: refToProto(guest)})
	return NICList{Digest: answer.GetDigest(), NICs: wire.Each(answer.GetNics(), nicFromProto)}, err
}

func (s *nicEditServer) NICs(ctx context.Context, req *hypervisorv1.NICsRequest) (*hypervisorv1.NICsResponse, error) {
	return serve(ctx, s.server, req, func(host NICEditor) (*hypervisorv1.NICsResponse, error) {
		list, err := host.NICs(ctx, refFromProto(req.GetGuest()))
		return &hypervisorv1.NICsResponse{Digest: wire.Text(list.Digest), Nics: wire.Each(list.NICs, nicToProto)}, err
	})
}

func (h *remoteHost) Addresses(ctx context.Context, guest GuestRef) ([]NICAddresses, error) {
	req := &hypervisorv1.AddressesRequest{Target: h.target, Guest: refToProto(guest)}
	answer, err := wire.Call(ctx, h.nicEdit().Addresses, req)
	return wire.Each(answer.GetInterfaces(), addressesFromProto), err
}

func (s *nicEditServer) Addresses(ctx context.Context, req *hypervisorv1.AddressesRequest) (*hypervisorv1.AddressesResponse, error) {
	return serve(ctx, s.server, req, func(host NICEditor) (*hypervisorv1.AddressesResponse, error) {
		told, err := host.Addresses(ctx, refFromProto(req.GetGuest()))
		return &hypervisorv1.AddressesResponse{Interfaces: wire.Each(told, addressesToProto)}, err
	})
}

func (h *remoteHost) ChangeNIC(ctx context.Context, guest GuestRef, key string, change NICChange) error {
	req := nicChangeToProto(change)
	req.Target, req.Guest, req.Key = h.target, refToProto(guest), wire.Text(key)
	_, err := wire.Call(ctx, h.nicEdit().ChangeNIC, req)
	return err
}

func (s *nicEditServer) ChangeNIC(ctx context.Context, req *hypervisorv1.ChangeNICRequest) (*hypervisorv1.ChangeNICResponse, error) {
	return serve(ctx, s.server, req, func(host NICEditor) (*hypervisorv1.ChangeNICResponse, error) {
		return &hypervisorv1.ChangeNICResponse{}, host.ChangeNIC(ctx, refFromProto(req.GetGuest()), req.GetKey(), nicChangeFromProto(req))
	})
}

func nicToProto(n NIC) *hypervisorv1.NIC {
	return &hypervisorv1.NIC{
		Key: wire.Text(n.Key), Name: wire.Text(n.Name), Model: wire.Text(n.Model), Mac: wire.Text(n.MAC), Bridge: wire.Text(n.Bridge),
		Vlan: n.VLAN, Rate: n.Rate, Mtu: n.MTU, Firewall: n.Firewall, LinkDown: n.LinkDown, Ip: wire.Text(n.IP), Gateway: wire.Text(n.Gateway),
		Ip6: wire.Text(n.IP6), Gateway6: wire.Text(n.Gateway6), Pending: n.Pending,
		Raw: wire.Text(n.Raw),
	}
}

func nicFromProto(n *hypervisorv1.NIC) NIC {
	if n == nil {
		return NIC{}
	}
	return NIC{
		Key: n.GetKey(), Name: n.GetName(), Model: n.GetModel(), MAC: n.GetMac(), Bridge: n.GetBridge(), VLAN: n.Vlan, Rate: n.Rate, MTU: n.Mtu,
		Firewall: n.GetFirewall(), LinkDown: n.GetLinkDown(), IP: n.GetIp(), Gateway: n.GetGateway(), IP6: n.GetIp6(), Gateway6: n.GetGateway6(),
		Pending: n.GetPending(), Raw: n.GetRaw(),
	}
}

func addressesToProto(a NICAddresses) *hypervisorv1.NICAddresses {
	return &hypervisorv1.NICAddresses{Name: wire.Text(a.Name), Mac: wire.Text(a.MAC), Addresses: wire.Texts(a.Addresses)}
}

func addressesFromProto(a *hypervisorv1.NICAddresses) NICAddresses {
	return NICAddresses{Name: a.GetName(), MAC: a.GetMac(), Addresses: a.GetAddresses()}
}

// nicChangeToProto leaves target, guest and key out.
func nicChangeToProto(c NICChange) *hypervisorv1.ChangeNICRequest {
	return &hypervisorv1.ChangeNICRequest{
		Digest: wire.Text(c.Digest), Set: nicToProto(c.Set), Fields: wire.Texts(c.Fields), Clear: wire.Texts(c.Clear),
		Raw: wire.Text(c.Raw),
	}
}

func nicChangeFromProto(req *hypervisorv1.ChangeNICRequest) NICChange {
	return NICChange{
		Digest: req.GetDigest(), Raw: req.GetRaw(), Set: nicFromProto(req.GetSet()), Fields: req.GetFields(), Clear: req.GetClear(),
	}
}
