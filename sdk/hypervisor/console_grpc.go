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

type (
	consoleCall   = grpc.BidiStreamingClient[hypervisorv1.OpenConsoleRequest, hypervisorv1.OpenConsoleResponse]
	consoleStream = grpc.BidiStreamingServer[hypervisorv1.OpenConsoleRequest, hypervisorv1.OpenConsoleResponse]
)

func (h *remoteHost) consoles() hypervisorv1.ConsoleServiceClient {
	return hypervisorv1.NewConsoleServiceClient(h.client.conn)
}

type consoleServer struct {
	hypervisorv1.UnimplementedConsoleServiceServer
	*server
}

func (h *remoteHost) ConsoleLimits(ctx context.Context) ([]ConsoleLimit, error) {
	answer, err := wire.Call(ctx, h.consoles().ConsoleLimits, &hypervisorv1.ConsoleLimitsRequest{Target: h.target})
	return wire.Each(answer.GetLimits(), consoleLimitFromProto), err
}

func (s *consoleServer) ConsoleLimits(ctx context.Context, req *hypervisorv1.ConsoleLimitsRequest) (
	*hypervisorv1.ConsoleLimitsResponse, error) {
	return serve(ctx, s.server, req, func(host ConsoleOpener) (*hypervisorv1.ConsoleLimitsResponse, error) {
		limits, err := host.ConsoleLimits(ctx)
		return &hypervisorv1.ConsoleLimitsResponse{Limits: wire.Each(limits, consoleLimitToProto)}, err
	})
}

// remoteConsole is a console behind a plugin.
type remoteConsole struct {
	*consoleFlow
	kind     ConsoleKind
	password string
	cancel   context.CancelFunc
}

func (h *remoteHost) OpenConsole(ctx context.Context, spec ConsoleSpec) (Console, error) {
	if err := spec.Check(); err != nil {
		return nil, err
	}
	// The call outlives ctx, which bounds the opening only.
	callCtx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	opening := context.AfterFunc(ctx, cancel)
	call, err := h.consoles().OpenConsole(callCtx)
	if err == nil {
		err = call.Send(&hypervisorv1.OpenConsoleRequest{Target: h.target, Console: consoleSpecToProto(spec)})
	}
	var first *hypervisorv1.OpenConsoleResponse
	if err == nil || errors.Is(err, io.EOF) { // else the plugin has answered
		first, err = call.Recv()
	}
	if !opening() && err == nil {
		err = ctx.Err()
	}
	if err == nil && first.GetOpened() == nil || errors.Is(err, io.EOF) {
		err = wire.MissingPart("console")
	} else if err != nil {
		err = plugin.CallError(ctx, err)
	}
	if err != nil {
		cancel()
		return nil, err
	}
	kind, password := consoleOpenedFromProto(first.GetOpened())
	c := &remoteConsole{kind: kind, password: password, cancel: cancel, consoleFlow: newConsoleFlow(func(m consoleMessage) error {
		return call.Send(&hypervisorv1.OpenConsoleRequest{
			Data: m.data, Taken: int32(m.taken), Columns: int32(m.columns), Rows: int32(m.rows),
		})
	})}
	go c.receive(callCtx, call)
	return c, nil
}

// receive takes in what comes until the call has ended.
func (c *remoteConsole) receive(ctx context.Context, call consoleCall) {
	defer c.cancel()
	for {
		got, err := call.Recv()
		if err == nil {
			err = c.accept(consoleMessage{data: got.GetData(), taken: int(got.GetTaken())})
		}
		switch {
		case errors.Is(err, io.EOF):
			c.end(io.EOF)
			return
		case err != nil:
			c.end(plugin.CallError(ctx, err))
			return
		}
	}
}

// failed is why nothing can be sent: the call's end, which comes to the one that receives.
func (c *remoteConsole) failed(err error) error {
	if err == nil || c.reason() != nil {
		return c.reason()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.ended == nil {
		c.changed.Wait()
	}
	return c.ended
}

func (c *remoteConsole) Kind() ConsoleKind { return c.kind }

func (c *remoteConsole) Password() string { return c.password }

func (c *remoteConsole) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	n, _, _, err := c.next(p)
	if n > 0 {
		_ = c.acknowledge(n) // a call that has ended says so at the next reading
	}
	return n, err
}

func (c *remoteConsole) Write(p []byte) (int, error) {
	n, err := c.consoleFlow.Write(p)
	if err != nil {
		err = c.failed(err)
	}
	return n, err
}

func (c *remoteConsole) Resize(ctx context.Context, columns, rows int) error {
	if err := CheckConsoleSize(columns, rows); err != nil {
		return err
	}
	if err := errors.Join(ctx.Err(), c.reason()); err != nil {
		return err
	}
	if err := c.sendMessage(consoleMessage{columns: columns, rows: rows}); err != nil {
		return c.failed(err)
	}
	return nil
}

func (c *remoteConsole) Close() error {
	c.close()
	c.cancel()
	return nil
}

