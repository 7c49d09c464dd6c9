package acme

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"golang.org/x/net/idna"
)

// maxDomains is how many names one instance asks certificates for, each one of its own.
const maxDomains = 20

// ParseDomains reads names between commas. They are those of machines as the DNS has them: lower case, punycode, with a dot, no address
// and no wildcard, which the challenges that we answer cannot prove (RFC 8555, section 7.1.3). An empty text is none.
func ParseDomains(text string) ([]string, error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	var domains []string
	for _, part := range strings.Split(text, ",") {
		part = strings.TrimSpace(part)
		domain, err := ascii(part)
		_, notAddress := netip.ParseAddr(part)
		long := func(label string) bool { return label == "" || len(label) > 63 }
		labels := strings.Split(domain, ".")
		if err != nil || notAddress == nil || len(labels) < 2 || len(domain) > 253 || slices.ContainsFunc(labels, long) {
			return nil, fmt.Errorf("%q is not a host name such as hostler.example.com", part)
		}
		if !slices.Contains(domains, domain) {
			domains = append(domains, domain)
		}
	}
	if len(domains) > maxDomains {
		return nil, fmt.Errorf("there are %d names, but at most %d are allowed", len(domains), maxDomains)
	}
	return domains, nil
}

// ascii is a name as certificates have it.
func ascii(name string) (string, error) {
	return idna.Lookup.ToASCII(strings.TrimSuffix(name, "."))
}
