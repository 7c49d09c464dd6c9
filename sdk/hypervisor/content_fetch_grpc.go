package hypervisor

import (
	"context"
	"slices"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/plugin"
	"github.com/hostler/hostler/sdk/plugin/wire"
	hypervisorv1 "github.com/hostler/hostler/sdk/proto/hostler/hypervisor/v1"
	"google.golang.org/grpc"
)

func (h *remoteHost) fetches() hypervisorv1.ContentFetchServiceClient {
	return hypervisorv1.NewContentFetchServiceClient(h.client.conn)
}

type contentFetchServer struct {
	hypervisorv1.UnimplementedContentFetchServiceServer
	*server
}

func (h *remoteHost) Download(ctx context.Context, spec DownloadSpec) (string, error) {
	req := downloadToProto(spec)
	req.Target = h.target
	answer, err := wire.Call(ctx, h.fetches().Download, req)
	return answer.GetTaskId(), err
}

func (s *contentFetchServer) Download(ctx context.Context, req *hypervisorv1.DownloadRequest) (*hypervisorv1.DownloadResponse, error) {
	return serve(ctx, s.server, req, func(host ContentFetcher) (*hypervisorv1.DownloadResponse, error) {
		task, err := host.Download(ctx, downloadFromProto(req))
		return &hypervisorv1.DownloadResponse{TaskId: wire.Text(task)}, err
	})
}

// templateRows is what one message of a list carries at most.
const templateRows = 256

func (h *remoteHost) Templates(ctx context.Context, node string) (all []Template, err error) {
	req := &hypervisorv1.TemplatesRequest{Target: h.target, Node: wire.Text(node)}
	err = wire.Gather(ctx, h.fetches().Templates, req, func(part *hypervisorv1.TemplatesResponse) error {
		all = append(all, wire.Each(part.GetTemplates(), templateFromProto)...)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

func (s *contentFetchServer) Templates(req *hypervisorv1.TemplatesRequest,
	stream grpc.ServerStreamingServer[hypervisorv1.TemplatesResponse]) error {
	ctx := stream.Context()
	return endpoint.With(ctx, s.opener(), req, func(host ContentFetcher) error {
		all, err := host.Templates(ctx, req.GetNode())
		if err != nil {
			return err
		}
		for part := range slices.Chunk(all, templateRows) {
			if err := stream.Send(&hypervisorv1.TemplatesResponse{Templates: wire.Each(part, templateToProto)}); err != nil {
				return err
			}
		}
		return nil
	})
}

func (h *remoteHost) FetchTemplate(ctx context.Context, spec TemplateSpec) (string, error) {
	req := templateSpecToProto(spec)
	req.Target = h.target
	answer, err := wire.Call(ctx, h.fetches().FetchTemplate, req)
	return answer.GetTaskId(), err
}

func (s *contentFetchServer) FetchTemplate(ctx context.Context, req *hypervisorv1.FetchTemplateRequest) (
	*hypervisorv1.FetchTemplateResponse, error) {
	return serve(ctx, s.server, req, func(host ContentFetcher) (*hypervisorv1.FetchTemplateResponse, error) {
		task, err := host.FetchTemplate(ctx, templateSpecFromProto(req))
		return &hypervisorv1.FetchTemplateResponse{TaskId: wire.Text(task)}, err
	})
}

// downloadToProto and templateSpecToProto leave the target out.
func downloadToProto(d DownloadSpec) *hypervisorv1.DownloadRequest {
	return &hypervisorv1.DownloadRequest{
		Storage: wire.Text(d.Storage), Node: wire.Text(d.Node), Content: wire.Text(d.Content), Filename: wire.Text(d.Filename),
		Url: wire.Text(string(d.URL)), Checksum: wire.Text(d.Checksum), ChecksumAlgorithm: wire.Text(d.ChecksumAlgorithm),
		AnyCertificate: d.AnyCertificate,
	}
}

func downloadFromProto(req *hypervisorv1.DownloadRequest) DownloadSpec {
	return DownloadSpec{
		Storage: req.GetStorage(), Node: req.GetNode(), Content: req.GetContent(), Filename: req.GetFilename(),
		URL: plugin.Secret(req.GetUrl()), Checksum: req.GetChecksum(), ChecksumAlgorithm: req.GetChecksumAlgorithm(),
		AnyCertificate: req.GetAnyCertificate(),
	}
}

func templateToProto(t Template) *hypervisorv1.Template {
	return &hypervisorv1.Template{
		Name: wire.Text(t.Name), Title: wire.Text(t.Title), Section: wire.Text(t.Section), Os: wire.Text(t.OS), Version: wire.Text(t.Version),
		Architecture: wire.Text(t.Architecture), Description: wire.Text(t.Description), Source: wire.Text(t.Source),
	}
}

func templateFromProto(t *hypervisorv1.Template) Template {
	return Template{
		Name: t.GetName(), Title: t.GetTitle(), Section: t.GetSection(), OS: t.GetOs(), Version: t.GetVersion(),
		Architecture: t.GetArchitecture(), Description: t.GetDescription(), Source: t.GetSource(),
	}
}

func templateSpecToProto(s TemplateSpec) *hypervisorv1.FetchTemplateRequest {
	return &hypervisorv1.FetchTemplateRequest{Storage: wire.Text(s.Storage), Node: wire.Text(s.Node), Name: wire.Text(s.Name)}
}

func templateSpecFromProto(req *hypervisorv1.FetchTemplateRequest) TemplateSpec {
	return TemplateSpec{Storage: req.GetStorage(), Node: req.GetNode(), Name: req.GetName()}
}
