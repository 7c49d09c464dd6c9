package hypervisor

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/plugin"
	"github.com/hostler/hostler/sdk/plugin/wire"
	hypervisorv1 "github.com/hostler/hostler/sdk/proto/hostler/hypervisor/v1"
	"google.golang.org/grpc"
)

// nodeChunk is what one message carries at most, in bytes.
const nodeChunk = 64 << 10

func (h *remoteHost) nodeExecutes() hypervisorv1.NodeExecuteServiceClient {
	return hypervisorv1.NewNodeExecuteServiceClient(h.client.conn)
}

type nodeExecuteServer struct {
	hypervisorv1.UnimplementedNodeExecuteServiceServer
	*server
}

func (h *remoteHost) CheckLogin(ctx context.Context) (NodeLogin, error) {
	answer, err := wire.Call(ctx, h.nodeExecutes().CheckLogin, &hypervisorv1.CheckLoginRequest{Target: h.target})
	if err != nil {
		return NodeLogin{}, err
	}
	return nodeLoginFromProto(answer), nil
}

func (s *nodeExecuteServer) CheckLogin(ctx context.Context, req *hypervisorv1.CheckLoginRequest) (
	*hypervisorv1.CheckLoginResponse, error) {
	return serve(ctx, s.server, req, func(host NodeExecutor) (*hypervisorv1.CheckLoginResponse, error) {
		login, err := host.CheckLogin(ctx)
		return nodeLoginToProto(login), err
	})
}

func (h *remoteHost) RunOnNode(ctx context.Context, command NodeCommand, streams NodeStreams) (NodeResult, error) {
	if err := command.Check(); err != nil {
		return NodeResult{}, err
	}
	// The derived context ends the plugin's half whichever way this returns,
	// and with it the program.
	callCtx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	call, err := h.nodeExecutes().RunOnNode(callCtx)
	if err != nil {
		return NodeResult{}, plugin.CallError(ctx, err)
	}
	err = call.Send(&hypervisorv1.RunOnNodeRequest{Target: h.target, Command: nodeCommandToProto(command)})
	if err == nil {
		go func() { // it ends with the call, or with a Read that goes on after it
			err := sendNodeData(streams.Input, func(data []byte) error { return call.Send(&hypervisorv1.RunOnNodeRequest{Data: data}) })
			if read, ok := errors.AsType[inputError](err); ok {
				cancel(read.error)
				return
			}
			_ = call.CloseSend() // what failed to be sent has its reason in what is received
		}()
	}
	return receiveRun(ctx, callCtx, streams, func() (runAnswer, error) { return call.Recv() })
}

// runAnswer is a message of a program's: one of three.
type runAnswer interface {
	GetOutput() []byte
	GetErrors() []byte
	GetResult() *hypervisorv1.NodeResult
}

// receiveRun takes in what a program says, to its result.
func receiveRun(ctx, callCtx context.Context, streams NodeStreams, receive func() (runAnswer, error)) (NodeResult, error) {
	var result *NodeResult
	for {
		got, err := receive()
		switch {
		case errors.Is(err, io.EOF) && result != nil:
			return *result, nil
		case errors.Is(err, io.EOF):
			return NodeResult{}, wire.MissingPart("result")
		case err != nil && ctx.Err() == nil && callCtx.Err() != nil:
			return NodeResult{}, context.Cause(callCtx) // the input's reader
		case err != nil:
			return NodeResult{}, plugin.CallError(ctx, err)
		}
		if err := errors.Join(writeNodeData(streams.Output, got.GetOutput()), writeNodeData(streams.Errors, got.GetErrors())); err != nil {
			return NodeResult{}, err
		}
		if r := got.GetResult(); r != nil {
			result = new(nodeResultFromProto(r))
		}
	}
}

func writeNodeData(to io.Writer, data []byte) error {
	if to == nil || len(data) == 0 {
		return nil
	}
	_, err := to.Write(data)
	return err
}

// inputError is a failure of what is read, and not of the call.
type inputError struct{ error }

func (e inputError) Unwrap() error { return e.error }

// sendNodeData sends all of a reader, which may be nil, in messages. Each has
// bytes of its own: they may not be changed once they are sent.
func sendNodeData(from io.Reader, send func([]byte) error) error {
	if from == nil {
		return nil
	}
	buffer := make([]byte, nodeChunk)
	for {
		n, err := from.Read(buffer)
		if n > 0 {
			if err := send(bytes.Clone(buffer[:n])); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return inputError{err}
		}
	}
}

