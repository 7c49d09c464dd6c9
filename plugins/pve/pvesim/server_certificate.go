package pvesim

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"fmt"
	"math/big"
	"net"
	"strings"
	"sync"
	"time"
)

// certificate is a node's TLS certificate. A renewal brings new session keys with it, so no session of before resumes.
type certificate struct {
	mu     sync.RWMutex
	leaf   []byte
	config *tls.Config
}

// renew makes a new self-signed certificate for the node's name and addresses.
func (t *certificate) renew(name, ip string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return fmt.Errorf("making key of node %s: %w", name, err)
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return fmt.Errorf("making serial of node %s: %w", name, err)
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: serial,
		Subject: pkix.Name{
			OrganizationalUnit: []string{"PVE Cluster Node"}, Organization: []string{"Proxmox Virtual Environment"},
			CommonName: name + ".sim.test",
		},
		NotBefore: now.Add(-time.Hour), NotAfter: now.AddDate(2, 0, 0),
		DNSNames: []string{name, name + ".sim.test", "localhost"}, IPAddresses: []net.IP{net.ParseIP(ip), net.IPv4(127, 0, 0, 1),
			net.IPv6loopback},
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return fmt.Errorf("signing certificate of node %s: %w", name, err)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.leaf = der
	t.config = &tls.Config{
		Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}},
		MinVersion:   tls.VersionTLS12,
		NextProtos:   []string{"http/1.1"},
	}
	return nil
}

// der is the leaf as it is.
func (t *certificate) der() []byte {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.leaf
}

// fingerprint is the SHA-256 of the leaf, in upper-case hexadecimal with colons.
func (t *certificate) fingerprint() string {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return colons(sha256.Sum256(t.leaf))
}

// colons is a sum in upper-case hexadecimal with colons.
func colons(sum [sha256.Size]byte) string {
	h := strings.ToUpper(hex.EncodeToString(sum[:]))
	parts := make([]string, 0, len(sum))
	for i := 0; i < len(h); i += 2 {
		parts = append(parts, h[i:i+2])
	}
	return strings.Join(parts, ":")
}

// serverConfig hands each connection the certificate of the moment.
func (t *certificate) serverConfig() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12,
		NextProtos: []string{"http/1.1"},
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
			t.mu.RLock()
			defer t.mu.RUnlock()
			return t.config, nil
		},
	}
}

// RenewCertificate gives a node a new certificate, closes its connections as a reload does, and returns the new fingerprint.
// An empty name means the first node.
func (c *Cluster) RenewCertificate(name string) (string, error) {
	c.mu.Lock()
	n := c.nodes[0]
	if name != "" {
		n = c.nodeByName(name)
	}
	c.mu.Unlock()
	if n == nil {
		return "", fmt.Errorf("no node %q", name)
	}
	if err := n.cert.renew(n.name, n.ip); err != nil {
		return "", err
	}
	c.server.dropConnections(n.name)
	return n.cert.fingerprint(), nil
}

// Fingerprint returns a node's certificate fingerprint, "" for an unknown node. An empty name means the first node.
func (c *Cluster) Fingerprint(name string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.nodes[0]
	if name != "" {
		n = c.nodeByName(name)
	}
	if n == nil {
		return ""
	}
	return n.cert.fingerprint()
}
