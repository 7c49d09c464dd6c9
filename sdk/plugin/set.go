package plugin

import (
	"context"
	"fmt"

	goplugin "github.com/hashicorp/go-plugin"
	pluginv1 "github.com/hostler/hostler/sdk/proto/hostler/plugin/v1"
	"google.golang.org/grpc"
)

// setName is the only entry of go-plugin's plugin set. Kinds are not entries of the
// set, because one process serves several; Describe reports them.
const setName = "hostler"

// set registers all services of a process with its gRPC server, and returns the
// connection on the service's side.
type set struct {
	goplugin.NetRPCUnsupportedPlugin
	services []Service
}

var _ goplugin.GRPCPlugin = (*set)(nil)

// GRPCServer registers everything that the process serves. It implements
// goplugin.GRPCPlugin.
func (s *set) GRPCServer(_ *goplugin.GRPCBroker, server *grpc.Server) error {
	return Register(server, s.services...)
}

// GRPCClient returns the connection. It implements goplugin.GRPCPlugin.
func (s *set) GRPCClient(ctx context.Context, _ *goplugin.GRPCBroker, conn *grpc.ClientConn) (any, error) {
	return &Connection{ClientConn: conn, done: ctx}, nil
}

// Register registers the services and PluginService with a server, as Serve does.
func Register(registrar grpc.ServiceRegistrar, services ...Service) error {
	described, err := describe(context.Background(), services)
	if err != nil {
		return err
	}
	pluginv1.RegisterPluginServiceServer(registrar, &describer{described: described})
	for _, s := range services {
		if err := s.Register(registrar); err != nil {
			return fmt.Errorf("registering a service: %w", err)
		}
	}
	return nil
}

// describer implements PluginService.
type describer struct {
	pluginv1.UnimplementedPluginServiceServer
	described *pluginv1.DescribeResponse
}

func (d *describer) Describe(context.Context, *pluginv1.DescribeRequest) (*pluginv1.DescribeResponse, error) {
	return d.described, nil
}
