package plugin

import (
	"context"
	"errors"
	"fmt"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// ErrGone is in the error of every call that failed because the plugin process is not there: it died, was never started,
// or is being restarted. The call may or may not have been carried out.
var ErrGone = errors.New("the plugin is not running")

// CallError turns what a gRPC call gave into what the caller should see. In this order:
//
//   - nil stays nil, and an *Error of the connection itself what it is;
//   - a call that failed in the plugin is its *Error;
//   - when ctx has ended it is ctx's error, so that the caller's own cancellation is never taken for a dead plugin;
//   - a connection that is gone is ErrGone;
//   - all else is an *Error of kind Internal.
func CallError(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if e := (*Error)(nil); errors.Is(err, ErrGone) || errors.As(err, &e) {
		return err
	}
	s, ok := status.FromError(err)
	if ok {
		if e := errorIn(s); e != nil {
			if ended := ctx.Err(); ended != nil && (s.Code() == codes.Canceled || s.Code() == codes.DeadlineExceeded) {
				return fmt.Errorf("calling the plugin: %w", ended)
			}
			return e
		}
	}
	if ended := ctx.Err(); ended != nil {
		return fmt.Errorf("calling the plugin: %w", ended)
	}
	if !ok {
		return fmt.Errorf("%w: %w", ErrGone, err)
	}
	switch s.Code() {
	case codes.Unavailable, codes.Canceled:
		// Nobody but the caller cancels a call, so that a canceled one without an ended context was cut by a side that stopped.
		return fmt.Errorf("%w: %s", ErrGone, s.Message())
	case codes.DeadlineExceeded:
		// The plugin's clock was a moment ahead of ours.
		return fmt.Errorf("calling the plugin: %w", context.DeadlineExceeded)
	case codes.Unimplemented:
		return &Error{Kind: Unsupported, Message: "the plugin does not support this"}
	default:
		return &Error{Kind: Internal, Message: fmt.Sprintf("plugin: %s: %s", s.Code(), s.Message())}
	}
}
