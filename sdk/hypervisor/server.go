package hypervisor

import (
	"context"

	"github.com/hostler/hostler/sdk/endpoint"
	hypervisorv1 "github.com/hostler/hostler/sdk/proto/hostler/hypervisor/v1"
)

// server implements HypervisorService with a driver. The servers of the abilities
// embed it. plugin.NewServer turns errors and panics into gRPC statuses.
type server struct {
	hypervisorv1.UnimplementedHypervisorServiceServer
	service Service
}

// opener returns what opens a host for the target in a request.
func (s *server) opener() endpoint.Opener[Host] {
	return endpoint.Opener[Host]{Open: s.service.Driver.Open, Type: s.service.HostType}
}

// serve answers a unary call: it opens a host for the request's target, calls
// answer with it as the interface As, and closes the host. As is Host or one of the
// optional interfaces.
func serve[As, Resp any](ctx context.Context, s *server, req endpoint.Request, answer func(As) (*Resp, error)) (*Resp, error) {
	return endpoint.Serve(ctx, s.opener(), req, answer)
}

// Info implements HypervisorService.
func (s *server) Info(ctx context.Context, _ *hypervisorv1.InfoRequest) (*hypervisorv1.InfoResponse, error) {
	info, err := s.service.info(ctx)
	if err != nil {
		return nil, err
	}
	return infoToProto(info), nil
}
