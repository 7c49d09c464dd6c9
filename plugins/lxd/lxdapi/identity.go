package lxdapi

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"strings"
	"time"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/plugin"
)

const (
	// maxIdentity is the size of a certificate with its key, in bytes; one of ours has 680.
	maxIdentity = 16 << 10
	// identityLife is how long a certificate of ours is valid: it is revoked at the server, not waited for.
	identityLife = 10 * 365 * 24 * time.Hour
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

// NewIdentity makes a P-256 key and a self-signed certificate of it, both as PEM in one text, which ParseIdentity reads.
// The name is for people who look at the server's list of certificates.
func NewIdentity(name string) (plugin.Secret, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return "", fmt.Errorf("making a key: %w", err)
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return "", fmt.Errorf("making a serial number: %w", err)
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: cut(name, 64)},
		NotBefore: now.Add(-24 * time.Hour), NotAfter: now.Add(identityLife), // the server's clock may be behind
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return "", fmt.Errorf("making a certificate: %w", err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return "", fmt.Errorf("encoding a key: %w", err)
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate})
	return plugin.Secret(text) + plugin.Secret(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})), nil
}

// ParseIdentity reads one certificate and its key, PEM in either order. Anything else is Invalid with the field secret; the
// error holds nothing of the text.
func ParseIdentity(secret plugin.Secret) (Identity, error) {
	if len(secret) > maxIdentity {
		return Identity{}, badIdentity("it is longer than %d bytes", maxIdentity)
	}
	var certificate, key []byte
	for rest := bytes.TrimSpace([]byte(secret)); ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			if strings.TrimSpace(string(rest)) != "" {
				return Identity{}, badIdentity("something else stands beside them")
			}
			break
		}
		switch {
		case block.Type == "CERTIFICATE" && certificate == nil:
			certificate = pem.EncodeToMemory(block)
		case block.Type == "ENCRYPTED PRIVATE KEY" || block.Headers["DEK-Info"] != "":
			return Identity{}, badIdentity("the key is encrypted")
		case strings.HasSuffix(block.Type, "PRIVATE KEY") && key == nil:
			key = pem.EncodeToMemory(block)
		default:
			return Identity{}, badIdentity("something else stands beside them")
		}
	}
	if certificate == nil || key == nil {
		return Identity{}, badIdentity("one of them is missing")
	}
	pair, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		return Identity{}, badIdentity("they cannot be read or do not belong together")
	}
	return Identity{certificate: pair, Fingerprint: endpoint.Fingerprint(pair.Leaf), NotAfter: pair.Leaf.NotAfter}, nil
}

func badIdentity(format string, args ...any) error {
	e := plugin.Errorf(plugin.Invalid, "a credential for LXD is a certificate and its key, as PEM: "+format, args...)
	e.Field = "secret"
	return e
}

// plainFingerprint is the form in which LXD writes fingerprints.
func plainFingerprint(fingerprint string) string {
	return strings.ToLower(strings.ReplaceAll(fingerprint, ":", ""))
}

// DER is the certificate without the key, as a server's list of those whom it trusts takes it.
func (i Identity) DER() []byte { return i.certificate.Certificate[0] }
