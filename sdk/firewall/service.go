package firewall

import (
	"context"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/plugin"
	firewallv1 "github.com/hostler/hostler/sdk/proto/hostler/firewall/v1"
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
	info, err := Describe(ctx, s.Backend, s.FirewallType)
	return info.description(), err
}

// Register implements plugin.Service.
func (s Service) Register(registrar grpc.ServiceRegistrar) error {
	info, err := Describe(context.Background(), s.Backend, s.FirewallType)
	if err != nil {
		return err
	}
	abilities.Register(registrar, &server{service: s, info: info})
	return nil
}

// server holds what the services of the abilities need.
type server struct {
	service Service
	info    Info
}

// serve answers a call that is about a scope. As is an optional interface of the firewall.
func serve[As, Resp any](ctx context.Context, s *server, req scoped, answer func(fw As, scope Scope) (*Resp, error)) (*Resp, error) {
	scope := scopeFromProto(req.GetScope())
	if err := checkScope(scope, AbilityName[As](), s.info.Has); err != nil {
		return nil, err
	}
	return open(ctx, s, req, func(fw As) (*Resp, error) { return answer(fw, scope) })
}

// serveCluster answers a call that is about the cluster and names no scope.
func serveCluster[As, Resp any](ctx context.Context, s *server, req endpoint.Request, answer func(As) (*Resp, error)) (*Resp, error) {
	if err := checkScope(Scope{Kind: ClusterScope}, AbilityName[As](), s.info.Has); err != nil {
		return nil, err
	}
	return open(ctx, s, req, answer)
}

func open[As, Resp any](ctx context.Context, s *server, req endpoint.Request, answer func(As) (*Resp, error)) (*Resp, error) {
	opener := endpoint.Opener[Firewall]{Open: s.service.Backend.Open, Type: s.service.FirewallType}
	return endpoint.Serve(ctx, opener, req, answer)
}

// scoped is satisfied by the requests that name a scope.
type scoped interface {
	endpoint.Request
	GetScope() *firewallv1.Scope
}

// checkScope refuses a scope that is none, or lacks the ability.
func checkScope(scope Scope, ability string, has func(ScopeKind, string) bool) error {
	if !ValidScope(scope) {
		return Invalid(FieldScope, "%.40q is no scope with what it needs and nothing else", string(scope.Kind))
	}
	if !has(scope.Kind, ability) {
		return withField(plugin.Unsupported, FieldScope, "the firewall has no %s at the scope %s", ability, scope.Kind)
	}
	return nil
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
	return infoOf(d), nil
}

// SetDescription records what the plugin said of itself.
func (c *Client) SetDescription(d plugin.Description) {
	c.Claims.SetDescription(infoOf(d).description())
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

// CanAt implements ScopeClaimer.
func (f *remoteFirewall) CanAt(kind ScopeKind, ability string) bool {
	return f.client.CanAt(string(kind), ability)
}

// refuse refuses a call at a scope that is none, or lacks the ability As, which the firewall has elsewhere.
func refuse[As any](f *remoteFirewall, scope Scope) error {
	has := func(kind ScopeKind, ability string) bool { return !f.Can(ability) || f.CanAt(kind, ability) }
	return checkScope(scope, AbilityName[As](), has)
}

// Close implements Firewall; there is nothing to release.
func (f *remoteFirewall) Close() error { return nil }
