package hypervisor

import (
	"context"

	"github.com/hostler/hostler/sdk/plugin/wire"
	hypervisorv1 "github.com/hostler/hostler/sdk/proto/hostler/hypervisor/v1"
)

type driveChangeServer struct {
	hypervisorv1.UnimplementedDriveChangeServiceServer
	*server
}

func (h *remoteHost) ChangeDrive(ctx context.Context, guest GuestRef, change DriveChange) error {
	req := driveChangeToProto(change)
	req.Target, req.Guest = h.target, refToProto(guest)
	_, err := wire.Call(ctx, hypervisorv1.NewDriveChangeServiceClient(h.client.conn).ChangeDrive, req)
	return err
}

func (s *driveChangeServer) ChangeDrive(ctx context.Context, req *hypervisorv1.ChangeDriveRequest) (*hypervisorv1.ChangeDriveResponse,
	error) {
	return serve(ctx, s.server, req, func(host DriveChanger) (*hypervisorv1.ChangeDriveResponse, error) {
		return &hypervisorv1.ChangeDriveResponse{}, host.ChangeDrive(ctx, refFromProto(req.GetGuest()), driveChangeFromProto(req))
	})
}

func driveChangeToProto(c DriveChange) *hypervisorv1.ChangeDriveRequest {
	return &hypervisorv1.ChangeDriveRequest{
		Key: wire.Text(c.Key), Image: wire.Text(c.Image), Digest: wire.Text(c.Digest), Raw: wire.Text(c.Raw),
	}
}

func driveChangeFromProto(c *hypervisorv1.ChangeDriveRequest) DriveChange {
	return DriveChange{Key: c.GetKey(), Image: c.GetImage(), Digest: c.GetDigest(), Raw: c.GetRaw()}
}
