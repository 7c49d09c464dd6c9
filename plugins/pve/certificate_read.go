package pve

import (
	"context"

	"github.com/hostler/hostler/sdk/endpoint"
)

// ReadCertificate looks at the certificate that the endpoint shows, and sends nothing.
func (d *Driver) ReadCertificate(ctx context.Context, target endpoint.Target) (endpoint.Certificate, error) {
	return endpoint.ReadCertificate(ctx, target)
}
