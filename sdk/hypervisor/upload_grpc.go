package hypervisor

import (
	"context"
	"errors"
	"io"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/plugin"
	"github.com/hostler/hostler/sdk/plugin/wire"
	hypervisorv1 "github.com/hostler/hostler/sdk/proto/hostler/hypervisor/v1"
	"google.golang.org/grpc"
)

// uploadChunk is what one message of an upload carries at most, in bytes.
const uploadChunk = 1 << 20

func (h *remoteHost) uploads() hypervisorv1.UploadServiceClient {
	return hypervisorv1.NewUploadServiceClient(h.client.conn)
}

type uploadServer struct {
	hypervisorv1.UnimplementedUploadServiceServer
	*server
}

func (h *remoteHost) CheckUpload(ctx context.Context, spec UploadSpec) (UploadCheck, error) {
	req := &hypervisorv1.CheckUploadRequest{Target: h.target, File: uploadSpecToProto(spec)}
	answer, err := wire.Call(ctx, h.uploads().CheckUpload, req)
	if err != nil {
		return UploadCheck{}, err
	}
	return uploadCheckFromProto(answer), nil
}

func (s *uploadServer) CheckUpload(ctx context.Context, req *hypervisorv1.CheckUploadRequest) (*hypervisorv1.CheckUploadResponse, error) {
	return serve(ctx, s.server, req, func(host Uploader) (*hypervisorv1.CheckUploadResponse, error) {
		check, err := host.CheckUpload(ctx, uploadSpecFromProto(req.GetFile()))
		return uploadCheckToProto(check), err
	})
}

func (h *remoteHost) Upload(ctx context.Context, spec UploadSpec, file io.Reader) (string, error) {
	// The derived context ends the plugin's half of the stream whichever way this returns, and with it the request to the hypervisor.
	streamCtx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := h.uploads().Upload(streamCtx)
	if err != nil {
		return "", plugin.CallError(ctx, err)
	}
	err = stream.Send(&hypervisorv1.UploadRequest{Target: h.target, File: uploadSpecToProto(spec)})
	for ended := false; err == nil && !ended; {
		// A message may not be changed once it is sent, so that each has bytes of its own.
		chunk := make([]byte, uploadChunk)
		n, readErr := io.ReadFull(file, chunk)
		ended = errors.Is(readErr, io.EOF) || errors.Is(readErr, io.ErrUnexpectedEOF)
		if readErr != nil && !ended {
			return "", readErr
		}
		if n > 0 {
			err = stream.Send(&hypervisorv1.UploadRequest{Data: chunk[:n]})
		}
	}
	if err != nil && !errors.Is(err, io.EOF) { // at io.EOF the plugin has answered already
		return "", plugin.CallError(ctx, err)
	}
	answer, err := stream.CloseAndRecv()
	if err != nil {
		return "", plugin.CallError(ctx, err)
	}
	return answer.GetTaskId(), nil
}

func (s *uploadServer) Upload(stream grpc.ClientStreamingServer[hypervisorv1.UploadRequest, hypervisorv1.UploadResponse]) error {
	first, err := stream.Recv()
	if err != nil {
		return err
	}
	ctx := stream.Context()
	return endpoint.With(ctx, s.opener(), first, func(host Uploader) error {
		task, err := host.Upload(ctx, uploadSpecFromProto(first.GetFile()), &uploadReader{stream: stream})
		if err != nil {
			return err
		}
		return stream.SendAndClose(&hypervisorv1.UploadResponse{TaskId: wire.Text(task)})
	})
}

// uploadReader is the file of a stream.
type uploadReader struct {
	stream grpc.ClientStreamingServer[hypervisorv1.UploadRequest, hypervisorv1.UploadResponse]
	left   []byte
}

func (r *uploadReader) Read(p []byte) (int, error) {
	for len(r.left) == 0 {
		next, err := r.stream.Recv()
		if err != nil {
			return 0, err // io.EOF at the file's end, another one when the sender broke off
		}
		r.left = next.GetData()
	}
	n := copy(p, r.left)
	r.left = r.left[n:]
	return n, nil
}

// WriteTo hands the chunks on as they come.
func (r *uploadReader) WriteTo(w io.Writer) (written int64, err error) {
	for {
		n, err := w.Write(r.left)
		written += int64(n)
		if err != nil {
			return written, err
		}
		next, err := r.stream.Recv()
		if errors.Is(err, io.EOF) {
			return written, nil
		}
		if err != nil {
			return written, err
		}
		r.left = next.GetData()
	}
}

func uploadSpecToProto(s UploadSpec) *hypervisorv1.UploadFile {
	return &hypervisorv1.UploadFile{
		Node: wire.Text(s.Node), Storage: wire.Text(s.Storage), Content: wire.Text(s.Content), Name: wire.Text(s.Name), Size: s.Size,
		Sha256: wire.Text(s.SHA256),
	}
}

func uploadSpecFromProto(f *hypervisorv1.UploadFile) UploadSpec {
	return UploadSpec{
		Node: f.GetNode(), Storage: f.GetStorage(), Content: f.GetContent(), Name: f.GetName(), Size: f.GetSize(), SHA256: f.GetSha256(),
	}
}

func uploadCheckToProto(c UploadCheck) *hypervisorv1.CheckUploadResponse {
	return &hypervisorv1.CheckUploadResponse{
		Content: wire.Text(c.Content), Name: wire.Text(c.Name), Volume: wire.Text(c.Volume), Present: c.Present,
		PresentSize: c.PresentSize, Free: c.Free,
	}
}

func uploadCheckFromProto(c *hypervisorv1.CheckUploadResponse) UploadCheck {
	return UploadCheck{
		Content: c.GetContent(), Name: c.GetName(), Volume: c.GetVolume(), Present: c.GetPresent(), PresentSize: c.PresentSize, Free: c.Free,
	}
}
