package pveapi

import (
	"context"
	"errors"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/plugin"
)

// netError classifies an error of the connection. The caller's own cancelation
// stays, and the client's, after an answer that stalled, becomes a timeout.
func netError(ctx context.Context, err error) error {
	var known *plugin.Error
	for _, waited := range []error{errStalled, errNotTaken} {
		if !errors.As(err, &known) && errors.Is(context.Cause(ctx), waited) {
			return plugin.Errorf(plugin.Timeout, "%w", waited)
		}
	}
	return endpoint.NetworkError(ctx, err)
}
