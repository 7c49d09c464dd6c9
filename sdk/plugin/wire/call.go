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

// Call makes a call that has one answer. Its error is as plugin.CallError says, and then the answer is nil, whose getters
// give zero values.
func Call[Req, Resp any](ctx context.Context, rpc func(context.Context, *Req, ...grpc.CallOption) (*Resp, error), req *Req) (*Resp,
	error) {
	resp, err := rpc(ctx, req)
	if err != nil {
		return nil, plugin.CallError(ctx, err)
	}
	return resp, nil
}

// ErrEnough ends a Receive without an error.
var ErrEnough = errors.New("enough was received")

// Receive makes a call whose answer is a stream and hands each message to each. An error from each ends the call and is
// returned; all others are as plugin.CallError says.
func Receive[Req, Resp any](ctx context.Context,
	rpc func(context.Context, *Req, ...grpc.CallOption) (grpc.ServerStreamingClient[Resp], error), req *Req, each func(*Resp) error) error {
	// The derived context ends the plugin's half of the stream whichever way this returns.
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

// MaxList is the maximum size in bytes of a list that Gather receives.
const MaxList = 64 << 20

// Gather works like Receive, for lists that the caller keeps in memory. It returns plugin.Protocol if the list exceeds MaxList.
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

// Lacks is the error of an answer without what it must have.
func Lacks(what string) error { return fmt.Errorf("the plugin's answer has no %s", what) }
