package lxdapi

import (
	"bytes"
	"crypto/tls"
	"encoding/pem"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/plugin"
)

// Identity is a client certificate with its key.
type Identity struct {
	certificate tls.Certificate
	// Fingerprint is the SHA-256 of the certificate, in the form of endpoint.Fingerprint: the name under which the server
	// trusts it and by which its events tell who did something.
	Fingerprint string
	// NotAfter is the certificate's end.
	NotAfter time.Time
}

// Format keeps the key out of logs and error messages.
func (i Identity) Format(f fmt.State, _ rune) {
	_, _ = io.WriteString(f, "lxdapi.Identity("+i.Fingerprint+")")
}

// ParseIdentity parses one certificate and its key in PEM, with nothing after
// them. Anything else is Invalid with the field secret, and the error contains
// no part of the text.
func ParseIdentity(secret plugin.Secret) (Identity, error) {
	pair, err := endpoint.Credential{Secret: secret}.ClientCertificate()
	if err != nil {
		return Identity{}, err
	}
	rest := bytes.TrimSpace([]byte(secret))
	for block := new(pem.Block); block != nil; {
		block, rest = pem.Decode(rest)
	}
	if strings.TrimSpace(string(rest)) != "" {
		e := plugin.Errorf(plugin.Invalid, "a credential for LXD must be a certificate and its key in PEM, followed by nothing else")
		e.Field = "secret"
		return Identity{}, e
	}
	return Identity{certificate: pair, Fingerprint: endpoint.Fingerprint(pair.Leaf), NotAfter: pair.Leaf.NotAfter}, nil
}

// plainFingerprint returns a fingerprint in the form that LXD uses: lower case
// without colons.
func plainFingerprint(fingerprint string) string {
	return strings.ToLower(strings.ReplaceAll(fingerprint, ":", ""))
}

// DER returns the certificate without the key, in the form that a server's
// trust store accepts.
func (i Identity) DER() []byte { return i.certificate.Certificate[0] }
