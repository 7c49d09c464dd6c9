package hypervisor

import (
	"context"

	"github.com/hostler/hostler/sdk/plugin/wire"
	hypervisorv1 "github.com/hostler/hostler/sdk/proto/hostler/hypervisor/v1"
)

func (h *remoteHost) creationCheck() hypervisorv1.CreationCheckServiceClient {
	return hypervisorv1.NewCreationCheckServiceClient(h.client.conn)
}

type creationCheckServer struct {
	hypervisorv1.UnimplementedCreationCheckServiceServer
	*server
}

func (h *remoteHost) CheckVM(ctx context.Context, spec VMSpec) error {
	req := &hypervisorv1.CheckVMRequest{Target: h.target, Spec: vmSpecToProto(spec)}
	_, err := wire.Call(ctx, h.creationCheck().CheckVM, req)
	return err
}

func (s *creationCheckServer) CheckVM(ctx context.Context, req *hypervisorv1.CheckVMRequest) (*hypervisorv1.CheckVMResponse, error) {
	return serve(ctx, s.server, req, func(host CreationChecker) (*hypervisorv1.CheckVMResponse, error) {
		return &hypervisorv1.CheckVMResponse{}, host.CheckVM(ctx, vmSpecFromProto(req.GetSpec()))
	})
}

func (h *remoteHost) CheckClone(ctx context.Context, guest GuestRef, spec CloneSpec) error {
	copied := cloneSpecToProto(spec)
	copied.Guest = refToProto(guest)
	_, err := wire.Call(ctx, h.creationCheck().CheckClone, &hypervisorv1.CheckCloneRequest{Target: h.target, Clone: copied})
	return err
}

func (s *creationCheckServer) CheckClone(ctx context.Context, req *hypervisorv1.CheckCloneRequest) (*hypervisorv1.CheckCloneResponse,
	error) {
	return serve(ctx, s.server, req, func(host CreationChecker) (*hypervisorv1.CheckCloneResponse, error) {
		copied := req.GetClone()
		return &hypervisorv1.CheckCloneResponse{}, host.CheckClone(ctx, refFromProto(copied.GetGuest()), cloneSpecFromProto(copied))
	})
}

func (h *remoteHost) CheckRestore(ctx context.Context, spec RestoreSpec) error {
	req := &hypervisorv1.CheckRestoreRequest{Target: h.target, Restore: restoreSpecToProto(spec)}
	_, err := wire.Call(ctx, h.creationCheck().CheckRestore, req)
	return err
}

func (s *creationCheckServer) CheckRestore(ctx context.Context, req *hypervisorv1.CheckRestoreRequest) (
	*hypervisorv1.CheckRestoreResponse, error) {
	return serve(ctx, s.server, req, func(host CreationChecker) (*hypervisorv1.CheckRestoreResponse, error) {
		return &hypervisorv1.CheckRestoreResponse{}, host.CheckRestore(ctx, restoreSpecFromProto(req.GetRestore()))
	})
}