func (s *nodeExecuteServer) RunOnNode(
	stream grpc.BidiStreamingServer[hypervisorv1.RunOnNodeRequest, hypervisorv1.RunOnNodeResponse]) error {
	first, err := stream.Recv()
	if err != nil {
		return err
	}
	ctx := stream.Context()
	return endpoint.With(ctx, s.opener(), first, func(host NodeExecutor) error {
		command := nodeCommandFromProto(first.GetCommand())
		if err := command.Check(); err != nil {
			return err
		}
		var sending sync.Mutex // a stream takes one message at a time
		say := func(message *hypervisorv1.RunOnNodeResponse) error {
			sending.Lock()
			defer sending.Unlock()
			return stream.Send(message)
		}
		result, err := host.RunOnNode(ctx, command, NodeStreams{
			Input:  &nodeReader{next: func() ([]byte, error) { return received(stream.Recv()) }},
			Output: nodeWriter(func(data []byte) error { return say(&hypervisorv1.RunOnNodeResponse{Output: data}) }),
			Errors: nodeWriter(func(data []byte) error { return say(&hypervisorv1.RunOnNodeResponse{Errors: data}) }),
		})
		if err != nil {
			return err
		}
		return say(&hypervisorv1.RunOnNodeResponse{Result: nodeResultToProto(result)})
	})
}

// received is the data of a message.
func received[M interface{ GetData() []byte }](message M, err error) ([]byte, error) {
	if err != nil {
		return nil, err // io.EOF where the client has ended its half, another one where it broke off
	}
	return message.GetData(), nil
}

// nodeReader reads the data of messages.
type nodeReader struct {
	next func() ([]byte, error)
	left []byte
}

func (r *nodeReader) Read(p []byte) (int, error) {
	for len(r.left) == 0 {
		data, err := r.next()
		if err != nil {
			return 0, err
		}
		r.left = data
	}
	n := copy(p, r.left)
	r.left = r.left[n:]
	return n, nil
}

// nodeWriter sends what is written in messages.
type nodeWriter func(data []byte) error

func (w nodeWriter) Write(p []byte) (sent int, err error) {
	for sent < len(p) {
		part := p[sent:min(len(p), sent+nodeChunk)]
		if err := w(bytes.Clone(part)); err != nil {
			return sent, err
		}
		sent += len(part)
	}
	return sent, nil
}

func (h *remoteHost) CopyToNode(ctx context.Context, file NodeFile, content io.Reader) (string, error) {
	if err := file.Check(); err != nil {
		return "", err
	}
	callCtx, cancel := context.WithCancel(ctx)
	defer cancel()
	call, err := h.nodeExecutes().CopyToNode(callCtx)
	if err != nil {
		return "", plugin.CallError(ctx, err)
	}
	answer := &hypervisorv1.CopyToNodeResponse{}
	err = sendNodeFile(ctx, call, answer, &hypervisorv1.CopyToNodeRequest{Target: h.target, File: nodeFileToProto(file)}, content,
		func(data []byte) error { return call.Send(&hypervisorv1.CopyToNodeRequest{Data: data}) })
	return answer.GetSha256(), err
}

// sendNodeFile sends a file after the first message, and takes in the answer.
func sendNodeFile(ctx context.Context, call grpc.ClientStream, answer, first any, content io.Reader, send func([]byte) error) error {
	answered := make(chan error, 1)
	err := call.SendMsg(first)
	go func() { answered <- call.RecvMsg(answer) }()
	if err == nil {
		err = sendNodeData(content, send)
	}
	if read, ok := errors.AsType[inputError](err); ok {
		return read.error // what was sent is no whole file, and the end of the call says so
	}
	if err == nil {
		err = call.CloseSend()
	}
	if err != nil && !errors.Is(err, io.EOF) { // else the plugin has answered, or is gone
		return plugin.CallError(ctx, err)
	}
	if err := <-answered; err != nil {
		return plugin.CallError(ctx, err)
	}
	return nil
}

func (s *nodeExecuteServer) CopyToNode(
	stream grpc.ClientStreamingServer[hypervisorv1.CopyToNodeRequest, hypervisorv1.CopyToNodeResponse]) error {
	first, err := stream.Recv()
	if err != nil {
		return err
	}
	ctx := stream.Context()
	return endpoint.With(ctx, s.opener(), first, func(host NodeExecutor) error {
		file := nodeFileFromProto(first.GetFile())
		if err := file.Check(); err != nil {
			return err
		}
		sum, err := host.CopyToNode(ctx, file, &nodeReader{next: func() ([]byte, error) { return received(stream.Recv()) }})
		if err != nil {
			return err
		}
		return stream.SendAndClose(&hypervisorv1.CopyToNodeResponse{Sha256: wire.Text(sum)})
	})
}

