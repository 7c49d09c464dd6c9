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

// Format keeps the key out of whatever prints an identity.
func (i Identity) Format(f fmt.State, _ rune) {
	_, _ = io.WriteString(f, "lxdapi.Identity("+i.Fingerprint+")")
}

// ParseIdentity reads one certificate and its key, as endpoint.Credential.ClientCertificate does, with nothing behind them. Anything
// else is Invalid with the field secret; the error holds nothing of the text.
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

// plainFingerprint is the form in which LXD writes fingerprints.
func plainFingerprint(fingerprint string) string {
	return strings.ToLower(strings.ReplaceAll(fingerprint, ":", ""))
}

// DER is the certificate without the key, as a server's list of those whom it trusts takes it.
func (i Identity) DER() []byte { return i.certificate.Certificate[0] }
