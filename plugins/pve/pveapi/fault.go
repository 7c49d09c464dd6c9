package pveapi

import (
	"context"
	"errors"

	"github.com/hostler/hostler/sdk/hypervisor"
)

// netError says what went wrong between us and the hypervisor. The caller's own cancellation stays what it is, and one of
// ours, after an answer that stalled, is a timeout.
func netError(ctx context.Context, err error) error {
	var known *hypervisor.Error
	if !errors.As(err, &known) && errors.Is(context.Cause(ctx), errStalled) {
		return hypervisor.Errorf(hypervisor.Timeout, "%w", errStalled)
	}
	return hypervisor.NetworkError(ctx, err)
}
