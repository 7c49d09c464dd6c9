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

// Client is a driver that runs in a plugin process. It and its hosts satisfy every optional interface in Go, so a type
// assertion proves nothing: ask As, which knows what the plugin claims. A call to a plugin that is not there fails with
// plugin.ErrGone in it.
type Client struct {
	plugin.Claims
	conn grpc.ClientConnInterface
	base hypervisorv1.HypervisorServiceClient
}

var (
	_ Driver            = (*Client)(nil)
	_ RoleScripter      = (*Client)(nil)
	_ RoleOutputReader  = (*Client)(nil)
	_ CertificateReader = (*Client)(nil)
	_ CredentialReader  = (*Client)(nil)
	_ Enroller          = (*Client)(nil)
)

// NewClient makes a driver of a connection.
func NewClient(conn grpc.ClientConnInterface) *Client {
	return &Client{conn: conn, base: hypervisorv1.NewHypervisorServiceClient(conn)}
}

// Info asks the plugin, and remembers the answer's abilities.
func (c *Client) Info(ctx context.Context) (Info, error) {
	answer, err := wire.Call(ctx, c.base.Info, &hypervisorv1.InfoRequest{})
	if err != nil {
		return Info{}, err
	}
	info := infoFromProto(answer)
	c.SetDescription(info.description())
	return info, nil
}

// Open gives a host for the target. It asks the plugin for its Info when that is not known yet, and nothing otherwise.
func (c *Client) Open(ctx context.Context, target endpoint.Target) (Host, error) {
	if !c.Described() {
		if _, err := c.Info(ctx); err != nil {
			return nil, err
		}
	}
	return &remoteHost{client: c, target: endpoint.TargetToProto(target)}, nil
}

// remoteHost is a host behind a plugin. It holds nothing: each call carries the target.
type remoteHost struct {
	client *Client
	target *pluginv1.Target
}

var _ Host = (*remoteHost)(nil)

// Can implements plugin.Claimer.
func (h *remoteHost) Can(ability string) bool { return h.client.Can(ability) }

// Close implements Host; there is nothing to release.
func (h *remoteHost) Close() error { return nil }
