package lxd

import (
	"context"

	"github.com/hostler/hostler/sdk/endpoint"
)

// ReadCredential implements hypervisor.CredentialReader. It accepts a client
// certificate with its key in PEM. Join tokens are not stored; Redeem exchanges
// them.
func (d *Driver) ReadCredential(_ context.Context, entered endpoint.Credential) (endpoint.Credential, error) {
	if entered.Form != endpoint.FormClientCertificate {
		return endpoint.Credential{}, invalid("form", "only client certificates are supported")
	}
	return endpoint.ReadClientCertificate(entered)
}

// NewCredential implements hypervisor.Enroller. It creates a key and a
// certificate that no server knows yet.
func (d *Driver) NewCredential(_ context.Context, capability endpoint.Capability) (endpoint.Credential, error) {
	if err := checkCapability(capability); err != nil {
		return endpoint.Credential{}, err
	}
	return endpoint.NewClientCertificate(capability)
}
