package plugin

import (
	"context"
	"errors"
	"fmt"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// ErrGone is wrapped by the error of every call that failed because the plugin
// process is not running: it died, was never started, or is being restarted. The
// call may or may not have been carried out.
var ErrGone = errors.New("the plugin is not running")

// CallError turns the error of a gRPC call into the error that the caller gets. In
// this order:
//
//   - nil stays nil, and an *Error or ErrGone of the connection itself is returned
//     unchanged;
//   - a call that failed in the plugin returns the plugin's *Error;
//   - if ctx has ended, its error is returned, so that a cancellation by the caller
//     is never taken for a dead plugin;
//   - a broken connection is ErrGone;
//   - everything else is an *Error of kind Internal.
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
		// Only the caller cancels a call. If its context has not ended, the call
		// was canceled by a side that stopped.
		return fmt.Errorf("%w: %s", ErrGone, s.Message())
	case codes.DeadlineExceeded:
		// The deadline passed in the plugin a moment earlier than here.
		return fmt.Errorf("calling the plugin: %w", context.DeadlineExceeded)
	case codes.Unimplemented:
		return &Error{Kind: Unsupported, Message: "the plugin does not support this"}
	default:
		return &Error{Kind: Internal, Message: fmt.Sprintf("plugin: %s: %s", s.Code(), s.Message())}
	}
}
