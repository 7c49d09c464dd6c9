package hypervisor

import (
	"context"

	"github.com/hostler/hostler/sdk/plugin/wire"
	hypervisorv1 "github.com/hostler/hostler/sdk/proto/hostler/hypervisor/v1"
)

func (h *remoteHost) Act(ctx context.Context, ref GuestRef, action Action) (string, error) {
	req := &hypervisorv1.ActRequest{Target: h.target, Guest: refToProto(ref), Action: wire.Text(string(action))}
	answer, err := wire.Call(ctx, hypervisorv1.NewLifecycleServiceClient(h.client.conn).Act, req)
	return answer.GetTaskId(), err
}

type lifecycleServer struct {
	hypervisorv1.UnimplementedLifecycleServiceServer
	*server
}

func (s *lifecycleServer) Act(ctx context.Context, req *hypervisorv1.ActRequest) (*hypervisorv1.ActResponse, error) {
	return serve(ctx, s.server, req, func(host LifecycleManager) (*hypervisorv1.ActResponse, error) {
		task, err := host.Act(ctx, refFromProto(req.GetGuest()), Action(req.GetAction()))
		return &hypervisorv1.ActResponse{TaskId: wire.Text(task)}, err
	})
}
