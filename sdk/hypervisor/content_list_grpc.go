package hypervisor

import (
	"context"
	"slices"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/plugin/wire"
	hypervisorv1 "github.com/hostler/hostler/sdk/proto/hostler/hypervisor/v1"
	"google.golang.org/grpc"
)

type contentListServer struct {
	hypervisorv1.UnimplementedContentListServiceServer
	*server
}

// volumeRows is what one message of a list carries at most.
const volumeRows = 512

func (h *remoteHost) Content(ctx context.Context, query ContentQuery) (list ContentList, err error) {
	req := &hypervisorv1.ContentRequest{
		Target: h.target, Storage: wire.Text(query.Storage), Node: wire.Text(query.Node), Content: wire.Text(query.Content),
		Kind: wire.Text(string(query.Kind)),
	}
	call := hypervisorv1.NewContentListServiceClient(h.client.conn).Content
	err = wire.Gather(ctx, call, req, func(part *hypervisorv1.ContentResponse) error {
		list.Volumes = append(list.Volumes, wire.Each(part.GetVolumes(), volumeFromProto)...)
		list.Hidden = append(list.Hidden, part.GetHidden()...)
		return nil
	})
	if err != nil {
		return ContentList{}, err
	}
	return list, nil
}

func (s *contentListServer) Content(req *hypervisorv1.ContentRequest,
	stream grpc.ServerStreamingServer[hypervisorv1.ContentResponse]) error {
	ctx := stream.Context()
	return endpoint.With(ctx, s.opener(), req, func(host ContentLister) error {
		list, err := host.Content(ctx, ContentQuery{
			Storage: req.GetStorage(), Node: req.GetNode(), Content: req.GetContent(), Kind: VolumeKind(req.GetKind()),
		})
		if err != nil {
			return err
		}
		for part := range slices.Chunk(list.Volumes, volumeRows) {
			if err := stream.Send(&hypervisorv1.ContentResponse{Volumes: wire.Each(part, volumeToProto)}); err != nil {
				return err
			}
		}
		return stream.Send(&hypervisorv1.ContentResponse{Hidden: wire.Texts(list.Hidden)})
	})
}

func volumeToProto(v Volume) *hypervisorv1.Volume {
	return &hypervisorv1.Volume{
		Id: wire.Text(v.ID), Name: wire.Text(v.Name), Storage: wire.Text(v.Storage), Node: wire.Text(v.Node), Kind: wire.Text(string(v.Kind)),
		Content: wire.Text(v.Content), Format: wire.Text(v.Format), SizeBytes: v.SizeBytes, UsedBytes: v.UsedBytes,
		CreatedAt: wire.Timestamp(v.CreatedAt), Guest: wire.Text(string(v.Guest)), Parent: wire.Text(v.Parent), Notes: wire.Text(v.Notes),
		Protected: v.Protected, Encrypted: v.Encrypted, Verified: wire.Text(v.Verified),
	}
}

func volumeFromProto(v *hypervisorv1.Volume) Volume {
	if v == nil {
		return Volume{}
	}
	return Volume{
		ID: v.GetId(), Name: v.GetName(), Storage: v.GetStorage(), Node: v.GetNode(), Kind: VolumeKind(v.GetKind()), Content: v.GetContent(),
		Format: v.GetFormat(), SizeBytes: v.SizeBytes, UsedBytes: v.UsedBytes, CreatedAt: wire.Time(v.GetCreatedAt()),
		Guest: GuestID(v.GetGuest()), Parent: v.GetParent(), Notes: v.GetNotes(), Protected: v.GetProtected(), Encrypted: v.GetEncrypted(),
		Verified: v.GetVerified(),
	}
}
