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

// Opener opens hosts. A Store is one.
type Opener interface {
	// Open returns the host as seen with the credential of the capability. The
	// caller closes it. A capability without a credential is the problem
	// capability_missing.
	Open(ctx context.Context, id int64, capability endpoint.Capability) (hypervisor.Host, error)
}

// Call calls a host while a caller waits: it opens the host with the credential
// of the capability, passes it to question as A, which is hypervisor.Host or
// one of the optional interfaces, and closes it. The store's limit for a call
// bounds all of it. Errors are problems: capability_missing, unsupported if the
// driver does not implement A, and those that plugin.Problem makes of the
// hypervisor's errors.
func Call[A, T any](ctx context.Context, s *Store, id int64, capability endpoint.Capability,
	question func(context.Context, A) (T, error)) (T, error) {
	return CallPlugin(ctx, s, id, capability, s.open, AsAbility[A], question)
}

// CallPlugin is Call for plugins of any kind. The function open returns what the
// plugin with the driver's name has at the target. The function as converts
// that to A, or returns the error MissingAbility.
func CallPlugin[H io.Closer, A, T any](ctx context.Context, s *Store, id int64, capability endpoint.Capability,
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

// CallWithTimeout is Call with its own limit and with unchanged errors, for jobs,
// which decide by the kind of an error. A call that exceeds the limit is
// sdk.Timeout.
func CallWithTimeout[A, T any](ctx context.Context, hosts Opener, limit time.Duration, id int64, capability endpoint.Capability,
	question func(context.Context, A) (T, error)) (T, error) {
	return within(ctx, limit, func(ctx context.Context) (hypervisor.Host, error) { return hosts.Open(ctx, id, capability) },
		AsAbility[A], question)
}

// within opens, calls and closes within the limit. The deferred function names
// the limit as the cause if only the limit ended the call, and not the caller.
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

// AsAbility returns the host as A: the host itself, or the optional interface A. The
// error is Unsupported if the driver lacks the ability.
func AsAbility[A any](at hypervisor.Host) (A, error) {
	if self, ok := any(&at).(*A); ok {
		return *self, nil
	}
	as, ok := hypervisor.As[A](at)
	if !ok {
		return as, MissingAbility("driver", hypervisor.AbilityName[A]())
	}
	return as, nil
}

// MissingAbility returns the error of a host whose part, such as its driver, lacks the
// ability with that name.
func MissingAbility(part, ability string) error {
	return sdk.Errorf(sdk.Unsupported, "the host's %s does not support this: it lacks the ability %s", part, ability)
}
