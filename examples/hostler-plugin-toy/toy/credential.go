package toy

import (
	"context"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
)

var _ hypervisor.CredentialReader = (*Driver)(nil)

// ReadCredential implements hypervisor.CredentialReader: a certificate and its key, pasted in any order, are kept in one form under
// the certificate's fingerprint. A driver whose credentials are API tokens leaves this file out.
func (d *Driver) ReadCredential(_ context.Context, entered endpoint.Credential) (endpoint.Credential, error) {
	if entered.Form != endpoint.FormClientCertificate {
		return endpoint.Credential{}, invalid("form", "only client certificates are supported")
	}
	return endpoint.ReadClientCertificate(entered)
}
