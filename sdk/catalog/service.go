package catalog

import (
	"context"

	"github.com/hostler/hostler/sdk/plugin"
	"github.com/hostler/hostler/sdk/plugin/wire"
	catalogv1 "github.com/hostler/hostler/sdk/proto/hostler/catalog/v1"
	"google.golang.org/grpc"
)

// Service is a source as plugin.Serve takes it.
type Service struct{ Source Source }

var _ plugin.Service = Service{}

// Describe implements plugin.Service.
func (s Service) Describe(ctx context.Context) (plugin.Description, error) {
	info, err := s.Source.Info(ctx)
	return plugin.Description{Kind: plugin.KindCatalog, Name: info.Name, Version: info.Version}, err
}

// Register implements plugin.Service.
func (s Service) Register(registrar grpc.ServiceRegistrar) error {
	catalogv1.RegisterCatalogServiceServer(registrar, &server{source: s.Source})
	return nil
}

type server struct {
	catalogv1.UnimplementedCatalogServiceServer
	source Source
}

func (s *server) Entries(_ *catalogv1.EntriesRequest, stream grpc.ServerStreamingServer[catalogv1.EntriesResponse]) error {
	return s.source.Entries(stream.Context(), func(e Entry) error {
		return stream.Send(&catalogv1.EntriesResponse{Entry: entryToProto(e)})
	})
}

// Client is a source that runs in a plugin process.
type Client struct {
	plugin.Claims
	conn grpc.ClientConnInterface
}

var _ Source = (*Client)(nil)

// NewClient makes a source of a connection.
func NewClient(conn grpc.ClientConnInterface) *Client { return &Client{conn: conn} }

// Info implements Source.
func (c *Client) Info(ctx context.Context) (Info, error) {
	d, err := plugin.DescribeKind(ctx, c.conn, plugin.KindCatalog)
	return Info{Name: d.Name, Version: d.Version}, err
}

// Entries implements Source.
func (c *Client) Entries(ctx context.Context, each func(Entry) error) error {
	rpc := catalogv1.NewCatalogServiceClient(c.conn).Entries
	return wire.Receive(ctx, rpc, &catalogv1.EntriesRequest{}, func(in *catalogv1.EntriesResponse) error {
		return each(entryFromProto(in.GetEntry()))
	})
}

func entryToProto(e Entry) *catalogv1.Entry {
	return &catalogv1.Entry{Id: wire.Text(e.ID), Name: wire.Text(e.Name), Description: wire.Text(e.Description)}
}

func entryFromProto(e *catalogv1.Entry) Entry {
	return Entry{ID: e.GetId(), Name: e.GetName(), Description: e.GetDescription()}
}
