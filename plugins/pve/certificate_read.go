package pve

import (
	"context"

	"github.com/hostler/hostler/sdk/endpoint"
)

// ReadCertificate reads the certificate that the endpoint shows. It sends no
// request and no token.
func (d *Driver) ReadCertificate(ctx context.Context, target endpoint.Target) (endpoint.Certificate, error) {
	return endpoint.ReadCertificate(ctx, target)
}
