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

// Certificate describes the certificate that an endpoint presents, and whether this
// system trusts it.
type Certificate struct {
	// Fingerprint is its SHA-256, in the form of the function Fingerprint.
	Fingerprint string
	// Subject is its common name, cut to 255 bytes. Names and Issuer are the
	// results of CertificateNames and CertificateIssuer.
	Subject string
	Names   []string
	Issuer  string
	// NotBefore and NotAfter bound its validity.
	NotBefore, NotAfter time.Time
	// SelfSigned is true if the certificate is signed with its own key. Only a pin
	// can establish trust in it.
	SelfSigned bool
	// Distrust explains to people why the system's authorities do not vouch for the
	// certificate under the name of the address. It is empty if they do.
	Distrust string
}

// ReadCertificate connects to the target, reads the certificate that it presents
// and closes the connection. It sends the TLS handshake and nothing else, in
// particular no credential. It accepts any certificate and ignores Fingerprint and
// VerifyTLS of the target. It does not dial addresses that DialControl refuses. An
// address that is not host:port is Invalid, a server without certificate is
// Untrusted, and other errors are those of NetworkError.
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
	// The certificate is only looked at and nothing is sent over the connection, so
	// it need not be verified.
	client := tls.Client(conn, &tls.Config{MinVersion: tls.VersionTLS12, ServerName: name, InsecureSkipVerify: true})
	if err := client.HandshakeContext(ctx); err != nil {
		return Certificate{}, NetworkError(ctx, err)
	}
	state := client.ConnectionState()
	if len(state.PeerCertificates) == 0 {
		return Certificate{}, plugin.Errorf(plugin.Untrusted, "the endpoint did not present a certificate")
	}
	return describe(state, name), nil
}

// describe reads the server's certificate from the state of a handshake. The name
// is that under which the system's authorities should vouch for it.
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

// selfSigned verifies the signature itself: a certificate whose subject equals its
// issuer may still be signed with another key.
func selfSigned(cert *x509.Certificate) bool {
	return bytes.Equal(cert.RawSubject, cert.RawIssuer) &&
		cert.CheckSignature(cert.SignatureAlgorithm, cert.RawTBSCertificate, cert.Signature) == nil
}
