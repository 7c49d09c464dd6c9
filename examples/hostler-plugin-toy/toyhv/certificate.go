package toyhv

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"strings"
	"time"
)

// selfSigned makes a certificate as hypervisors do when they are installed: no authority knows it. Clients are asked for one of
// their own, which no authority needs to know either: whether it is known is looked up by its fingerprint.
func selfSigned() (config *tls.Config, fingerprint string, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, "", fmt.Errorf("making a key: %w", err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: Node},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(365 * 24 * time.Hour),
		DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return nil, "", fmt.Errorf("signing a certificate: %w", err)
	}
	return &tls.Config{
		MinVersion: tls.VersionTLS12, ClientAuth: tls.RequestClientCert,
		Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}},
	}, Fingerprint(der), nil
}

// Fingerprint is the SHA-256 of a certificate in DER, hexadecimal with colons.
func Fingerprint(der []byte) string {
	pairs := strings.TrimSpace(fmt.Sprintf("% X", sha256.Sum256(der)))
	return strings.ReplaceAll(pairs, " ", ":")
}

// quiet takes the complaints about clients that do not trust the certificate, which is what a careful client does.
func quiet() *log.Logger { return log.New(io.Discard, "", 0) }