func (h *remoteHost) CopyFromNode(ctx context.Context, name string, limit int64, content io.Writer) (NodeFile, error) {
	if err := CheckNodePath(name); err != nil {
		return NodeFile{}, err
	}
	var file *NodeFile
	req := &hypervisorv1.CopyFromNodeRequest{Target: h.target, Path: []byte(name), Limit: limit}
	err := wire.Receive(ctx, h.nodeExecutes().CopyFromNode, req, func(part *hypervisorv1.CopyFromNodeResponse) error {
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

func (s *nodeExecuteServer) CopyFromNode(req *hypervisorv1.CopyFromNodeRequest,
	stream grpc.ServerStreamingServer[hypervisorv1.CopyFromNodeResponse]) error {
	ctx := stream.Context()
	return endpoint.With(ctx, s.opener(), req, func(host NodeExecutor) error {
		if err := CheckNodePath(string(req.GetPath())); err != nil {
			return err
		}
		file, err := host.CopyFromNode(ctx, string(req.GetPath()), req.GetLimit(),
			nodeWriter(func(data []byte) error { return stream.Send(&hypervisorv1.CopyFromNodeResponse{Data: data}) }))
		if err != nil {
			return err
		}
		return stream.Send(&hypervisorv1.CopyFromNodeResponse{File: nodeFileToProto(file)})
	})
}

func nodeLoginToProto(l NodeLogin) *hypervisorv1.CheckLoginResponse {
	return &hypervisorv1.CheckLoginResponse{
		HostKey: wire.Text(l.HostKey), HostKeyType: wire.Text(l.HostKeyType), User: wire.Text(l.User), UserId: int32(l.UserID),
		Server: wire.Text(l.Server),
	}
}

func nodeLoginFromProto(l *hypervisorv1.CheckLoginResponse) NodeLogin {
	return NodeLogin{HostKey: l.GetHostKey(), HostKeyType: l.GetHostKeyType(), User: l.GetUser(), UserID: int(l.GetUserId()),
		Server: l.GetServer()}
}

func nodeCommandToProto(c NodeCommand) *hypervisorv1.NodeCommand {
	return &hypervisorv1.NodeCommand{
		Program: []byte(c.Program), Directory: []byte(c.Directory), LimitNs: int64(c.Limit),
		Arguments: wire.Each(c.Arguments, func(a string) []byte { return []byte(a) }),
		Environment: wire.Each(c.Environment, func(v NodeVariable) *hypervisorv1.NodeVariable {
			return &hypervisorv1.NodeVariable{Name: []byte(v.Name), Value: []byte(v.Value)}
		}),
	}
}

func nodeCommandFromProto(c *hypervisorv1.NodeCommand) NodeCommand {
	return NodeCommand{
		Program: string(c.GetProgram()), Directory: string(c.GetDirectory()), Limit: time.Duration(c.GetLimitNs()),
		Arguments: wire.Each(c.GetArguments(), func(a []byte) string { return string(a) }),
		Environment: wire.Each(c.GetEnvironment(), func(v *hypervisorv1.NodeVariable) NodeVariable {
			return NodeVariable{Name: string(v.GetName()), Value: plugin.Secret(v.GetValue())}
		}),
	}
}

func nodeResultToProto(r NodeResult) *hypervisorv1.NodeResult {
	return &hypervisorv1.NodeResult{ExitCode: int32(r.ExitCode), Signal: wire.Text(r.Signal)}
}

func nodeResultFromProto(r *hypervisorv1.NodeResult) NodeResult {
	return NodeResult{ExitCode: int(r.GetExitCode()), Signal: r.GetSignal()}
}

func nodeFileToProto(f NodeFile) *hypervisorv1.NodeFile {
	return &hypervisorv1.NodeFile{Path: []byte(f.Path), Mode: f.Mode, Size: f.Size, Sha256: wire.Text(f.SHA256)}
}

func nodeFileFromProto(f *hypervisorv1.NodeFile) NodeFile {
	return NodeFile{Path: string(f.GetPath()), Mode: f.GetMode(), Size: f.GetSize(), SHA256: f.GetSha256()}
}
