package hypervisor

import (
	"context"

	"github.com/hostler/hostler/sdk/endpoint"
)

// CertificateReader is implemented by drivers that can read the certificate of an
// endpoint before a credential is sent to it. The service shows the fingerprint to
// the person who adds a host.
type CertificateReader interface {
	// ReadCertificate returns the certificate that the endpoint presents, whether
	// it is trusted or not. The target has no credential, and the driver must not
	// send anything that could be one. The driver ignores Fingerprint and VerifyTLS
	// of the target. An address that must not be dialled is Forbidden.
	// endpoint.ReadCertificate implements this for endpoints that speak TLS.
	ReadCertificate(ctx context.Context, target endpoint.Target) (endpoint.Certificate, error)
}
