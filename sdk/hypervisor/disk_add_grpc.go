package hypervisor

import (
	"context"

	"github.com/hostler/hostler/sdk/plugin/wire"
	hypervisorv1 "github.com/hostler/hostler/sdk/proto/hostler/hypervisor/v1"
)

type diskAddServer struct {
	hypervisorv1.UnimplementedDiskAddServiceServer
	*server
}

func (h *remoteHost) AddDisk(ctx context.Context, guest GuestRef, disk NewDisk) error {
	req := newDiskToProto(disk)
	req.Target, req.Guest = h.target, refToProto(guest)
	_, err := wire.Call(ctx, hypervisorv1.NewDiskAddServiceClient(h.client.conn).AddDisk, req)
	return err
}

func (s *diskAddServer) AddDisk(ctx context.Context, req *hypervisorv1.AddDiskRequest) (*hypervisorv1.AddDiskResponse, error) {
	return serve(ctx, s.server, req, func(host DiskAdder) (*hypervisorv1.AddDiskResponse, error) {
		return &hypervisorv1.AddDiskResponse{}, host.AddDisk(ctx, refFromProto(req.GetGuest()), newDiskFromProto(req))
	})
}

func newDiskToProto(d NewDisk) *hypervisorv1.AddDiskRequest {
	return &hypervisorv1.AddDiskRequest{
		Key: wire.Text(d.Key), Storage: wire.Text(d.Storage), SizeGb: d.SizeGB, Path: wire.Text(d.Path), Digest: wire.Text(d.Digest),
	}
}

func newDiskFromProto(d *hypervisorv1.AddDiskRequest) NewDisk {
	return NewDisk{Key: d.GetKey(), Storage: d.GetStorage(), SizeGB: d.GetSizeGb(), Path: d.GetPath(), Digest: d.GetDigest()}
}
