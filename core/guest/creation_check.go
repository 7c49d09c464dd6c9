package guest

import (
	"context"

	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/plugin"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// permitted returns denied if the credential lacks a privilege for creating a
// guest, as far as the driver can know in advance. A driver that cannot know
// permits everything. Problems are those of host.Call.
func permitted(ctx context.Context, hosts host.Opener, hostID int64, capability endpoint.Capability,
	check func(context.Context, hypervisor.CreationChecker) error) error {
	_, err := host.CallWithTimeout(ctx, hosts, callLimit, hostID, capability,
		func(ctx context.Context, at hypervisor.CreationChecker) (struct{}, error) {
			return struct{}{}, check(ctx, at)
		})
	if err = plugin.Problem(err); unsupported(err) {
		return nil
	}
	return err
}
