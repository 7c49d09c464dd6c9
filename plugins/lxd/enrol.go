package lxd

import (
	"context"

	"github.com/hostler/hostler/plugins/lxd/lxdapi"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// Inspect implements hypervisor.Enroller. It reads the join token, which
// contains the server's addresses and fingerprint, and uses no network.
func (d *Driver) Inspect(_ context.Context, code plugin.Secret) (hypervisor.Code, error) {
	token, err := lxdapi.ParseJoinToken(code)
	if err != nil {
		return hypervisor.Code{}, err
	}
	return hypervisor.Code{Addresses: token.Addresses, Fingerprint: token.Fingerprint, Expires: token.Expires}, nil
}

// Redeem implements hypervisor.Enroller. It sends the token once, and the
// server adds the target's certificate to its trust store. If the server fails
// after it used the token, the certificate may or may not be trusted; that is
// an Internal error. Without a pinned fingerprint it pins the one in the token.
func (d *Driver) Redeem(ctx context.Context, target endpoint.Target, code plugin.Secret) error {
	token, err := lxdapi.ParseJoinToken(code)
	if err != nil {
		return err
	}
	if target.Fingerprint == "" { // the token is the server's own word for its certificate
		target.Fingerprint = token.Fingerprint
	}
	api, err := d.pool.NewClient(target)
	if err != nil {
		return err
	}
	err = api.Join(ctx, token)
	if e, ok := asError(err); ok && e.Kind == plugin.Refused {
		// The server takes the token first and writes its list then: one that fails may have done either.
		return plugin.Errorf(plugin.Internal, "the host failed while it processed the join token: %s", e.Message)
	}
	return err
}
