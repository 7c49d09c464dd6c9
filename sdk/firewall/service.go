package firewall

import (
	"context"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/plugin"
	firewallv1 "github.com/hostler/hostler/sdk/proto/hostler/firewall/v1"
	pluginv1 "github.com/hostler/hostler/sdk/proto/hostler/plugin/v1"
	"google.golang.org/grpc"
)

// Service is a backend in the form that plugin.Serve takes. It registers the gRPC
// services of exactly those optional interfaces that the firewall's type
// implements.
type Service struct {
	Backend Backend
	// FirewallType is a typed nil of the type that Backend.Open returns. Its method
	// set decides about the abilities; no method is called.
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

// server is shared by the servers of the abilities.
type server struct {
	service Service
	info    Info
}

// serve answers a call with a scope: it validates the scope, opens the firewall,
// calls answer and closes the firewall. As is an optional interface of the
// firewall.
func serve[As, Resp any](ctx context.Context, s *server, req scoped, answer func(fw As, scope Scope) (*Resp, error)) (*Resp, error) {
	scope := scopeFromProto(req.GetScope())
	if err := checkScope(scope, AbilityName[As](), s.info.Has); err != nil {
		return nil, err
	}
	return open(ctx, s, req, func(fw As) (*Resp, error) { return answer(fw, scope) })
}

// serveCluster answers a call that concerns the cluster and has no scope.
func serveCluster[As, Resp any](ctx context.Context, s *server, req endpoint.Request, answer func(As) (*Resp, error)) (*Resp, error) {
	if err := checkScope(Scope{Kind: ClusterScope}, AbilityName[As](), s.info.Has); err != nil {
		return nil, err
	}
	return open(ctx, s, req, answer)
}

// open opens the firewall at the request's target for one call.
func open[As, Resp any](ctx context.Context, s *server, req endpoint.Request, answer func(As) (*Resp, error)) (*Resp, error) {
	opener := endpoint.Opener[Firewall]{Open: s.service.Backend.Open, Type: s.service.FirewallType}
	return endpoint.Serve(ctx, opener, req, answer)
}

// scoped is implemented by requests with a scope.
type scoped interface {
	endpoint.Request
	GetScope() *firewallv1.Scope
}

// checkScope returns Invalid for a malformed scope, and Unsupported for one without
// the ability.
func checkScope(scope Scope, ability string, has func(ScopeKind, string) bool) error {
	if !ValidScope(scope) {
		return Invalid(FieldScope, "the fields of the scope %.40q are incomplete or do not belong to it", string(scope.Kind))
	}
	if !has(scope.Kind, ability) {
		return withField(plugin.Unsupported, FieldScope, "the firewall does not support %s at the scope %s", ability, scope.Kind)
	}
	return nil
}

// Client is a backend that runs in a plugin process. Its firewalls implement every
// optional interface, so use As, which knows the abilities that the plugin
// reported. A Client is safe for concurrent use.
type Client struct {
	plugin.ReportedAbilities
	conn grpc.ClientConnInterface
}

var _ Backend = (*Client)(nil)

// NewClient returns a backend that sends its calls over the connection.
func NewClient(conn grpc.ClientConnInterface) *Client { return &Client{conn: conn} }

// Info reads the description from the plugin and remembers its abilities.
func (c *Client) Info(ctx context.Context) (Info, error) {
	d, err := plugin.DescribeKind(ctx, c.conn, plugin.KindFirewall)
	if err != nil {
		return Info{}, err
	}
	c.SetDescription(d)
	return infoOf(d), nil
}

// SetDescription stores the description of the plugin, completed with default
// scopes.
func (c *Client) SetDescription(d plugin.Description) {
	c.ReportedAbilities.SetDescription(infoOf(d).description())
}

// Open returns the firewall at the target. It calls Info if the plugin has not been
// described yet, and otherwise sends nothing.
func (c *Client) Open(ctx context.Context, target endpoint.Target) (Firewall, error) {
	if !c.Described() {
		if _, err := c.Info(ctx); err != nil {
			return nil, err
		}
	}
	return &remoteFirewall{client: c, target: endpoint.TargetToProto(target)}, nil
}

// remoteFirewall is a firewall behind a plugin. It has no state: each call carries
// the target.
type remoteFirewall struct {
	client *Client
	target *pluginv1.Target
}

// Can implements plugin.AbilityReporter.
func (f *remoteFirewall) Can(ability string) bool { return f.client.Can(ability) }

// CanAt implements ScopeAbilityReporter.
func (f *remoteFirewall) CanAt(kind ScopeKind, ability string) bool {
	return f.client.CanAt(string(kind), ability)
}

// refuse returns an error for a malformed scope, or for one without the ability As
// if the firewall has it elsewhere. An ability that the firewall does not have at
// all is left to the plugin.
func refuse[As any](f *remoteFirewall, scope Scope) error {
	has := func(kind ScopeKind, ability string) bool { return !f.Can(ability) || f.CanAt(kind, ability) }
	return checkScope(scope, AbilityName[As](), has)
}

// Close implements Firewall. It does nothing.
func (f *remoteFirewall) Close() error { return nil }
