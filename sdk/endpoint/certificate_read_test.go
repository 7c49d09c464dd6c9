package endpoint_test

import (
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"io"
	"math/big"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/plugin"
)

// present shows the chain to everybody and gives what it was sent after each handshake.
func present(t *testing.T, by *signer, template *x509.Certificate) (address string, leaf *signer, sent chan string) {
	t.Helper()
	leaf, err := sign(by, template)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := tls.Listen("tcp", "127.0.0.1:0",
		&tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{leaf.cert.Raw}, PrivateKey: leaf.key}}})
	if err != nil {
		t.Fatal("listening:", err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	sent = make(chan string, 10)
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			all, _ := io.ReadAll(conn)
			sent <- string(all)
			_ = conn.Close()
		}
	}()
	return listener.Addr().String(), leaf, sent
}

func TestReadCertificate(t *testing.T) {
	t.Parallel()
	template := func(change func(*x509.Certificate)) *x509.Certificate {
		c := &x509.Certificate{SerialNumber: big.NewInt(7), Subject: pkix.Name{CommonName: "node.example"},
			DNSNames: []string{"node", "node.example"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
			NotBefore: time.Now().Add(-time.Hour).Truncate(time.Second).UTC(), NotAfter: time.Now().Add(time.Hour).Truncate(time.Second).UTC()}
		if change != nil {
			change(c)
		}
		return c
	}
	stranger, err := newSigner(nil, "A trusted authority")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		by       *signer
		change   func(*x509.Certificate)
		self     bool
		distrust string
	}{
		"of an authority":    {by: root},
		"of a stranger":      {by: stranger, distrust: "not signed by a trusted authority"},
		"that signed itself": {self: true, distrust: "not signed by a trusted authority"},
		"of another name":    {by: root, change: func(c *x509.Certificate) { c.IPAddresses = nil }, distrust: "not for 127.0.0.1"},
		"that has expired":   {by: root, change: func(c *x509.Certificate) { c.NotAfter = c.NotBefore.Add(time.Minute) }, distrust: "expired"},
		"named as its authority": {by: stranger, change: func(c *x509.Certificate) { c.Subject = stranger.cert.Subject },
			distrust: "not signed by a trusted authority"},
		"with a long name": {by: root, change: func(c *x509.Certificate) { c.Subject.CommonName = strings.Repeat("x", 5000) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address, leaf, sent := present(t, c.by, template(c.change))
			got, err := endpoint.ReadCertificate(t.Context(), endpoint.Target{Address: address, AllowLocal: true, VerifyTLS: true,
				Fingerprint: endpoint.Fingerprint(root.cert), Credential: endpoint.Credential{ID: "canary", Secret: "canary"}})
			if err != nil {
				t.Fatal(err)
			}
			subject := leaf.cert.Subject.CommonName
			if got.Fingerprint != endpoint.Fingerprint(leaf.cert) || got.Subject != subject[:min(len(subject), 255)] ||
				got.Issuer != leaf.cert.Issuer.String()[:min(len(leaf.cert.Issuer.String()), 255)] ||
				!got.NotBefore.Equal(leaf.cert.NotBefore) || !got.NotAfter.Equal(leaf.cert.NotAfter) || got.SelfSigned != c.self ||
				len(got.Names) != 2+len(leaf.cert.IPAddresses) {
				t.Errorf("read %+v", got)
			}
			if c.distrust == "" && got.Distrust != "" || !strings.Contains(got.Distrust, c.distrust) {
				t.Errorf("it is not trusted because %q, want %q", got.Distrust, c.distrust)
			}
			if after := <-sent; after != "" {
				t.Errorf("%q was sent", after)
			}
		})
	}
}

func TestReadCertificateOfNobody(t *testing.T) {
	t.Parallel()
	plain, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = plain.Close() }()
	go func() {
		for {
			conn, err := plain.Accept()
			if err != nil {
				return
			}
			_, _ = io.WriteString(conn, "HTTP/1.1 400 Bad Request\r\n\r\n")
			_ = conn.Close()
		}
	}()
	for address, want := range map[string]plugin.ErrorKind{plain.Addr().String(): plugin.Protocol, "no-port": plugin.Invalid} {
		_, err := endpoint.ReadCertificate(t.Context(), endpoint.Target{Address: address, AllowLocal: true})
		if plugin.KindOf(err) != want {
			t.Errorf("%s: error is %v, want %s", address, err, want)
		}
	}
	if _, err := endpoint.ReadCertificate(t.Context(),
		endpoint.Target{Address: plain.Addr().String()}); plugin.KindOf(err) != plugin.Forbidden {
		t.Errorf("loopback: error is %v, want forbidden", err)
	}
}
