package plugin

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/hashicorp/go-hclog"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// window is the flow-control window of a stream and of the connection, in bytes. It
// is large enough for the pages of an inventory not to wait for acknowledgements.
const window = 1 << 20

// NewServer returns the gRPC server that Serve uses. Tests use it for the same
// treatment of errors and panics. Every error of a method becomes a status that
// carries an Error, and every panic becomes an Internal one. Causes and stacks go
// to the logger only.
func NewServer(logger hclog.Logger, opts ...grpc.ServerOption) *grpc.Server {
	g := guard{logger: logger, ledger: newLedger()}
	return grpc.NewServer(append(opts,
		grpc.InitialWindowSize(window),
		grpc.InitialConnWindowSize(window),
		grpc.ChainUnaryInterceptor(g.unary),
		grpc.ChainStreamInterceptor(g.stream),
	)...)
}

// maxAnswer limits one message from a plugin, in bytes. Long results are split into
// several messages, and a faulty plugin must not fill the service's memory.
const maxAnswer = 16 << 20

// DialOptions returns the client's options that match NewServer.
func DialOptions() []grpc.DialOption {
	return []grpc.DialOption{
		grpc.WithInitialWindowSize(window),
		grpc.WithInitialConnWindowSize(window),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxAnswer)),
	}
}

// guard is the pair of interceptors between gRPC and the drivers.
type guard struct {
	logger hclog.Logger
	ledger *ledger
}

// unary handles a call with one request and one response.
func (g guard) unary(ctx context.Context, req any, info *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (resp any, err error) {
	if !ours(info.FullMethod) {
		return handle(ctx, req)
	}
	defer func() {
		if value := recover(); value != nil {
			err = g.panicked(info.FullMethod, value, secretsOf(req))
		}
	}()
	counted, account := g.ledger.with(ctx)
	account.open(req)
	resp, err = handle(counted, req)
	if err != nil {
		return nil, g.encode(ctx, info.FullMethod, err, secretsOf(req))
	}
	return resp, nil
}

// stream handles a streaming call.
func (g guard) stream(srv any, ss grpc.ServerStream, info *grpc.StreamServerInfo, handle grpc.StreamHandler) (err error) {
	if !ours(info.FullMethod) {
		return handle(srv, ss)
	}
	counted, account := g.ledger.with(ss.Context())
	seen := &watched{ServerStream: ss, ctx: counted, account: account}
	defer func() {
		if value := recover(); value != nil {
			err = g.panicked(info.FullMethod, value, secretsOf(seen.first))
		}
	}()
	if err = handle(srv, seen); err != nil {
		return g.encode(ss.Context(), info.FullMethod, err, secretsOf(seen.first))
	}
	return nil
}

// watched is a stream that remembers its first received message, which contains the
// target and the secrets.
type watched struct {
	grpc.ServerStream
	ctx     context.Context // of the one call that the stream is
	account *account
	first   any
}

func (w *watched) Context() context.Context { return w.ctx }

func (w *watched) RecvMsg(m any) error {
	err := w.ServerStream.RecvMsg(m)
	if err == nil && w.first == nil {
		w.first = m
		w.account.open(m)
	}
	return err
}

// ours reports whether a method belongs to Hostler, and not to go-plugin or the
// health service.
func ours(method string) bool { return strings.HasPrefix(method, "/hostler.") }

// encode returns the status for the error of a call. Secrets of the request are
// removed from every text.
func (g guard) encode(ctx context.Context, method string, err error, secrets []string) error {
	// A call that ended with its context is reported as such, so that it is not
	// taken for a failure of the driver.
	if ended := ctx.Err(); ended != nil && (errors.Is(err, ended) || status.Code(err) == codes.Canceled) {
		return status.FromContextError(ended).Err()
	}
	// An ability that is not registered stays Unimplemented; CallError turns it
	// into Unsupported.
	if s, ok := status.FromError(err); ok && errorIn(s) == nil && s.Code() == codes.Unimplemented {
		return err
	}
	e := errorOf(err)
	if e.Kind == Internal {
		g.logger.Error("call failed", "method", method, "error", HideSecrets(fmt.Sprintf("%+v", err), secrets...))
	}
	return statusOf(e, secrets...)
}

// panicked logs the panic of a driver with its stack, and returns the status for
// it.
func (g guard) panicked(method string, value any, secrets []string) error {
	text := HideSecrets(fmt.Sprint(value), secrets...)
	g.logger.Error("driver panicked", "method", method, "panic", text, "stack", HideSecrets(string(debug.Stack()), secrets...))
	return statusOf(&Error{Kind: Internal, Message: "the driver panicked: " + text}, secrets...)
}
