package hypervisor

import (
	"context"

	"github.com/hostler/hostler/sdk/endpoint"
	hypervisorv1 "github.com/hostler/hostler/sdk/proto/hostler/hypervisor/v1"
)

// server answers HypervisorService with a driver, and holds what the services of the abilities need. Errors and panics are
// turned into statuses by plugin.NewServer.
type server struct {
	hypervisorv1.UnimplementedHypervisorServiceServer
	service Service
}

func (s *server) opener() endpoint.Opener[Host] {
	return endpoint.Opener[Host]{Open: s.service.Driver.Open, Type: s.service.HostType}
}

// serve answers a call that has one answer. As is Host or one of its optional interfaces.
func serve[As, Resp any](ctx context.Context, s *server, req endpoint.Request, answer func(As) (*Resp, error)) (*Resp, error) {
	return endpoint.Serve(ctx, s.opener(), req, answer)
}

func (s *server) Info(ctx context.Context, _ *hypervisorv1.InfoRequest) (*hypervisorv1.InfoResponse, error) {
	info, err := s.service.info(ctx)
	if err != nil {
		return nil, err
	}
	return infoToProto(info), nil
}
