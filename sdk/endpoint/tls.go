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

// TLSConfig is how a driver checks the target's certificate: by the pinned fingerprint, by the system's authorities and
// the name, or not at all, as Target says. The check is made on every connection, resumed ones included. A certificate
// that does not pass is Untrusted with the fingerprint that was shown.
//
// seen, when it is not nil, is told the fingerprint and end of every certificate that passed; it may be called at the
// same time from several connections.
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
		// The standard check would not tell the fingerprint; VerifyConnection makes the same one, and unlike
		// VerifyPeerCertificate it is called for resumed sessions too.
		InsecureSkipVerify: true,
		VerifyConnection: func(state tls.ConnectionState) error {
			if len(state.PeerCertificates) == 0 {
				return plugin.Errorf(plugin.Untrusted, "the endpoint showed no certificate")
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

// trust is nil when the shown certificate passes.
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

// vouched is nil when the system's authorities vouch for the shown certificate under that name.
func vouched(state tls.ConnectionState, name string) error {
	opts := x509.VerifyOptions{DNSName: name, Intermediates: x509.NewCertPool()}
	for _, c := range state.PeerCertificates[1:] {
		opts.Intermediates.AddCert(c)
	}
	_, err := state.PeerCertificates[0].Verify(opts)
	return err
}

// distrust says why a certificate did not pass, in words for the one who looks after the endpoint.
func distrust(err error, name string) string {
	var invalid x509.CertificateInvalidError
	switch {
	case errors.As(err, new(x509.UnknownAuthorityError)):
		return "no authority that this system knows has signed it"
	case errors.As(err, new(x509.HostnameError)):
		return "it is not for " + name
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "it has expired or is not valid yet"
	}
	return strings.TrimPrefix(err.Error(), "x509: ")
}
