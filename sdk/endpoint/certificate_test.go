package endpoint_test

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"

	"github.com/hostler/hostler/sdk/endpoint"
)

func TestCertificateNames(t *testing.T) {
	t.Parallel()
	many := make([]string, 1000)
	for i := range many {
		many[i] = fmt.Sprintf("n%d.example", i)
	}
	for _, c := range []struct {
		shown *x509.Certificate
		want  []string
	}{
		{&x509.Certificate{Subject: pkix.Name{CommonName: "old.example"}}, nil},
		{&x509.Certificate{DNSNames: []string{"pve1", "pve1.example", "pve1"}, IPAddresses: []net.IP{net.IPv4(192, 0, 2, 1), net.IPv6loopback}},
			[]string{"pve1", "pve1.example", "192.0.2.1", "::1"}},
		{&x509.Certificate{DNSNames: []string{strings.Repeat("a", 256), "", "b"}}, []string{"b"}},
		{&x509.Certificate{DNSNames: many}, many[:64]},
	} {
		if got := endpoint.CertificateNames(c.shown); !slices.Equal(got, c.want) {
			t.Errorf("names are %q, want %q", got, c.want)
		}
	}
}

func TestCertificateIssuer(t *testing.T) {
	t.Parallel()
	shown := &x509.Certificate{Issuer: pkix.Name{CommonName: "Proxmox Virtual Environment", Organization: []string{"PVE Cluster Manager CA"}}}
	if got := endpoint.CertificateIssuer(shown); got != "CN=Proxmox Virtual Environment,O=PVE Cluster Manager CA" {
		t.Errorf("the issuer is %q", got)
	}
	shown.Issuer.CommonName = strings.Repeat("x", 5000)
	if got := endpoint.CertificateIssuer(shown); len(got) != 255 {
		t.Errorf("the issuer has %d bytes", len(got))
	}
}
