package hypervisor

import (
	"context"

	"github.com/hostler/hostler/sdk/plugin/wire"
	hypervisorv1 "github.com/hostler/hostler/sdk/proto/hostler/hypervisor/v1"
)

func (h *remoteHost) StopTask(ctx context.Context, taskID string) error {
	req := &hypervisorv1.StopTaskRequest{Target: h.target, TaskId: wire.Text(taskID)}
	_, err := wire.Call(ctx, hypervisorv1.NewTaskStopServiceClient(h.client.conn).StopTask, req)
	return err
}

type taskStopServer struct {
	hypervisorv1.UnimplementedTaskStopServiceServer
	*server
}

func (s *taskStopServer) StopTask(ctx context.Context, req *hypervisorv1.StopTaskRequest) (*hypervisorv1.StopTaskResponse, error) {
	return serve(ctx, s.server, req, func(host TaskStopper) (*hypervisorv1.StopTaskResponse, error) {
		return &hypervisorv1.StopTaskResponse{}, host.StopTask(ctx, req.GetTaskId())
	})
}
