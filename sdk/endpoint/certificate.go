package endpoint

import (
	"crypto/x509"
	"slices"
)

// Limits of what is reported of a certificate: the number of names, and the bytes
// of each text. The server chooses the content of its certificate, so it is
// untrusted input.
const (
	maxCertificateNames = 64
	maxCertificateText  = 255
)

// CertificateNames returns the names that a certificate is issued for: its DNS
// names, then its IP addresses, each once, at most 64 of at most 255 bytes. It
// returns nil if there are none. The common name is not one of them: it has not
// been used for verification since RFC 6125 (section 6.4.4) deprecated it and Go
// stopped to consider it.
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

// CertificateIssuer returns the distinguished name of the issuer, cut to 255 bytes.
func CertificateIssuer(cert *x509.Certificate) string {
	issuer := cert.Issuer.String()
	return issuer[:min(len(issuer), maxCertificateText)]
}
