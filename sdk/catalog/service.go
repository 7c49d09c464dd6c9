package catalog

import (
	"context"
	"reflect"

	"github.com/hostler/hostler/sdk/plugin"
	"github.com/hostler/hostler/sdk/plugin/wire"
	catalogv1 "github.com/hostler/hostler/sdk/proto/hostler/catalog/v1"
	"google.golang.org/grpc"
)

// Service is a source in the form that plugin.Serve takes. It registers the gRPC
// services of exactly those optional interfaces that the catalog's type implements.
type Service struct {
	Source Source
	// CatalogType is a typed nil of the type that Source.Open returns. Its method
	// set decides about the abilities; no method is called.
	CatalogType Catalog
}

var _ plugin.Service = Service{}

// Describe implements plugin.Service.
func (s Service) Describe(ctx context.Context) (plugin.Description, error) {
	info, err := Describe(ctx, s.Source, s.CatalogType)
	return info.description(), err
}

// Register implements plugin.Service.
func (s Service) Register(registrar grpc.ServiceRegistrar) error {
	info, err := Describe(context.Background(), s.Source, s.CatalogType)
	if err != nil {
		return err
	}
	srv := &server{service: s, info: info}
	catalogv1.RegisterCatalogServiceServer(registrar, &catalogServer{server: srv})
	abilities.Register(registrar, srv)
	return nil
}

// server is shared by the gRPC services.
type server struct {
	service Service
	info    Info
}

// configured is implemented by every request except that of Info.
type configured interface{ GetConfig() *catalogv1.Config }

// with opens the catalog for one call, passes it to call and closes it. As is
// Catalog or an optional interface.
func with[As any](ctx context.Context, s *server, req configured, call func(As) error) error {
	if req.GetConfig() == nil {
		return plugin.Errorf(plugin.Invalid, "the request has no configuration")
	}
	opened, err := s.service.Source.Open(ctx, configFromProto(req.GetConfig()))
	if err != nil {
		return err
	}
	defer func() { _ = opened.Close() }()
	if got, want := reflect.TypeOf(opened), reflect.TypeOf(s.service.CatalogType); got != want {
		return plugin.Errorf(plugin.Internal, "the plugin opened a %s, but announced a %s", got, want)
	}
	as, ok := any(opened).(As)
	if !ok {
		return plugin.Errorf(plugin.Unsupported, "the plugin does not support this")
	}
	return call(as)
}

// serve is with for a unary call.
func serve[As, Resp any](ctx context.Context, s *server, req configured, answer func(As) (*Resp, error)) (resp *Resp, err error) {
	err = with(ctx, s, req, func(as As) error {
		resp, err = answer(as)
		return err
	})
	if err != nil {
		return nil, err
	}
	return resp, nil
}

// Client is a source that runs in a plugin process. Its catalogs implement every
// optional interface, so use As, which knows the abilities that the plugin
// reported. A Client is safe for concurrent use.
type Client struct {
	plugin.ReportedAbilities
	conn grpc.ClientConnInterface
}

var _ Source = (*Client)(nil)

// NewClient returns a source that sends its calls over the connection.
func NewClient(conn grpc.ClientConnInterface) *Client { return &Client{conn: conn} }

// Info reads the description from the plugin, validates it and remembers the
// abilities.
func (c *Client) Info(ctx context.Context) (Info, error) {
	d, err := plugin.DescribeKind(ctx, c.conn, plugin.KindCatalog)
	if err != nil {
		return Info{}, err
	}
	c.SetDescription(d)
	answer, err := wire.Call(ctx, c.rpc().Info, &catalogv1.InfoRequest{})
	if err != nil {
		return Info{}, err
	}
	info := infoFromProto(answer)
	info.Name, info.Version, info.Abilities = d.Name, d.Version, d.Abilities
	if err := info.check(); err != nil {
		return Info{}, bad("the plugin's answer is invalid: %w", err)
	}
	return info, nil
}

// rpc returns the client of the gRPC service.
func (c *Client) rpc() catalogv1.CatalogServiceClient {
	return catalogv1.NewCatalogServiceClient(c.conn)
}

// Open returns the catalog for a configuration, after the plugin has validated the
// configuration.
func (c *Client) Open(ctx context.Context, config Config) (Catalog, error) {
	opened := &remoteCatalog{client: c, config: configToProto(config)}
	_, err := wire.Call(ctx, c.rpc().Open, &catalogv1.OpenRequest{Config: opened.config})
	if err != nil {
		return nil, err
	}
	return opened, nil
}

// remoteCatalog is a catalog behind a plugin. It has no state: each call carries
// the configuration.
type remoteCatalog struct {
	client *Client
	config *catalogv1.Config
}

var (
	_ Catalog     = (*remoteCatalog)(nil)
	_ IconFetcher = (*remoteCatalog)(nil)
	_ Ranker      = (*remoteCatalog)(nil)
)

// Can implements plugin.AbilityReporter.
func (c *remoteCatalog) Can(ability string) bool { return c.client.Can(ability) }

// Close implements Catalog. It does nothing.
func (c *remoteCatalog) Close() error { return nil }
