package host

import (
	"context"
	"io"
	"time"

	"github.com/hostler/hostler/core/plugin"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	sdk "github.com/hostler/hostler/sdk/plugin"
)

// Opener opens hosts; a Store is one.
type Opener interface {
	// Open gives the host as the capability's token sees it; the caller closes it. A capability without a token is the
	// problem capability_missing.
	Open(ctx context.Context, id int64, capability endpoint.Capability) (hypervisor.Host, error)
}

// Ask puts one question to a host while its caller waits: it opens the host with the capability's token, gives it to the
// question as A, which is hypervisor.Host or one of the optional interfaces, and closes it. The store's limit for a call
// bounds all of it. Errors are problems: capability_missing, unsupported where the host's driver is no A, and what
// plugin.Problem makes of the hypervisor's.
func Ask[A, T any](ctx context.Context, s *Store, id int64, capability endpoint.Capability,
	question func(context.Context, A) (T, error)) (T, error) {
	return AskThrough(ctx, s, id, capability, s.open, Able[A], question)
}

// AskThrough is Ask for plugins of any kind. open gives what the plugin of the driver's name has at the target, and as gives
// that as A, or the error Lacking.
func AskThrough[H io.Closer, A, T any](ctx context.Context, s *Store, id int64, capability endpoint.Capability,
	open func(ctx context.Context, driver string, target endpoint.Target) (H, error), as func(H) (A, error),
	question func(context.Context, A) (T, error)) (T, error) {
	answer, err := within(ctx, s.timeout, func(ctx context.Context) (opened H, err error) {
		driver, target, err := s.target(ctx, id, capability)
		if err != nil {
			return opened, err
		}
		return open(ctx, driver, target)
	}, as, question)
	return answer, plugin.Problem(err)
}

// AskWithin is Ask under a limit of its own and with the errors as they come; it is for jobs, which judge them by kind. An
// answer that is not there in time is sdk.Timeout.
func AskWithin[A, T any](ctx context.Context, hosts Opener, limit time.Duration, id int64, capability endpoint.Capability,
	question func(context.Context, A) (T, error)) (T, error) {
	return within(ctx, limit, func(ctx context.Context) (hypervisor.Host, error) { return hosts.Open(ctx, id, capability) },
		Able[A], question)
}

// within opens, asks and closes within the limit.
func within[H io.Closer, A, T any](ctx context.Context, limit time.Duration, open func(context.Context) (H, error),
	as func(H) (A, error), question func(context.Context, A) (T, error)) (answer T, err error) {
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	defer func() {
		if err != nil && limited.Err() != nil && ctx.Err() == nil {
			err = sdk.Errorf(sdk.Timeout, "the hypervisor did not answer within %s: %w", limit, err)
		}
	}()
	at, err := open(limited)
	if err != nil {
		return answer, err
	}
	defer func() { _ = at.Close() }()
	asked, err := as(at)
	if err != nil {
		return answer, err
	}
	return question(limited, asked)
}

// Able gives the host as A: itself, or the optional interface A. Where its driver lacks that ability the error is Unsupported.
func Able[A any](at hypervisor.Host) (A, error) {
	if self, ok := any(&at).(*A); ok {
		return *self, nil
	}
	as, ok := hypervisor.As[A](at)
	if !ok {
		return as, Lacking("driver", hypervisor.AbilityName[A]())
	}
	return as, nil
}

// Lacking is the error of a host whose part, such as its driver, has not the ability of that name.
func Lacking(part, ability string) error {
	return sdk.Errorf(sdk.Unsupported, "the host's %s cannot do this: it lacks the ability %s", part, ability)
}
