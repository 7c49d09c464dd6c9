package endpoint

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"time"

	"github.com/hostler/hostler/sdk/plugin"
)

// Certificate is what the certificate that an endpoint shows says of itself, and whether this system would take its word.
type Certificate struct {
	// Fingerprint is its SHA-256, in the form of Fingerprint.
	Fingerprint string
	// Subject is its common name, at most 255 bytes; Names and Issuer are as CertificateNames and CertificateIssuer read them.
	Subject             string
	Names               []string
	Issuer              string
	NotBefore, NotAfter time.Time
	// SelfSigned says that it has signed itself: only a pin can vouch for it.
	SelfSigned bool
	// Distrust is why the system's authorities do not vouch for it under the name of the address, in words for people; empty when
	// they do.
	Distrust string
}

// ReadCertificate connects to the target, takes the certificate that is shown, trusted or not, and goes away: nothing is sent but the
// handshake, and no credential. The target's Fingerprint and VerifyTLS do not matter. Addresses that DialControl refuses are not
// dialled. Errors are those of NetworkError.
func ReadCertificate(ctx context.Context, target Target) (Certificate, error) {
	name, _, err := net.SplitHostPort(target.Address)
	if err != nil {
		return Certificate{}, plugin.Errorf(plugin.Invalid, "the target's address must be host:port: %w", err)
	}
	dialer := &net.Dialer{Control: DialControl(target)}
	conn, err := dialer.DialContext(ctx, "tcp", target.Address)
	if err != nil {
		return Certificate{}, NetworkError(ctx, err)
	}
	defer func() { _ = conn.Close() }()
	// It is looked at and nothing is sent over the connection, so that any certificate will do.
	client := tls.Client(conn, &tls.Config{MinVersion: tls.VersionTLS12, ServerName: name, InsecureSkipVerify: true})
	if err := client.HandshakeContext(ctx); err != nil {
		return Certificate{}, NetworkError(ctx, err)
	}
	state := client.ConnectionState()
	if len(state.PeerCertificates) == 0 {
		return Certificate{}, plugin.Errorf(plugin.Untrusted, "the endpoint showed no certificate")
	}
	return describe(state, name), nil
}

func describe(state tls.ConnectionState, name string) Certificate {
	leaf := state.PeerCertificates[0]
	subject := leaf.Subject.CommonName
	c := Certificate{
		Fingerprint: Fingerprint(leaf), Subject: subject[:min(len(subject), maxCertificateText)], Names: CertificateNames(leaf),
		Issuer: CertificateIssuer(leaf), NotBefore: leaf.NotBefore, NotAfter: leaf.NotAfter, SelfSigned: selfSigned(leaf),
	}
	if err := vouched(state, name); err != nil {
		c.Distrust = distrust(err, name)
	}
	return c
}

// selfSigned asks for the signature itself: that subject and issuer are the same name proves nothing.
func selfSigned(cert *x509.Certificate) bool {
	return bytes.Equal(cert.RawSubject, cert.RawIssuer) &&
		cert.CheckSignature(cert.SignatureAlgorithm, cert.RawTBSCertificate, cert.Signature) == nil
}
