package memdriver

import (
	"context"
	"strings"
	"time"

	"github.com/hostler/hostler/sdk/endpoint"
)

// What the certificates of all clusters say.
const certificateIssuer = "CN=memory"

var (
	certificateBegin = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	certificateEnd   = time.Date(2040, 1, 1, 0, 0, 0, 0, time.UTC)
)

// certificateName returns the name in the certificate of a target.
func certificateName(target endpoint.Target) string {
	return strings.TrimSuffix(target.Address, ":8006")
}

// ReadCertificate implements hypervisor.CertificateReader. A fault of
// "certificate" acts before the answer.
func (d *Driver) ReadCertificate(ctx context.Context, target endpoint.Target) (endpoint.Certificate, error) {
	if err := ctx.Err(); err != nil {
		return endpoint.Certificate{}, err
	}
	c, err := d.cluster(target)
	if err != nil {
		return endpoint.Certificate{}, err
	}
	if err := c.fault("certificate").apply(ctx, target); err != nil {
		return endpoint.Certificate{}, err
	}
	shown := endpoint.Certificate{
		Fingerprint: c.Fingerprint(), Subject: certificateName(target), Names: []string{certificateName(target)}, Issuer: certificateIssuer,
		NotBefore: certificateBegin, NotAfter: certificateEnd,
	}
	if !c.anyToken {
		shown.Distrust = "no authority that this system trusts has signed it"
	}
	return shown, nil
}
