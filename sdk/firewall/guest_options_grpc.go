package firewall

import (
	"context"

	"github.com/hostler/hostler/sdk/plugin/wire"
	firewallv1 "github.com/hostler/hostler/sdk/proto/hostler/firewall/v1"
)

func (f *remoteFirewall) guestOptions() firewallv1.GuestOptionsServiceClient {
	return firewallv1.NewGuestOptionsServiceClient(f.client.conn)
}

type guestOptionsServer struct {
	firewallv1.UnimplementedGuestOptionsServiceServer
	*server
}

func (f *remoteFirewall) GuestOptions(ctx context.Context, guest Guest) (GuestOptions, error) {
	req := &firewallv1.GuestOptionsRequest{Target: f.target, Guest: guestToProto(guest)}
	answer, err := wire.Call(ctx, f.guestOptions().GuestOptions, req)
	return optionsFromProto(answer.GetOptions()), err
}

func (s *guestOptionsServer) GuestOptions(ctx context.Context, req *firewallv1.GuestOptionsRequest) (*firewallv1.GuestOptionsResponse,
	error) {
	return serve(ctx, s.server, req, func(fw GuestOptioner) (*firewallv1.GuestOptionsResponse, error) {
		options, err := fw.GuestOptions(ctx, guestFromProto(req.GetGuest()))
		return &firewallv1.GuestOptionsResponse{Options: optionsToProto(options)}, err
	})
}

func (f *remoteFirewall) ChangeGuestOptions(ctx context.Context, guest Guest, change GuestOptionsChange) error {
	req := &firewallv1.ChangeGuestOptionsRequest{Target: f.target, Guest: guestToProto(guest), Change: optionsChangeToProto(change)}
	_, err := wire.Call(ctx, f.guestOptions().ChangeGuestOptions, req)
	return err
}

func (s *guestOptionsServer) ChangeGuestOptions(ctx context.Context, req *firewallv1.ChangeGuestOptionsRequest) (
	*firewallv1.ChangeGuestOptionsResponse, error) {
	return serve(ctx, s.server, req, func(fw GuestOptioner) (*firewallv1.ChangeGuestOptionsResponse, error) {
		return &firewallv1.ChangeGuestOptionsResponse{}, fw.ChangeGuestOptions(ctx, guestFromProto(req.GetGuest()),
			optionsChangeFromProto(req.GetChange()))
	})
}

func guestToProto(g Guest) *firewallv1.Guest {
	return &firewallv1.Guest{Kind: wire.Text(g.Kind), Node: wire.Text(g.Node), Ref: wire.Text(g.ID), Uid: wire.Text(g.UID)}
}

func guestFromProto(g *firewallv1.Guest) Guest {
	return Guest{Kind: g.GetKind(), Node: g.GetNode(), ID: g.GetRef(), UID: g.GetUid()}
}

func optionsToProto(o GuestOptions) *firewallv1.GuestOptions {
	return &firewallv1.GuestOptions{
		Digest: wire.Text(o.Digest), Enable: o.Enable, Dhcp: o.DHCP, Ndp: o.NDP, Radv: o.RADV, MacFilter: o.MACFilter, IpFilter: o.IPFilter,
		PolicyIn: wire.Text(o.PolicyIn), PolicyOut: wire.Text(o.PolicyOut),
	}
}

func optionsFromProto(o *firewallv1.GuestOptions) GuestOptions {
	if o == nil {
		return GuestOptions{}
	}
	return GuestOptions{
		Digest: o.GetDigest(), Enable: o.Enable, DHCP: o.Dhcp, NDP: o.Ndp, RADV: o.Radv, MACFilter: o.MacFilter, IPFilter: o.IpFilter,
		PolicyIn: o.GetPolicyIn(), PolicyOut: o.GetPolicyOut(),
	}
}

func optionsChangeToProto(c GuestOptionsChange) *firewallv1.GuestOptionsChange {
	return &firewallv1.GuestOptionsChange{Set: optionsToProto(c.Set), Clear: wire.Each(c.Clear, wire.Text)}
}

func optionsChangeFromProto(c *firewallv1.GuestOptionsChange) GuestOptionsChange {
	return GuestOptionsChange{Set: optionsFromProto(c.GetSet()), Clear: c.GetClear()}
}
