package endpoint

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"github.com/hostler/hostler/sdk/plugin"
	"net"
	"strings"
	"time"
)

// TLSConfig returns the TLS configuration for connections to the target. It checks
// the certificate by the pinned fingerprint, by the system's authorities and the
// name, or not at all, as Target says. The check runs on every connection,
// including resumed sessions. A certificate that fails is Untrusted with the
// fingerprint of the certificate that was presented. An address that is not
// host:port, and a malformed pin, are Invalid.
//
// If seen is not nil, it is called with the fingerprint and expiry time of every
// certificate that passed. It may be called from several connections at the same
// time.
func TLSConfig(target Target, seen func(fingerprint string, notAfter time.Time)) (*tls.Config, error) {
	name, _, err := net.SplitHostPort(target.Address)
	if err != nil {
		return nil, plugin.Errorf(plugin.Invalid, "the target's address must be host:port: %w", err)
	}
	pin := ""
	if target.Fingerprint != "" {
		if pin, err = ParseFingerprint(target.Fingerprint); err != nil {
			return nil, err
		}
	}
	return &tls.Config{
		MinVersion: tls.VersionTLS12,
		ServerName: name,
		// The standard check would not report the fingerprint of a refused
		// certificate. VerifyConnection below makes the same check, and unlike
		// VerifyPeerCertificate it also runs for resumed sessions.
		InsecureSkipVerify: true,
		VerifyConnection: func(state tls.ConnectionState) error {
			if len(state.PeerCertificates) == 0 {
				return plugin.Errorf(plugin.Untrusted, "the endpoint did not present a certificate")
			}
			leaf := state.PeerCertificates[0]
			shown := Fingerprint(leaf)
			if err := trust(state, name, pin, target.VerifyTLS); err != nil {
				err.Fingerprint = shown
				return err
			}
			if seen != nil {
				seen(shown, leaf.NotAfter)
			}
			return nil
		},
	}, nil
}

// trust returns nil if the presented certificate passes.
func trust(state tls.ConnectionState, name, pin string, verify bool) *plugin.Error {
	leaf := state.PeerCertificates[0]
	switch {
	case pin != "":
		if !EqualFingerprint(pin, Fingerprint(leaf)) {
			return plugin.Errorf(plugin.Untrusted, "the endpoint's certificate is not the pinned one")
		}
	case verify:
		if err := vouched(state, name); err != nil {
			return plugin.Errorf(plugin.Untrusted, "the endpoint's certificate is not trusted: %s", distrust(err, name))
		}
	}
	return nil
}

// vouched returns nil if the system's authorities vouch for the certificate under
// that name.
func vouched(state tls.ConnectionState, name string) error {
	opts := x509.VerifyOptions{DNSName: name, Intermediates: x509.NewCertPool()}
	for _, c := range state.PeerCertificates[1:] {
		opts.Intermediates.AddCert(c)
	}
	_, err := state.PeerCertificates[0].Verify(opts)
	return err
}

// distrust explains to an administrator why a certificate did not pass.
func distrust(err error, name string) string {
	var invalid x509.CertificateInvalidError
	switch {
	case errors.As(err, new(x509.UnknownAuthorityError)):
		return "it is not signed by a trusted authority"
	case errors.As(err, new(x509.HostnameError)):
		return "it is not for " + name
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "it has expired or is not valid yet"
	}
	return strings.TrimPrefix(err.Error(), "x509: ")
}
