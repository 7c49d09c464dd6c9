package catalog

import (
	"context"

	"github.com/hostler/hostler/sdk/plugin/wire"
	catalogv1 "github.com/hostler/hostler/sdk/proto/hostler/catalog/v1"
	"google.golang.org/grpc"
)

type catalogServer struct {
	catalogv1.UnimplementedCatalogServiceServer
	*server
}

func (s *catalogServer) Info(context.Context, *catalogv1.InfoRequest) (*catalogv1.InfoResponse, error) {
	return infoToProto(s.info), nil
}

func (s *catalogServer) Open(ctx context.Context, req *catalogv1.OpenRequest) (*catalogv1.OpenResponse, error) {
	return serve(ctx, s.server, req, func(Catalog) (*catalogv1.OpenResponse, error) { return &catalogv1.OpenResponse{}, nil })
}

func (c *remoteCatalog) Health(ctx context.Context) error {
	_, err := wire.Call(ctx, c.client.rpc().Health, &catalogv1.HealthRequest{Config: c.config})
	return err
}

func (s *catalogServer) Health(ctx context.Context, req *catalogv1.HealthRequest) (*catalogv1.HealthResponse, error) {
	return serve(ctx, s.server, req, func(c Catalog) (*catalogv1.HealthResponse, error) {
		return &catalogv1.HealthResponse{}, c.Health(ctx)
	})
}

func (c *remoteCatalog) Sync(ctx context.Context, request SyncRequest, each func(SyncStep) error) error {
	req := &catalogv1.SyncRequest{Config: c.config, Cursor: wire.Text(request.Cursor), Wanted: pinToProto(request.Wanted)}
	return wire.Receive(ctx, c.client.rpc().Sync, req, func(m *catalogv1.SyncResponse) error { return each(syncStepFromProto(m)) })
}

func (s *catalogServer) Sync(req *catalogv1.SyncRequest, stream grpc.ServerStreamingServer[catalogv1.SyncResponse]) error {
	ctx := stream.Context()
	return with(ctx, s.server, req, func(c Catalog) error {
		request := SyncRequest{Cursor: req.GetCursor(), Wanted: pinFromProto(req.GetWanted())}
		return c.Sync(ctx, request, func(step SyncStep) error { return stream.Send(syncStepToProto(step)) })
	})
}

func (c *remoteCatalog) Entry(ctx context.Context, slug string, pin Pin) (Entry, error) {
	req := &catalogv1.EntryRequest{Config: c.config, Slug: wire.Text(slug), Pin: pinToProto(pin)}
	answer, err := wire.Call(ctx, c.client.rpc().Entry, req)
	if err != nil {
		return Entry{}, err
	}
	if answer.GetEntry() == nil {
		return Entry{}, wire.MissingPart("entry")
	}
	return entryFromProto(answer.GetEntry()), nil
}

func (s *catalogServer) Entry(ctx context.Context, req *catalogv1.EntryRequest) (*catalogv1.EntryResponse, error) {
	return serve(ctx, s.server, req, func(c Catalog) (*catalogv1.EntryResponse, error) {
		e, err := c.Entry(ctx, req.GetSlug(), pinFromProto(req.GetPin()))
		return &catalogv1.EntryResponse{Entry: entryToProto(e)}, err
	})
}

func (c *remoteCatalog) Bundle(ctx context.Context, request BundleRequest, each func(BundlePart) error) error {
	req := &catalogv1.BundleRequest{
		Config: c.config, Slug: wire.Text(request.Slug), Pin: pinToProto(request.Pin), Purpose: wire.Text(string(request.Purpose)),
	}
	return wire.Receive(ctx, c.client.rpc().Bundle, req, func(m *catalogv1.BundleResponse) error { return each(bundlePartFromProto(m)) })
}

func (s *catalogServer) Bundle(req *catalogv1.BundleRequest, stream grpc.ServerStreamingServer[catalogv1.BundleResponse]) error {
	ctx := stream.Context()
	return with(ctx, s.server, req, func(c Catalog) error {
		request := BundleRequest{Slug: req.GetSlug(), Pin: pinFromProto(req.GetPin()), Purpose: Purpose(req.GetPurpose())}
		return c.Bundle(ctx, request, func(part BundlePart) error { return stream.Send(bundlePartToProto(part)) })
	})
}

func (c *remoteCatalog) Launch(ctx context.Context, request LaunchRequest) (Launch, error) {
	req := launchRequestToProto(request)
	req.Config = c.config
	answer, err := wire.Call(ctx, c.client.rpc().Launch, req)
	if err != nil {
		return Launch{}, err
	}
	if answer.GetLaunch() == nil {
		return Launch{}, wire.MissingPart("launch")
	}
	return launchFromProto(answer.GetLaunch()), nil
}

func (s *catalogServer) Launch(ctx context.Context, req *catalogv1.LaunchRequest) (*catalogv1.LaunchResponse, error) {
	return serve(ctx, s.server, req, func(c Catalog) (*catalogv1.LaunchResponse, error) {
		launch, err := c.Launch(ctx, launchRequestFromProto(req))
		return &catalogv1.LaunchResponse{Launch: launchToProto(launch)}, err
	})
}
