package pveapi

import (
	"context"
	"errors"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/plugin"
)

// netError says what went wrong between us and the hypervisor. The caller's own cancellation stays what it is, and one of
// ours, after an answer that stalled, is a timeout.
func netError(ctx context.Context, err error) error {
	var known *plugin.Error
	for _, waited := range []error{errStalled, errNotTaken} {
		if !errors.As(err, &known) && errors.Is(context.Cause(ctx), waited) {
			return plugin.Errorf(plugin.Timeout, "%w", waited)
		}
	}
	return endpoint.NetworkError(ctx, err)
}
