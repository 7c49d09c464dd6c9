package firewall

import (
	"context"
	"errors"
	"fmt"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/plugin"
	pluginv1 "github.com/hostler/hostler/sdk/proto/hostler/plugin/v1"
	"google.golang.org/grpc"
)

// Service is a backend as plugin.Serve takes it. It registers the gRPC services of exactly those optional interfaces that the
// firewall's type satisfies.
type Service struct {
	Backend Backend
	// FirewallType is a typed nil of what Backend.Open returns: its methods are looked at and never called.
	FirewallType Firewall
}

var _ plugin.Service = Service{}

// Describe implements plugin.Service.
func (s Service) Describe(ctx context.Context) (plugin.Description, error) {
	if s.Backend == nil || s.FirewallType == nil {
		return plugin.Description{}, errors.New("a firewall service needs a backend and its firewall's type")
	}
	info, err := s.Backend.Info(ctx)
	if err != nil {
		return plugin.Description{}, fmt.Errorf("asking the backend for its info: %w", err)
	}
	return plugin.Description{
		Kind: plugin.KindFirewall, Name: info.Name, Version: info.Version, Abilities: abilities.Names(&server{service: s}),
	}, nil
}

// Register implements plugin.Service.
func (s Service) Register(registrar grpc.ServiceRegistrar) error {
	abilities.Register(registrar, &server{service: s})
	return nil
}

// server holds what the services of the abilities need.
type server struct{ service Service }

// serve answers a call that has one answer. As is an optional interface of the firewall.
func serve[As, Resp any](ctx context.Context, s *server, req endpoint.Request, answer func(As) (*Resp, error)) (*Resp, error) {
	opener := endpoint.Opener[Firewall]{Open: s.service.Backend.Open, Type: s.service.FirewallType}
	return endpoint.Serve(ctx, opener, req, answer)
}

// Client is a backend that runs in a plugin process. Its firewalls satisfy every optional interface in Go: ask As, which knows
// what the plugin claims.
type Client struct {
	plugin.Claims
	conn grpc.ClientConnInterface
}

var _ Backend = (*Client)(nil)

// NewClient makes a backend of a connection.
func NewClient(conn grpc.ClientConnInterface) *Client { return &Client{conn: conn} }

// Info asks the plugin, and remembers its abilities.
func (c *Client) Info(ctx context.Context) (Info, error) {
	d, err := plugin.DescribeKind(ctx, c.conn, plugin.KindFirewall)
	if err != nil {
		return Info{}, err
	}
	c.SetDescription(d)
	return Info{Name: d.Name, Version: d.Version}, nil
}

// Open gives the firewall at the target. It asks the plugin what it can do when that is not known yet, and nothing otherwise.
func (c *Client) Open(ctx context.Context, target endpoint.Target) (Firewall, error) {
	if !c.Described() {
		if _, err := c.Info(ctx); err != nil {
			return nil, err
		}
	}
	return &remoteFirewall{client: c, target: endpoint.TargetToProto(target)}, nil
}

// remoteFirewall is a firewall behind a plugin. It holds nothing: each call carries the target.
type remoteFirewall struct {
	client *Client
	target *pluginv1.Target
}

// Can implements plugin.Claimer.
func (f *remoteFirewall) Can(ability string) bool { return f.client.Can(ability) }

// Close implements Firewall; there is nothing to release.
func (f *remoteFirewall) Close() error { return nil }
