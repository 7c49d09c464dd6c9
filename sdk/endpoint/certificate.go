package endpoint

import (
	"crypto/x509"
	"slices"
)

// What is told of a certificate is bounded: whoever shows one writes into it what he likes.
const (
	maxCertificateNames = 64
	maxCertificateText  = 255
)

// CertificateNames are what a certificate is for: its DNS names, then its addresses, each once, at most 64 of at most 255 bytes. A
// certificate without any gives nil; its common name is none, as nothing that checks certificates takes it for one any more.
func CertificateNames(cert *x509.Certificate) []string {
	var names []string
	add := func(name string) {
		if len(names) < maxCertificateNames && name != "" && len(name) <= maxCertificateText && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, name := range cert.DNSNames {
		add(name)
	}
	for _, address := range cert.IPAddresses {
		add(address.String())
	}
	return names
}

// CertificateIssuer is who has signed a certificate, as a distinguished name of at most 255 bytes.
func CertificateIssuer(cert *x509.Certificate) string {
	issuer := cert.Issuer.String()
	return issuer[:min(len(issuer), maxCertificateText)]
}
