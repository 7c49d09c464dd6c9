package hypervisor

import (
	"context"

	"github.com/hostler/hostler/sdk/plugin/wire"
	hypervisorv1 "github.com/hostler/hostler/sdk/proto/hostler/hypervisor/v1"
)

type cloneServer struct {
	hypervisorv1.UnimplementedCloneServiceServer
	*server
}

func (h *remoteHost) Clone(ctx context.Context, guest GuestRef, spec CloneSpec) (string, error) {
	req := cloneSpecToProto(spec)
	req.Target, req.Guest = h.target, refToProto(guest)
	answer, err := wire.Call(ctx, hypervisorv1.NewCloneServiceClient(h.client.conn).Clone, req)
	return answer.GetTaskId(), err
}

func (s *cloneServer) Clone(ctx context.Context, req *hypervisorv1.CloneRequest) (*hypervisorv1.CloneResponse, error) {
	return serve(ctx, s.server, req, func(host Cloner) (*hypervisorv1.CloneResponse, error) {
		task, err := host.Clone(ctx, refFromProto(req.GetGuest()), cloneSpecFromProto(req))
		return &hypervisorv1.CloneResponse{TaskId: wire.Text(task)}, err
	})
}

// cloneSpecToProto leaves target and guest out.
func cloneSpecToProto(s CloneSpec) *hypervisorv1.CloneRequest {
	return &hypervisorv1.CloneRequest{
		Ref: wire.Text(string(s.ID)), Name: wire.Text(s.Name), Node: wire.Text(s.Node), Storage: wire.Text(s.Storage), Full: s.Full,
	}
}

func cloneSpecFromProto(req *hypervisorv1.CloneRequest) CloneSpec {
	return CloneSpec{
		ID: GuestID(req.GetRef()), Name: req.GetName(), Node: req.GetNode(), Storage: req.GetStorage(), Full: req.GetFull(),
	}
}
