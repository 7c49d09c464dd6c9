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

// Upload sends the file over a lane where the plugin joins it, else in the messages of the stream.
func (h *remoteHost) Upload(ctx context.Context, spec UploadSpec, file io.Reader) (string, error) {
	// The derived context ends the plugin's half of the stream whichever way
	// this returns, and with it the request to the hypervisor.
	streamCtx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := h.uploads().Upload(streamCtx)
	if err != nil {
		return "", plugin.CallError(ctx, err)
	}
	first := &hypervisorv1.UploadRequest{Target: h.target, File: uploadSpecToProto(spec)}
	lane := wire.OpenLane()
	if lane != nil {
		defer lane.Close()
		first.Lane, first.LaneKey = lane.Name, lane.Key
	}
	// A plugin may answer at any moment, and then wants nothing more.
	answer, answered := &hypervisorv1.UploadResponse{}, make(chan error, 1)
	asking, stop := context.WithCancel(streamCtx)
	defer stop()
	err = stream.Send(first)
	go func() {
		answered <- stream.RecvMsg(answer)
		stop()
	}()
	if err == nil {
		var readErr error
		if err, readErr = sendFile(asking, stream, lane, file); readErr != nil {
			return "", readErr
		}
	}
	if err == nil {
		err = stream.CloseSend()
	}
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, wire.ErrLane) { // else the plugin has answered, or is gone
		return "", plugin.CallError(ctx, err)
	}
	if err := <-answered; err != nil {
		return "", plugin.CallError(ctx, err)
	}
	return answer.GetTaskId(), nil
}

// sendFile sends a file to its end. What cannot be sent is told apart from what cannot be read.
func sendFile(ctx context.Context, stream grpc.ClientStreamingClient[hypervisorv1.UploadRequest, hypervisorv1.UploadResponse],
	lane *wire.Lane, file io.Reader) (sendErr, readErr error) {
	send := func(data []byte) error { return stream.Send(&hypervisorv1.UploadRequest{Data: data}) }
	// A message may not be changed once it is sent, so that each has bytes of its own.
	next := func() []byte { return make([]byte, uploadChunk) }
	if lane != nil {
		if conn := lane.Accept(ctx); conn != nil {
			defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
			defer func() { _ = conn.Close() }()
			buffer := next()
			next = func() []byte { return buffer }
			send = func(data []byte) error {
				if _, err := conn.Write(data); err != nil {
					return errors.Join(wire.ErrLane, err)
				}
				return nil
			}
		}
	}
	for ended := false; !ended; {
		chunk := next()
		n, err := io.ReadFull(file, chunk)
		ended = errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		if err != nil && !ended {
			return nil, err
		}
		if n > 0 {
			if err := send(chunk[:n]); err != nil {
				return err, nil
			}
		}
	}
	return nil, nil
}

func (s *uploadServer) Upload(stream grpc.ClientStreamingServer[hypervisorv1.UploadRequest, hypervisorv1.UploadResponse]) error {
	first, err := stream.Recv()
	if err != nil {
		return err
	}
	ctx := stream.Context()
	file := io.Reader(&uploadReader{stream: stream})
	if conn := wire.JoinLane(ctx, first.GetLane(), first.GetLaneKey()); conn != nil {
		defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
		defer func() { _ = conn.Close() }()
		file = &laneReader{conn: conn, stream: stream}
	}
	return endpoint.With(ctx, s.opener(), first, func(host Uploader) error {
		task, err := host.Upload(ctx, uploadSpecFromProto(first.GetFile()), file)
		if err != nil {
			return err
		}
		return stream.SendAndClose(&hypervisorv1.UploadResponse{TaskId: wire.Text(task)})
	})
}

// laneReader is the file that comes over a lane.
type laneReader struct {
	conn   io.Reader
	stream grpc.ClientStreamingServer[hypervisorv1.UploadRequest, hypervisorv1.UploadResponse]
	ended  error
}

func (r *laneReader) Read(p []byte) (int, error) {
	if r.ended != nil {
		return 0, r.ended
	}
	n, err := r.conn.Read(p)
	switch {
	case err == nil:
		return n, nil
	case !errors.Is(err, io.EOF):
		r.ended = errors.Join(r.stream.Context().Err(), wire.ErrLane, err)
		return n, r.ended
	}
	// A sender that dies ends the lane, too: only the end of the stream says
	// that this is the end of the file.
	if _, r.ended = r.stream.Recv(); r.ended == nil {
		r.ended = wire.ErrLane
	}
	return n, r.ended
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
