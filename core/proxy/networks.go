package proxy

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// ParseNetworks reads the networks of the proxies that are believed: addresses and networks in CIDR form, between commas or
// blanks. The empty text is none. All faults are told at once.
func ParseNetworks(text string) ([]netip.Prefix, error) {
	var networks []netip.Prefix
	var faults []error
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' || r == '\n' }) {
		network, err := parseNetwork(word)
		if err != nil {
			faults = append(faults, err)
		} else if !slices.Contains(networks, network) {
			networks = append(networks, network)
		}
	}
	return networks, errors.Join(faults...)
}

func parseNetwork(word string) (netip.Prefix, error) {
	var network netip.Prefix
	if address, err := netip.ParseAddr(word); err == nil {
		if address.Zone() != "" {
			return netip.Prefix{}, fmt.Errorf("%q has a zone, which is not allowed in a network", word)
		}
		address = address.Unmap()
		network = netip.PrefixFrom(address, address.BitLen())
	} else if network, err = netip.ParsePrefix(word); err != nil {
		return netip.Prefix{}, fmt.Errorf("%q is not an address or a network like 10.0.0.0/8", word)
	}
	switch {
	case network.Bits() == 0:
		return netip.Prefix{}, fmt.Errorf("%q includes everyone: list the addresses of the proxies", word)
	case network.Addr().Is4In6():
		return netip.Prefix{}, fmt.Errorf("%q is an IPv4 network: write it as one", word)
	case network != network.Masked():
		return netip.Prefix{}, fmt.Errorf("%q has bits beyond its prefix length: the network would be %s", word, network.Masked())
	}
	return network, nil
}
