package endpoint_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/plugin"
)

// root is the one authority that this process takes for the system's.
var root *signer

// The system's authorities are read once for each process, from the files that these variables name.
func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "authority")
		if err != nil {
			fmt.Fprintln(os.Stderr, "making a folder for the authority:", err)
			return 1
		}
		defer func() { _ = os.RemoveAll(dir) }()
		if root, err = newSigner(nil, "A trusted authority"); err != nil {
			fmt.Fprintln(os.Stderr, "making the authority:", err)
			return 1
		}
		file := filepath.Join(dir, "root.pem")
		if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: root.cert.Raw}), 0o600); err != nil {
			fmt.Fprintln(os.Stderr, "writing the authority:", err)
			return 1
		}
		_ = os.Setenv("SSL_CERT_FILE", file)
		_ = os.Setenv("SSL_CERT_DIR", filepath.Join(dir, "none"))
		return m.Run()
	}())
}

// signer signs certificates.
type signer struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// newSigner makes an authority that by has signed, or one that signs itself.
func newSigner(by *signer, name string) (*signer, error) {
	return sign(by, &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign, NotBefore: time.Now().Add(-48 * time.Hour), NotAfter: time.Now().Add(48 * time.Hour),
	})
}

func sign(by *signer, template *x509.Certificate) (*signer, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	if by == nil {
		by = &signer{template, key}
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, by.cert, &key.PublicKey, by.key)
	if err != nil {
		return nil, err
	}
	cert, err := x509.ParseCertificate(raw)
	return &signer{cert, key}, err
}

// shake makes a connection to a server that shows the chain, and checks it as the target's driver would.
func shake(t *testing.T, chain [][]byte, key *ecdsa.PrivateKey, target endpoint.Target) error {
	t.Helper()
	config, err := endpoint.TLSConfig(target, nil)
	if err != nil {
		t.Fatal("making the configuration:", err)
	}
	listener, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{{Certificate: chain, PrivateKey: key}}})
	if err != nil {
		t.Fatal("listening:", err)
	}
	defer func() { _ = listener.Close() }()
	go func() {
		if conn, err := listener.Accept(); err == nil {
			_ = conn.(*tls.Conn).HandshakeContext(t.Context())
			_ = conn.Close()
		}
	}()
	// The server stands at loopback; the name that is checked is the target's.
	conn, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal("dialling:", err)
	}
	defer func() { _ = conn.Close() }()
	return tls.Client(conn, config).HandshakeContext(t.Context())
}

func TestCertificatesOfAnAuthority(t *testing.T) {
	t.Parallel()
	between, err := newSigner(root, "Between")
	if err != nil {
		t.Fatal(err)
	}
	stranger, err := newSigner(nil, "A trusted authority") // only by name
	if err != nil {
		t.Fatal(err)
	}
	const pve = "pve.example:8006"
	for name, c := range map[string]struct {
		by      *signer
		with    []*signer // what is shown beside the leaf
		change  func(*x509.Certificate)
		address string
		fault   string // empty when it passes
	}{
		"the right name":                    {by: root, address: pve},
		"the right name in capitals":        {by: root, address: "PVE.example:8006"},
		"another name":                      {by: root, address: "evil.example:8006", fault: "not for evil.example"},
		"a name above":                      {by: root, address: "example:8006", fault: "not for example"},
		"a name below":                      {by: root, address: "a.pve.example:8006", fault: "not for a.pve.example"},
		"a wildcard":                        {by: root, address: "any.lab.example:8006"},
		"a wildcard, two levels":            {by: root, address: "a.b.lab.example:8006", fault: "not for a.b.lab.example"},
		"the right address":                 {by: root, address: "192.0.2.1:8006"},
		"the right IPv6 address":            {by: root, address: "[2001:db8::1]:8006"},
		"another address":                   {by: root, address: "192.0.2.2:8006", fault: "not for 192.0.2.2"},
		"an intermediate that is shown":     {by: between, with: []*signer{between}, address: pve},
		"an intermediate that is not shown": {by: between, address: pve, fault: "not signed by a trusted authority"},
		"an authority of the same name": {by: stranger, with: []*signer{stranger}, address: pve,
			fault: "not signed by a trusted authority"},
		"expired": {by: root, address: pve, change: func(c *x509.Certificate) { c.NotAfter = time.Now().Add(-time.Hour) },
			fault: "expired"},
		"not valid yet": {by: root, address: pve, change: func(c *x509.Certificate) { c.NotBefore = time.Now().Add(time.Hour) },
			fault: "not valid yet"},
		"not for servers": {by: root, address: pve, change: func(c *x509.Certificate) {
			c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
		}, fault: "incompatible key usage"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			template := &x509.Certificate{
				SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "evil.example"}, DNSNames: []string{"pve.example", "*.lab.example"},
				IPAddresses: []net.IP{net.ParseIP("192.0.2.1"), net.ParseIP("2001:db8::1")}, NotBefore: time.Now().Add(-24 * time.Hour),
				NotAfter: time.Now().Add(24 * time.Hour),
			}
			if c.change != nil {
				c.change(template)
			}
			leaf, err := sign(c.by, template)
			if err != nil {
				t.Fatal(err)
			}
			chain := [][]byte{leaf.cert.Raw}
			for _, s := range c.with {
				chain = append(chain, s.cert.Raw)
			}
			err = shake(t, chain, leaf.key, endpoint.Target{Address: c.address, VerifyTLS: true})
			var e *plugin.Error
			switch {
			case c.fault == "" && err != nil:
				t.Error("it does not pass:", err)
			case c.fault != "" && (!errors.As(err, &e) || e.Kind != plugin.Untrusted || !strings.Contains(e.Message, c.fault) ||
				e.Fingerprint != endpoint.Fingerprint(leaf.cert)):
				t.Errorf("error is %v, want untrusted with %q", err, c.fault)
			}
			// A pin decides alone.
			if err := shake(t, chain, leaf.key,
				endpoint.Target{Address: c.address, VerifyTLS: true, Fingerprint: endpoint.Fingerprint(leaf.cert)}); err != nil {
				t.Error("with its own fingerprint pinned:", err)
			}
			if c.fault == "" {
				if err := shake(t, chain, leaf.key,
					endpoint.Target{Address: c.address, VerifyTLS: true, Fingerprint: endpoint.Fingerprint(root.cert)}); err == nil {
					t.Error("passes with another fingerprint pinned")
				}
			}
		})
	}
}
