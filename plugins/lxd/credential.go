package lxd

import (
	"context"

	"github.com/hostler/hostler/sdk/endpoint"
)

// ReadCredential takes a client certificate with its key.
func (d *Driver) ReadCredential(_ context.Context, entered endpoint.Credential) (endpoint.Credential, error) {
	if entered.Form != endpoint.FormClientCertificate {
		return endpoint.Credential{}, invalid("form", "only client certificates are supported")
	}
	return endpoint.ReadClientCertificate(entered)
}

// NewCredential makes a key and a certificate that no server knows yet.
func (d *Driver) NewCredential(_ context.Context, capability endpoint.Capability) (endpoint.Credential, error) {
	if err := checkCapability(capability); err != nil {
		return endpoint.Credential{}, err
	}
	return endpoint.NewClientCertificate(capability)
}
