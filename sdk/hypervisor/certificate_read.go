package hypervisor

import (
	"context"

	"github.com/hostler/hostler/sdk/endpoint"
)

// CertificateReader is satisfied by drivers that can look at an endpoint's certificate before anything is entrusted to it.
type CertificateReader interface {
	// ReadCertificate tells of the certificate that the endpoint shows, trusted or not. The target has no credential, and nothing is
	// sent that could be one. Its Fingerprint and VerifyTLS do not matter; an address that must not be dialled is Forbidden.
	// endpoint.ReadCertificate does it for endpoints that speak TLS.
	ReadCertificate(ctx context.Context, target endpoint.Target) (endpoint.Certificate, error)
}
