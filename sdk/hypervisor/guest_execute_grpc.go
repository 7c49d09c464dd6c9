package hypervisor

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/plugin"
	"github.com/hostler/hostler/sdk/plugin/wire"
	hypervisorv1 "github.com/hostler/hostler/sdk/proto/hostler/hypervisor/v1"
	"google.golang.org/grpc"
)

func (h *remoteHost) guestExecutes() hypervisorv1.GuestExecuteServiceClient {
	return hypervisorv1.NewGuestExecuteServiceClient(h.client.conn)
}

type guestExecuteServer struct {
	hypervisorv1.UnimplementedGuestExecuteServiceServer
	*server
}

func (h *remoteHost) RunInGuest(ctx context.Context, guest GuestRef, command NodeCommand, streams NodeStreams) (NodeResult, error) {
	if err := errors.Join(CheckContainer(guest), command.Check()); err != nil {
		return NodeResult{}, firstOf(err)
	}
	// The derived context ends the plugin's half whichever way this returns,
	// and with it the program.
	callCtx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	call, err := h.guestExecutes().RunInGuest(callCtx)
	if err != nil {
		return NodeResult{}, plugin.CallError(ctx, err)
	}
	err = call.Send(&hypervisorv1.RunInGuestRequest{Target: h.target, Guest: refToProto(guest), Command: nodeCommandToProto(command)})
	if err == nil {
		go func() { // it ends with the call, or with a Read that goes on after it
			err := sendNodeData(streams.Input, func(data []byte) error { return call.Send(&hypervisorv1.RunInGuestRequest{Data: data}) })
			if read, ok := errors.AsType[inputError](err); ok {
				cancel(read.error)
				return
			}
			_ = call.CloseSend() // what failed to be sent has its reason in what is received
		}()
	}
	return receiveRun(ctx, callCtx, streams, func() (runAnswer, error) { return call.Recv() })
}

// firstOf is the first of joined errors: a refusal is told as it is.
func firstOf(err error) error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return joined.Unwrap()[0]
	}
	return err
}

func (s *guestExecuteServer) RunInGuest(
	stream grpc.BidiStreamingServer[hypervisorv1.RunInGuestRequest, hypervisorv1.RunInGuestResponse]) error {
	first, err := stream.Recv()
	if err != nil {
		return err
	}
	ctx := stream.Context()
	return endpoint.With(ctx, s.opener(), first, func(host GuestExecutor) error {
		guest, command := refFromProto(first.GetGuest()), nodeCommandFromProto(first.GetCommand())
		if err := errors.Join(CheckContainer(guest), command.Check()); err != nil {
			return firstOf(err)
		}
		var sending sync.Mutex // a stream takes one message at a time
		say := func(message *hypervisorv1.RunInGuestResponse) error {
			sending.Lock()
			defer sending.Unlock()
			return stream.Send(message)
		}
		result, err := host.RunInGuest(ctx, guest, command, NodeStreams{
			Input:  &nodeReader{next: func() ([]byte, error) { return received(stream.Recv()) }},
			Output: nodeWriter(func(data []byte) error { return say(&hypervisorv1.RunInGuestResponse{Output: data}) }),
			Errors: nodeWriter(func(data []byte) error { return say(&hypervisorv1.RunInGuestResponse{Errors: data}) }),
		})
		if err != nil {
			return err
		}
		return say(&hypervisorv1.RunInGuestResponse{Result: nodeResultToProto(result)})
	})
}

func (h *remoteHost) CopyToGuest(ctx context.Context, guest GuestRef, file NodeFile, content io.Reader) (string, error) {
	if err := errors.Join(CheckContainer(guest), file.Check()); err != nil {
		return "", firstOf(err)
	}
	callCtx, cancel := context.WithCancel(ctx)
	defer cancel()
	call, err := h.guestExecutes().CopyToGuest(callCtx)
	if err != nil {
		return "", plugin.CallError(ctx, err)
	}
	answer := &hypervisorv1.CopyToGuestResponse{}
	err = sendNodeFile(ctx, call, answer,
		&hypervisorv1.CopyToGuestRequest{Target: h.target, Guest: refToProto(guest), File: nodeFileToProto(file)}, content,
		func(data []byte) error { return call.Send(&hypervisorv1.CopyToGuestRequest{Data: data}) })
	return answer.GetSha256(), err
}

func (s *guestExecuteServer) CopyToGuest(
	stream grpc.ClientStreamingServer[hypervisorv1.CopyToGuestRequest, hypervisorv1.CopyToGuestResponse]) error {
	first, err := stream.Recv()
	if err != nil {
		return err
	}
	ctx := stream.Context()
	return endpoint.With(ctx, s.opener(), first, func(host GuestExecutor) error {
		guest, file := refFromProto(first.GetGuest()), nodeFileFromProto(first.GetFile())
		if err := errors.Join(CheckContainer(guest), file.Check()); err != nil {
			return firstOf(err)
		}
		sum, err := host.CopyToGuest(ctx, guest, file, &nodeReader{next: func() ([]byte, error) { return received(stream.Recv()) }})
		if err != nil {
			return err
		}
		return stream.SendAndClose(&hypervisorv1.CopyToGuestResponse{Sha256: wire.Text(sum)})
	})
}

func (h *remoteHost) CopyFromGuest(ctx context.Context, guest GuestRef, name string, limit int64, content io.Writer) (NodeFile, error) {
	if err := errors.Join(CheckContainer(guest), CheckNodePath(name)); err != nil {
		return NodeFile{}, firstOf(err)
	}
	var file *NodeFile
	req := &hypervisorv1.CopyFromGuestRequest{Target: h.target, Guest: refToProto(guest), Path: []byte(name), Limit: limit}
	err := wire.Receive(ctx, h.guestExecutes().CopyFromGuest, req, func(part *hypervisorv1.CopyFromGuestResponse) error {
		if part.GetFile() != nil {
			file = new(nodeFileFromProto(part.GetFile()))
		}
		return writeNodeData(content, part.GetData())
	})
	if err == nil && file == nil {
		err = wire.MissingPart("file")
	}
	if err != nil {
		return NodeFile{}, err
	}
	return *file, nil
}

func (s *guestExecuteServer) CopyFromGuest(req *hypervisorv1.CopyFromGuestRequest,
	stream grpc.ServerStreamingServer[hypervisorv1.CopyFromGuestResponse]) error {
	ctx := stream.Context()
	return endpoint.With(ctx, s.opener(), req, func(host GuestExecutor) error {
		guest := refFromProto(req.GetGuest())
		if err := errors.Join(CheckContainer(guest), CheckNodePath(string(req.GetPath()))); err != nil {
			return firstOf(err)
		}
		file, err := host.CopyFromGuest(ctx, guest, string(req.GetPath()), req.GetLimit(),
			nodeWriter(func(data []byte) error { return stream.Send(&hypervisorv1.CopyFromGuestResponse{Data: data}) }))
		if err != nil {
			return err
		}
		return stream.Send(&hypervisorv1.CopyFromGuestResponse{File: nodeFileToProto(file)})
	})
}
