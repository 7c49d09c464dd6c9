package hypervisor

import (
	"context"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/plugin"
	"github.com/hostler/hostler/sdk/plugin/wire"
	hypervisorv1 "github.com/hostler/hostler/sdk/proto/hostler/hypervisor/v1"
	pluginv1 "github.com/hostler/hostler/sdk/proto/hostler/plugin/v1"
	"google.golang.org/grpc"
)

// Client is a Driver that runs in a plugin process. The type and its hosts
// implement every optional interface, so a type assertion proves nothing: call As,
// which knows the abilities that the plugin reported. A call to a plugin whose
// process has ended fails with an error that wraps plugin.ErrGone. A Client is safe
// for concurrent use and needs no closing; the owner of the connection closes that.
type Client struct {
	plugin.ReportedAbilities
	conn grpc.ClientConnInterface
	base hypervisorv1.HypervisorServiceClient
}

var (
	_ Driver            = (*Client)(nil)
	_ RoleScriptWriter  = (*Client)(nil)
	_ RoleOutputReader  = (*Client)(nil)
	_ CertificateReader = (*Client)(nil)
	_ CredentialReader  = (*Client)(nil)
	_ Enroller          = (*Client)(nil)
)

// NewClient returns a driver that sends its calls over the connection. It does not
// use the connection yet.
func NewClient(conn grpc.ClientConnInterface) *Client {
	return &Client{conn: conn, base: hypervisorv1.NewHypervisorServiceClient(conn)}
}

// Info reads the description from the plugin and remembers its abilities for As.
func (c *Client) Info(ctx context.Context) (Info, error) {
	answer, err := wire.Call(ctx, c.base.Info, &hypervisorv1.InfoRequest{})
	if err != nil {
		return Info{}, err
	}
	info := infoFromProto(answer)
	c.SetDescription(info.description())
	return info, nil
}

// Open returns a host for the target. It calls Info if the plugin has not been
// described yet, and otherwise sends nothing.
func (c *Client) Open(ctx context.Context, target endpoint.Target) (Host, error) {
	if !c.Described() {
		if _, err := c.Info(ctx); err != nil {
			return nil, err
		}
	}
	return &remoteHost{client: c, target: endpoint.TargetToProto(target)}, nil
}

// remoteHost is a host behind a plugin. It has no state of its own: each call
// carries the whole target, so a restarted plugin process can serve the next call.
type remoteHost struct {
	client *Client
	target *pluginv1.Target
}

var _ Host = (*remoteHost)(nil)

// Can implements plugin.AbilityReporter.
func (h *remoteHost) Can(ability string) bool { return h.client.Can(ability) }

// Close implements Host. It does nothing, because the host has no resources on this
// side.
func (h *remoteHost) Close() error { return nil }