func (s *consoleServer) OpenConsole(stream consoleStream) error {
	first, err := stream.Recv()
	if err != nil {
		return err
	}
	ctx := stream.Context()
	return endpoint.With(ctx, s.opener(), first, func(host ConsoleOpener) error {
		spec := consoleSpecFromProto(first.GetConsole())
		if err := spec.Check(); err != nil {
			return err
		}
		console, err := host.OpenConsole(ctx, spec)
		if err != nil {
			return err
		}
		defer func() { _ = console.Close() }()
		if err := stream.Send(&hypervisorv1.OpenConsoleResponse{Opened: consoleOpenedToProto(console)}); err != nil {
			return err
		}
		return carryConsole(ctx, stream, console)
	})
}

// carryConsole carries a console over its call until either has ended, and gives the
// reason: nil where the console's other side has ended it.
func carryConsole(ctx context.Context, stream consoleStream, console Console) error {
	flow := newConsoleFlow(func(m consoleMessage) error {
		return stream.Send(&hypervisorv1.OpenConsoleResponse{Data: m.data, Taken: int32(m.taken)})
	})
	stop := func(reason error) {
		flow.end(reason)
		_ = console.Close()
	}
	defer flow.end(io.EOF) // a driver that panics leaves nothing that waits
	defer context.AfterFunc(ctx, func() { stop(ctx.Err()) })()
	go func() { // it ends with the call
		for {
			got, err := stream.Recv()
			if err == nil {
				err = flow.accept(consoleMessage{
					data: got.GetData(), taken: int(got.GetTaken()), columns: int(got.GetColumns()), rows: int(got.GetRows()),
				})
			}
			if err != nil {
				stop(err)
				return
			}
		}
	}()
	var typing sync.WaitGroup
	typing.Go(func() {
		if err := copyInput(ctx, console, flow); err != nil {
			stop(err)
		}
	})
	// What fails to be read once the console was closed has the reason for that.
	err := copyOutput(console, flow)
	flow.end(err)
	_ = console.Close()
	typing.Wait()
	if reason := flow.reason(); !errors.Is(reason, io.EOF) {
		return reason
	}
	return nil
}

// copyOutput carries what the console says, and gives the reason of its end.
func copyOutput(console io.Reader, flow *consoleFlow) error {
	buffer := make([]byte, consoleChunk)
	for {
		n, err := console.Read(buffer)
		if n > 0 {
			if _, err := flow.Write(buffer[:n]); err != nil {
				return err
			}
		}
		if err != nil {
			return err
		}
	}
}

// copyInput carries what the caller types, and sizes; nil when the flow has ended.
func copyInput(ctx context.Context, console Console, flow *consoleFlow) (err error) {
	defer func() {
		if value := recover(); value != nil { // of the driver, in a goroutine that is not the call's
			err = plugin.Errorf(plugin.Internal, "the driver panicked: %v", value)
		}
	}()
	buffer := make([]byte, consoleChunk)
	for {
		n, columns, rows, ended := flow.next(buffer)
		switch {
		case ended != nil:
			return nil
		case columns > 0:
			err = CheckConsoleSize(columns, rows)
			if err == nil {
				err = console.Resize(ctx, columns, rows)
			}
		default:
			if _, err = console.Write(buffer[:n]); err == nil {
				err = flow.acknowledge(n)
			}
		}
		if err != nil {
			return err
		}
	}
}

func consoleSpecToProto(s ConsoleSpec) *hypervisorv1.ConsoleSpec {
	out := &hypervisorv1.ConsoleSpec{
		Node: wire.Text(s.Node), Kind: wire.Text(string(s.Kind)), Columns: int32(s.Columns), Rows: int32(s.Rows),
	}
	if s.Guest != nil {
		out.Guest = refToProto(*s.Guest)
	}
	return out
}

func consoleSpecFromProto(s *hypervisorv1.ConsoleSpec) ConsoleSpec {
	out := ConsoleSpec{Node: s.GetNode(), Kind: ConsoleKind(s.GetKind()), Columns: int(s.GetColumns()), Rows: int(s.GetRows())}
	if s.GetGuest() != nil {
		out.Guest = new(refFromProto(s.GetGuest()))
	}
	return out
}

func consoleOpenedToProto(c Console) *hypervisorv1.ConsoleOpened {
	return &hypervisorv1.ConsoleOpened{Kind: wire.Text(string(c.Kind())), Password: wire.Text(c.Password())}
}

func consoleOpenedFromProto(o *hypervisorv1.ConsoleOpened) (kind ConsoleKind, password string) {
	return ConsoleKind(o.GetKind()), o.GetPassword()
}

func consoleLimitToProto(l ConsoleLimit) *hypervisorv1.ConsoleLimit {
	return &hypervisorv1.ConsoleLimit{Of: wire.Text(l.Of), Kind: wire.Text(string(l.Kind)), Reason: wire.Text(l.Reason)}
}

func consoleLimitFromProto(l *hypervisorv1.ConsoleLimit) ConsoleLimit {
	return ConsoleLimit{Of: l.GetOf(), Kind: ConsoleKind(l.GetKind()), Reason: l.GetReason()}
}
