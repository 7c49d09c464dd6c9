package hypervisor

import (
	"context"
	"reflect"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/plugin"
	"github.com/hostler/hostler/sdk/plugin/wire"
	hypervisorv1 "github.com/hostler/hostler/sdk/proto/hostler/hypervisor/v1"
	pluginv1 "github.com/hostler/hostler/sdk/proto/hostler/plugin/v1"
)

// server answers HypervisorService with a driver, and holds what the services of the abilities need. Errors and panics are
// turned into statuses by plugin.NewServer.
type server struct {
	hypervisorv1.UnimplementedHypervisorServiceServer
	service Service
}

// request is satisfied by every request that reaches out.
type request interface{ GetTarget() *pluginv1.Target }

// serve answers a call that has one answer. H is Host or one of its optional interfaces.
func serve[H, Resp any](ctx context.Context, s *server, req request, answer func(host H) (*Resp, error)) (resp *Resp, err error) {
	err = withHost(ctx, s, req, func(host H) error {
		resp, err = answer(host)
		return err
	})
	if err != nil {
		return nil, err
	}
	return resp, nil
}

// withHost opens the request's host for the length of one call.
func withHost[H any](ctx context.Context, s *server, req request, call func(host H) error) error {
	if req.GetTarget() == nil {
		return plugin.Errorf(plugin.Invalid, "the request has no target")
	}
	host, err := s.service.Driver.Open(ctx, endpoint.TargetFromProto(req.GetTarget()))
	if err != nil {
		return err
	}
	defer func() { _ = host.Close() }()
	if got, want := reflect.TypeOf(host), reflect.TypeOf(s.service.HostType); got != want {
		return plugin.Errorf(plugin.Internal, "the driver opened a %s and promised a %s", got, want)
	}
	return call(host.(H)) // its type was asked before this service was registered
}

func (s *server) Info(ctx context.Context, _ *hypervisorv1.InfoRequest) (*hypervisorv1.InfoResponse, error) {
	info, err := s.service.info(ctx)
	if err != nil {
		return nil, err
	}
	return infoToProto(info), nil
}

func infoToProto(info Info) *hypervisorv1.InfoResponse {
	return &hypervisorv1.InfoResponse{
		Name: wire.Text(info.Name), Version: wire.Text(info.Version), Product: wire.Text(info.Product), Abilities: wire.Texts(info.Abilities),
	}
}

func infoFromProto(in *hypervisorv1.InfoResponse) Info {
	return Info{Name: in.GetName(), Version: in.GetVersion(), Product: in.GetProduct(), Abilities: in.GetAbilities()}
}
