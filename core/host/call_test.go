package host_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	sdk "github.com/hostler/hostler/sdk/plugin"
)

// closing is an opener of one host that counts what is opened and closed.
type closing struct {
	hypervisor.Host
	opened, closed int
	refuse         error
}

func (c *closing) Open(context.Context, int64, endpoint.Capability) (hypervisor.Host, error) {
	if c.refuse != nil {
		return nil, c.refuse
	}
	c.opened++
	return c, nil
}

func (c *closing) Close() error {
	c.closed++
	return nil
}

// Whatever a question ends with, its host is closed, and a driver that hangs is a timeout while its caller still waits.
func TestAskWithin(t *testing.T) {
	t.Parallel()
	away := errors.New("away")
	gone, leave := context.WithCancel(t.Context())
	for name, c := range map[string]struct {
		ctx      context.Context
		refuse   error
		question func(context.Context) error
		kind     sdk.ErrorKind
		is       error
	}{
		"an answer":     {t.Context(), nil, func(context.Context) error { return nil }, "", nil},
		"its own error": {t.Context(), nil, func(context.Context) error { return away }, sdk.Internal, away},
		"no token": {t.Context(), host.MissingCapability(endpoint.Monitoring), nil, sdk.Internal,
			problem.New(problem.CodeCapabilityMissing, "")},
		"a driver that hangs": {t.Context(), nil, func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }, sdk.Timeout,
			context.DeadlineExceeded},
		"a caller who left": {gone, nil, func(ctx context.Context) error { leave(); <-ctx.Done(); return ctx.Err() }, sdk.Internal,
			context.Canceled},
	} {
		t.Run(name, func(t *testing.T) {
			opener := &closing{refuse: c.refuse}
			answer, err := host.CallWithTimeout(c.ctx, opener, 20*time.Millisecond, 1, endpoint.Monitoring,
				func(ctx context.Context, h hypervisor.Host) (string, error) {
					if h != hypervisor.Host(opener) {
						t.Error("the question was given another host")
					}
					return "answer", c.question(ctx)
				})
			if c.is == nil && (err != nil || answer != "answer") || c.is != nil && (!errors.Is(err, c.is) || sdk.KindOf(err) != c.kind) {
				t.Errorf("%q, %v", answer, err)
			}
			if opener.opened != opener.closed {
				t.Errorf("%d hosts were opened and %d closed", opener.opened, opener.closed)
			}
		})
	}
	opener := &closing{}
	_, err := host.CallWithTimeout(t.Context(), opener, time.Minute, 1, endpoint.Monitoring,
		func(context.Context, hypervisor.LifecycleManager) (int, error) {
			t.Error("a host without the ability was asked")
			return 0, nil
		})
	if sdk.KindOf(err) != sdk.Unsupported || opener.closed != 1 ||
		!strings.Contains(err.Error(), "the host's driver does not support this: it lacks the ability lifecycle") {
		t.Errorf("%v, closed %d times", err, opener.closed)
	}
}
