package plugin

import (
	"context"
	"fmt"

	goplugin "github.com/hashicorp/go-plugin"
	pluginv1 "github.com/hostler/hostler/sdk/proto/hostler/plugin/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/health/grpc_health_v1"
)

// VersionedSet returns the value for VersionedPlugins of go-plugin's client, on the
// service's side.
func VersionedSet() map[int]goplugin.PluginSet {
	return map[int]goplugin.PluginSet{ProtocolVersion: {setName: &set{}}}
}

// Connection is the service's connection to one plugin process. It is safe for
// concurrent use and ends with the process.
type Connection struct {
	*grpc.ClientConn
	done context.Context
}

// Connect returns the connection to a plugin that was started.
func Connect(client goplugin.ClientProtocol) (*Connection, error) {
	got, err := client.Dispense(setName)
	if err != nil {
		return nil, fmt.Errorf("connecting to the plugin: %w", err)
	}
	return got.(*Connection), nil
}

// Done returns a channel that is closed when the process has ended.
func (c *Connection) Done() <-chan struct{} { return c.done.Done() }

// Describe returns the description of each kind that the plugin serves.
func (c *Connection) Describe(ctx context.Context) ([]Description, error) {
	return describeOver(ctx, c)
}

// DescribeKind returns the plugin's description of one kind. A plugin that does not
// serve the kind is Unsupported.
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
	return Description{}, Errorf(Unsupported, "the plugin does not provide a %s", kind)
}

// describeOver calls PluginService.Describe.
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

// Ping checks the health of the plugin with the gRPC health protocol.
func (c *Connection) Ping(ctx context.Context) error {
	answer, err := grpc_health_v1.NewHealthClient(c).Check(ctx, &grpc_health_v1.HealthCheckRequest{
		Service: goplugin.GRPCServiceName,
	})
	if err != nil {
		return CallError(ctx, err)
	}
	if answer.GetStatus() != grpc_health_v1.HealthCheckResponse_SERVING {
		return fmt.Errorf("the health of the plugin is %s", answer.GetStatus())
	}
	return nil
}
