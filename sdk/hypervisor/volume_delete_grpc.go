package hypervisor

import (
	"context"

	"github.com/hostler/hostler/sdk/plugin/wire"
	hypervisorv1 "github.com/hostler/hostler/sdk/proto/hostler/hypervisor/v1"
)

type volumeDeleteServer struct {
	hypervisorv1.UnimplementedVolumeDeleteServiceServer
	*server
}

func (h *remoteHost) DeleteVolume(ctx context.Context, volume Volume) (string, error) {
	req := &hypervisorv1.DeleteVolumeRequest{Target: h.target, Volume: volumeToProto(volume)}
	answer, err := wire.Call(ctx, hypervisorv1.NewVolumeDeleteServiceClient(h.client.conn).DeleteVolume, req)
	return answer.GetTaskId(), err
}

func (s *volumeDeleteServer) DeleteVolume(ctx context.Context, req *hypervisorv1.DeleteVolumeRequest) (
	*hypervisorv1.DeleteVolumeResponse, error) {
	return serve(ctx, s.server, req, func(host VolumeDeleter) (*hypervisorv1.DeleteVolumeResponse, error) {
		task, err := host.DeleteVolume(ctx, volumeFromProto(req.GetVolume()))
		return &hypervisorv1.DeleteVolumeResponse{TaskId: wire.Text(task)}, err
	})
}
