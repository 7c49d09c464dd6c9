package host

import (
	"context"
	"reflect"
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
	answer, err := AskWithin(ctx, s, s.timeout, id, capability, question)
	return answer, plugin.Problem(err)
}

// AskWithin is Ask under a limit of its own and with the errors as they come; it is for jobs, which judge them by kind. An
// answer that is not there in time is sdk.Timeout.
func AskWithin[A, T any](ctx context.Context, hosts Opener, limit time.Duration, id int64, capability endpoint.Capability,
	question func(context.Context, A) (T, error)) (answer T, err error) {
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	defer func() {
		if err != nil && limited.Err() != nil && ctx.Err() == nil {
			err = sdk.Errorf(sdk.Timeout, "the hypervisor did not answer within %s: %w", limit, err)
		}
	}()
	at, err := hosts.Open(limited, id, capability)
	if err != nil {
		return answer, err
	}
	defer func() { _ = at.Close() }()
	able, ok := Able[A](at)
	if !ok {
		return answer, Unsupported[A]()
	}
	return question(limited, able)
}

// Able gives the host as A: itself, or the optional interface A where its driver has that ability.
func Able[A any](at hypervisor.Host) (A, bool) {
	if self, ok := any(&at).(*A); ok {
		return *self, true
	}
	return hypervisor.As[A](at)
}

// Unsupported is the error of a host whose driver has no A.
func Unsupported[A any]() error {
	return sdk.Errorf(sdk.Unsupported, "the host's driver cannot do this: it is no %s", reflect.TypeFor[A]().Name())
}
