package hypervisor

import (
	"context"

	"github.com/hostler/hostler/sdk/plugin/wire"
	hypervisorv1 "github.com/hostler/hostler/sdk/proto/hostler/hypervisor/v1"
)

type nicAddServer struct {
	hypervisorv1.UnimplementedNICAddServiceServer
	*server
}

func (h *remoteHost) AddNIC(ctx context.Context, guest GuestRef, nic NIC, digest string) error {
	_, err := wire.Call(ctx, hypervisorv1.NewNICAddServiceClient(h.client.conn).AddNIC, &hypervisorv1.AddNICRequest{
		Target: h.target, Guest: refToProto(guest), Nic: nicToProto(nic), Digest: wire.Text(digest),
	})
	return err
}

func (s *nicAddServer) AddNIC(ctx context.Context, req *hypervisorv1.AddNICRequest) (*hypervisorv1.AddNICResponse, error) {
	return serve(ctx, s.server, req, func(host NICAdder) (*hypervisorv1.AddNICResponse, error) {
		return &hypervisorv1.AddNICResponse{}, host.AddNIC(ctx, refFromProto(req.GetGuest()), nicFromProto(req.GetNic()), req.GetDigest())
	})
}
