package endpoint

import (
	"context"
	"io"
	"reflect"

	"github.com/hostler/hostler/sdk/plugin"
	pluginv1 "github.com/hostler/hostler/sdk/proto/hostler/plugin/v1"
)

// Request is implemented by every request message that has a target.
type Request interface{ GetTarget() *pluginv1.Target }

// Opener opens what is at a target, on the plugin's side of a call. Open must
// return the type of Type, which may be a typed nil.
type Opener[H io.Closer] struct {
	Open func(context.Context, Target) (H, error)
	Type H
}

// With opens the request's target for one call, passes it to call and closes it
// afterwards. As is H or an optional interface that Type implements. A request
// without target is Invalid. An opened value of another type than promised is
// Internal, because its abilities would differ from those that the plugin reported.
// A value that does not implement As is Unsupported.
func With[As any, H io.Closer](ctx context.Context, opener Opener[H], req Request, call func(As) error) error {
	if req.GetTarget() == nil {
		return plugin.Errorf(plugin.Invalid, "the request has no target")
	}
	opened, err := opener.Open(ctx, TargetFromProto(req.GetTarget()))
	if err != nil {
		return err
	}
	defer func() { _ = opened.Close() }()
	if got, want := reflect.TypeOf(opened), reflect.TypeOf(opener.Type); got != want {
		return plugin.Errorf(plugin.Internal, "the plugin opened a %s, but announced a %s", got, want)
	}
	as, ok := any(opened).(As)
	if !ok {
		return plugin.Errorf(plugin.Unsupported, "the plugin does not support this")
	}
	return call(as)
}

// Serve is With for a unary call. It returns the result of answer, or a nil
// response with the error.
func Serve[As, Resp any, H io.Closer](ctx context.Context, opener Opener[H], req Request, answer func(As) (*Resp, error)) (
	resp *Resp, err error) {
	err = With(ctx, opener, req, func(as As) error {
		resp, err = answer(as)
		return err
	})
	if err != nil {
		return nil, err
	}
	return resp, nil
}
