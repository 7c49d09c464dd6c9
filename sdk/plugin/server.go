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

// window is the flow-control window in bytes of a stream and of the connection: large enough that the pages of an
// inventory do not wait for acknowledgements.
const window = 1 << 20

// NewServer makes the gRPC server that Serve uses, for tests that want the same treatment of errors and panics. Every
// error becomes a status that carries an Error, every panic in a driver an internal one; causes go to the logger.
func NewServer(logger hclog.Logger, opts ...grpc.ServerOption) *grpc.Server {
	g := guard{logger: logger, ledger: newLedger()}
	return grpc.NewServer(append(opts,
		grpc.InitialWindowSize(window),
		grpc.InitialConnWindowSize(window),
		grpc.ChainUnaryInterceptor(g.unary),
		grpc.ChainStreamInterceptor(g.stream),
	)...)
}

// maxAnswer limits one message from a plugin in bytes: what is long comes in parts, and a plugin gone wrong must not fill
// the service's memory.
const maxAnswer = 16 << 20

// DialOptions are the client's half of NewServer's settings.
func DialOptions() []grpc.DialOption {
	return []grpc.DialOption{
		grpc.WithInitialWindowSize(window),
		grpc.WithInitialConnWindowSize(window),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxAnswer)),
	}
}

// guard stands between gRPC and the drivers.
type guard struct {
	logger hclog.Logger
	ledger *ledger
}

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

// watched remembers a stream's first message, which has the target.
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

// ours tells our services from go-plugin's own and the health check.
func ours(method string) bool { return strings.HasPrefix(method, "/hostler.") }

// encode makes the status of a failed call.
func (g guard) encode(ctx context.Context, method string, err error, secrets []string) error {
	if ended := ctx.Err(); ended != nil && (errors.Is(err, ended) || status.Code(err) == codes.Canceled) {
		return status.FromContextError(ended).Err()
	}
	if s, ok := status.FromError(err); ok && errorIn(s) == nil && s.Code() == codes.Unimplemented {
		return err
	}
	e := errorOf(err)
	if e.Kind == Internal {
		g.logger.Error("call failed", "method", method, "error", HideSecrets(fmt.Sprintf("%+v", err), secrets...))
	}
	return statusOf(e, secrets...)
}

// panicked makes the status of a call whose driver panicked and logs where.
func (g guard) panicked(method string, value any, secrets []string) error {
	text := HideSecrets(fmt.Sprint(value), secrets...)
	g.logger.Error("driver panicked", "method", method, "panic", text, "stack", HideSecrets(string(debug.Stack()), secrets...))
	return statusOf(&Error{Kind: Internal, Message: "the driver panicked: " + text}, secrets...)
}
