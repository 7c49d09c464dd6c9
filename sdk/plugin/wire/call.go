package wire

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/hostler/hostler/sdk/plugin"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
)

// Call makes a unary call. Its error is that of plugin.CallError. The response is
// nil then; its getters return zero values.
func Call[Req, Resp any](ctx context.Context, rpc func(context.Context, *Req, ...grpc.CallOption) (*Resp, error), req *Req) (*Resp,
	error) {
	resp, err := rpc(ctx, req)
	if err != nil {
		return nil, plugin.CallError(ctx, err)
	}
	return resp, nil
}

// ErrEnough, returned by the callback of Receive, ends the call without an error.
var ErrEnough = errors.New("enough was received")

// Receive makes a call whose response is a stream and passes each message to the
// callback. An error of the callback ends the call and is returned. Other errors
// are those of plugin.CallError.
func Receive[Req, Resp any](ctx context.Context,
	rpc func(context.Context, *Req, ...grpc.CallOption) (grpc.ServerStreamingClient[Resp], error), req *Req, each func(*Resp) error) error {
	// The derived context cancels the plugin's side of the stream on every return.
	streamCtx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := rpc(streamCtx, req)
	if err != nil {
		return plugin.CallError(ctx, err)
	}
	for {
		message, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return plugin.CallError(ctx, err)
		}
		switch err := each(message); {
		case errors.Is(err, ErrEnough):
			return nil
		case err != nil:
			return err
		}
	}
}

// MaxList is the largest list that Gather receives, in bytes.
const MaxList = 64 << 20

// Gather works like Receive, for lists that the caller keeps in memory. It
// returns plugin.Protocol if the list exceeds MaxList.
func Gather[Req, Resp any](ctx context.Context,
	rpc func(context.Context, *Req, ...grpc.CallOption) (grpc.ServerStreamingClient[Resp], error), req *Req, each func(*Resp) error) error {
	size := 0
	return Receive(ctx, rpc, req, func(part *Resp) error {
		if message, is := any(part).(proto.Message); is {
			size += proto.Size(message)
		}
		if size > MaxList {
			return plugin.Errorf(plugin.Protocol, "the plugin lists more than %d MiB", MaxList>>20)
		}
		return each(part)
	})
}

// MissingPart returns the error for a response in which a required part is missing.
func MissingPart(what string) error { return fmt.Errorf("the plugin's answer has no %s", what) }
