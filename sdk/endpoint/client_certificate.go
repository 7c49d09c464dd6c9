package endpoint

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
	"math/big"
	"strings"
	"time"

	"github.com/hostler/hostler/sdk/plugin"
)

// ReadClientCertificate reads a credential whose secret is a certificate and its
// private key in PEM, in either order, as people paste them. It returns a
// normalised form: the certificate, then the key in PKCS #8, with the fingerprint
// of the certificate as ID.
//
// A secret with more or less than one certificate and one key, an encrypted key, or
// a key of another certificate is Invalid with the field "secret". An ID that is
// not the certificate's fingerprint is Invalid with the field "id". No error
// contains any part of the key.
func ReadClientCertificate(entered Credential) (Credential, error) {
	certificate, key, err := clientBlocks(entered.Secret)
	if err != nil {
		return Credential{}, err
	}
	pair, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		return Credential{}, badSecret("must have a certificate and its private key")
	}
	read, err := credentialOf(entered.Capability, pair)
	if err != nil {
		return Credential{}, badSecret("must have a private key that can be encoded as PKCS #8")
	}
	if entered.ID != "" && !EqualFingerprint(entered.ID, read.ID) {
		e := plugin.Errorf(plugin.Invalid, "must be empty or the SHA-256 of the certificate")
		e.Field = "id"
		return Credential{}, e
	}
	return read, nil
}

// NewClientCertificate generates an ECDSA P-256 key and a self-signed certificate
// that is valid for ten years, and returns them as a credential in the form of
// ReadClientCertificate.
func NewClientCertificate(capability Capability) (Credential, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return Credential{}, fmt.Errorf("cannot create a key: %w", err)
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return Credential{}, fmt.Errorf("cannot create a serial number: %w", err)
	}
	template := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: "hostler " + string(capability)},
		// The validity starts a day ago, because the endpoint's clock may be
		// behind.
		NotBefore: time.Now().Add(-24 * time.Hour), NotAfter: time.Now().AddDate(10, 0, 0),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return Credential{}, fmt.Errorf("cannot create a certificate: %w", err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		return Credential{}, fmt.Errorf("cannot read the certificate: %w", err)
	}
	return credentialOf(capability, tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf})
}

// ClientCertificate returns the certificate and key of a credential of
// ReadClientCertificate or NewClientCertificate, for tls.Config.Certificates. It
// returns Invalid with the field "secret" if the secret has another form.
func (c Credential) ClientCertificate() (tls.Certificate, error) {
	certificate, key, err := clientBlocks(c.Secret)
	if err != nil {
		return tls.Certificate{}, err
	}
	pair, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		return tls.Certificate{}, badSecret("must have a certificate and its private key")
	}
	return pair, nil
}

// credentialOf encodes a certificate and its key in the normalised form.
func credentialOf(capability Capability, pair tls.Certificate) (Credential, error) {
	key, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	if err != nil {
		return Credential{}, fmt.Errorf("cannot encode the key: %w", err)
	}
	var text bytes.Buffer
	_ = pem.Encode(&text, &pem.Block{Type: "CERTIFICATE", Bytes: pair.Certificate[0]}) // a Buffer takes all
	_ = pem.Encode(&text, &pem.Block{Type: "PRIVATE KEY", Bytes: key})
	return Credential{
		Capability: capability, Form: FormClientCertificate, ID: Fingerprint(pair.Leaf), Secret: plugin.Secret(text.String()),
	}, nil
}

// clientBlocks finds the only certificate and the only key in a secret and returns
// each as PEM.
func clientBlocks(secret plugin.Secret) (certificate, key []byte, err error) {
	if len(secret) > MaxSecret {
		return nil, nil, badSecret(fmt.Sprintf("must have at most %d bytes", MaxSecret))
	}
	for block, rest := pem.Decode(bytes.TrimSpace([]byte(secret))); block != nil; block, rest = pem.Decode(rest) {
		at := &key
		switch {
		case block.Type == "CERTIFICATE":
			at = &certificate
		case block.Type == "EC PARAMETERS": // which openssl writes before the key that has them too
			continue
		case block.Type == "ENCRYPTED PRIVATE KEY" || block.Headers["DEK-Info"] != "":
			return nil, nil, badSecret("must have a private key without a passphrase")
		case !strings.HasSuffix(block.Type, "PRIVATE KEY"):
			return nil, nil, badSecret("must have a certificate and its private key in PEM, and nothing else")
		}
		if *at != nil {
			return nil, nil, badSecret("must have one certificate and one private key")
		}
		*at = pem.EncodeToMemory(block)
	}
	if certificate == nil || key == nil {
		return nil, nil, badSecret("must have a certificate and its private key in PEM")
	}
	return certificate, key, nil
}

// badSecret returns Invalid with the field "secret". The message must not contain
// any part of the secret.
func badSecret(message string) *plugin.Error {
	e := plugin.Errorf(plugin.Invalid, "%s", message)
	e.Field = "secret"
	return e
}
