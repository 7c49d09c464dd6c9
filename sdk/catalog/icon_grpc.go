package catalog

import (
	"context"

	"github.com/hostler/hostler/sdk/plugin/wire"
	catalogv1 "github.com/hostler/hostler/sdk/proto/hostler/catalog/v1"
)

type iconServer struct {
	catalogv1.UnimplementedIconServiceServer
	*server
}

func (c *remoteCatalog) Icon(ctx context.Context, reference, etag string) (Icon, error) {
	req := &catalogv1.IconRequest{Config: c.config, Reference: wire.Text(reference), Etag: wire.Text(etag)}
	answer, err := wire.Call(ctx, catalogv1.NewIconServiceClient(c.client.conn).Icon, req)
	return iconFromProto(answer), err
}

func (s *iconServer) Icon(ctx context.Context, req *catalogv1.IconRequest) (*catalogv1.IconResponse, error) {
	return serve(ctx, s.server, req, func(c IconFetcher) (*catalogv1.IconResponse, error) {
		icon, err := c.Icon(ctx, req.GetReference(), req.GetEtag())
		return iconToProto(icon), err
	})
}

func iconToProto(i Icon) *catalogv1.IconResponse {
	return &catalogv1.IconResponse{Data: i.Data, Etag: wire.Text(i.ETag), Unchanged: i.Unchanged}
}

func iconFromProto(i *catalogv1.IconResponse) Icon {
	return Icon{Data: i.GetData(), ETag: i.GetEtag(), Unchanged: i.GetUnchanged()}
}
