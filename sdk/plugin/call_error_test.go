package plugin_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/hostler/hostler/sdk/plugin"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

func TestCallError(t *testing.T) {
	t.Parallel()
	live := context.Background()
	canceled, cancel := context.WithCancel(live)
	cancel()
	late, cancel := context.WithTimeout(live, 0)
	defer cancel()
	for name, c := range map[string]struct {
		ctx  context.Context
		err  error
		is   error
		kind plugin.ErrorKind
	}{
		"nothing":                    {live, nil, nil, ""},
		"connection gone":            {live, status.Error(codes.Unavailable, "EOF"), plugin.ErrGone, ""},
		"cut by the other side":      {live, status.Error(codes.Canceled, "closing"), plugin.ErrGone, ""},
		"gone and said so":           {live, fmt.Errorf("pve: %w", plugin.ErrGone), plugin.ErrGone, ""},
		"no status":                  {live, errors.New("EOF"), plugin.ErrGone, ""},
		"canceled by the caller":     {canceled, status.Error(codes.Canceled, ""), context.Canceled, ""},
		"gone and canceled":          {canceled, status.Error(codes.Unavailable, "EOF"), context.Canceled, ""},
		"the caller's deadline":      {late, status.Error(codes.DeadlineExceeded, ""), context.DeadlineExceeded, ""},
		"the other side's clock":     {live, status.Error(codes.DeadlineExceeded, ""), context.DeadlineExceeded, ""},
		"not answered":               {live, status.Error(codes.Unimplemented, "unknown service"), nil, "unsupported"},
		"an unknown status":          {live, status.Error(codes.Unknown, "what"), nil, "internal"},
		"a broken answer":            {live, status.Error(codes.Internal, "cannot decode"), nil, "internal"},
		"an answer that is too long": {live, status.Error(codes.ResourceExhausted, "too long"), nil, "internal"},
	} {
		got := plugin.CallError(c.ctx, c.err)
		var e *plugin.Error
		kind := plugin.ErrorKind("")
		if errors.As(got, &e) {
			kind = e.Kind
		}
		if c.is != nil && !errors.Is(got, c.is) || kind != c.kind || (c.err == nil) != (got == nil) {
			t.Errorf("%s: %v of kind %q", name, got, kind)
		}
		if c.is != plugin.ErrGone && errors.Is(got, plugin.ErrGone) {
			t.Errorf("%s: %v is taken for a dead plugin", name, got)
		}
	}
}
