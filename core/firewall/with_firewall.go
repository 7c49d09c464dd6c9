package firewall

import (
	"context"

	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/sdk/endpoint"
	sdk "github.com/hostler/hostler/sdk/firewall"
)

// WithFirewall runs do with the firewall of a host's cluster and the token of a
// capability, for work that is more than a question about one scope. Errors are
// those of host.CallPlugin.
func WithFirewall[T any](ctx context.Context, s *Store, hostID int64, as endpoint.Capability, do func(context.Context, sdk.Firewall) (T,
	error)) (
	T, error) {
	return host.CallPlugin(ctx, s.Hosts, hostID, as, s.open, func(fw sdk.Firewall) (sdk.Firewall, error) { return fw, nil }, do)
}
