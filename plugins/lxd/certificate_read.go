package lxd

import (
	"context"

	"github.com/hostler/hostler/sdk/endpoint"
)

// ReadCertificate implements hypervisor.CertificateReader. It only performs a
// TLS handshake and sends no request.
func (d *Driver) ReadCertificate(ctx context.Context, target endpoint.Target) (endpoint.Certificate, error) {
	return endpoint.ReadCertificate(ctx, target)
}
