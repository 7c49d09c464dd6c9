package plugin

import (
	"context"
	"fmt"

	goplugin "github.com/hashicorp/go-plugin"
	pluginv1 "github.com/hostler/hostler/sdk/proto/hostler/plugin/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/health/grpc_health_v1"
)

// VersionedSet is what a host gives go-plugin's client as VersionedPlugins.
func VersionedSet() map[int]goplugin.PluginSet {
	return map[int]goplugin.PluginSet{ProtocolVersion: {setName: &set{}}}
}

// Connection is the host's connection to one plugin process. It ends with the process.
type Connection struct {
	*grpc.ClientConn
	done context.Context
}

// Connect gives the connection of a started plugin.
func Connect(client goplugin.ClientProtocol) (*Connection, error) {
	got, err := client.Dispense(setName)
	if err != nil {
		return nil, fmt.Errorf("connecting to the plugin: %w", err)
	}
	return got.(*Connection), nil
}

// Done is closed when the process has ended.
func (c *Connection) Done() <-chan struct{} { return c.done.Done() }

// Describe asks the plugin what it serves.
func (c *Connection) Describe(ctx context.Context) ([]Description, error) {
	return describeOver(ctx, c)
}

// DescribeKind asks the plugin at the other end of a connection for what it says of one kind. One that does not serve the kind
// is Unsupported.
func DescribeKind(ctx context.Context, conn grpc.ClientConnInterface, kind string) (Description, error) {
	all, err := describeOver(ctx, conn)
	if err != nil {
		return Description{}, err
	}
	for _, d := range all {
		if d.Kind == kind {
			return d, nil
		}
	}
	return Description{}, Errorf(Unsupported, "the plugin serves no %s", kind)
}

func describeOver(ctx context.Context, conn grpc.ClientConnInterface) ([]Description, error) {
	answer, err := pluginv1.NewPluginServiceClient(conn).Describe(ctx, &pluginv1.DescribeRequest{})
	if err != nil {
		return nil, CallError(ctx, err)
	}
	described := make([]Description, 0, len(answer.GetServices()))
	for _, s := range answer.GetServices() {
		described = append(described, Description{
			Kind: s.GetKind(), Name: s.GetName(), Version: s.GetVersion(), Abilities: s.GetAbilities(),
			Scopes: scopesFromProto(s.GetScopes()),
		})
	}
	return described, nil
}

func scopesFromProto(scopes []*pluginv1.ScopeAbilities) (out []ScopeAbilities) {
	for _, s := range scopes {
		out = append(out, ScopeAbilities{Kind: s.GetKind(), Abilities: s.GetAbilities()})
	}
	return out
}

// Ping asks the plugin for a sign of life.
func (c *Connection) Ping(ctx context.Context) error {
	answer, err := grpc_health_v1.NewHealthClient(c).Check(ctx, &grpc_health_v1.HealthCheckRequest{
		Service: goplugin.GRPCServiceName,
	})
	if err != nil {
		return CallError(ctx, err)
	}
	if answer.GetStatus() != grpc_health_v1.HealthCheckResponse_SERVING {
		return fmt.Errorf("plugin health is %s", answer.GetStatus())
	}
	return nil
}
