package pvefirewall

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
)

// reference is a name in a rule or a member: bare, or with one scope.
type reference struct {
	scope string // "", dc, guest, sdn
	name  string
}

// aliasReference reads an alias with or without its scope; ok is false for
// other texts.
func aliasReference(s string) (reference, bool) {
	for _, scope := range []string{"dc", "guest"} {
		if name, cut := strings.CutPrefix(s, scope+"/"); cut {
			return reference{scope, name}, isName(name)
		}
	}
	return reference{"", s}, isName(s)
}

// setReference reads +name, +dc/name, +guest/name or +sdn/name.
func setReference(s string) (reference, bool) {
	s = strings.TrimPrefix(s, "+")
	if scope, name, cut := strings.Cut(s, "/"); cut {
		return reference{scope, name}, (scope == "dc" || scope == "guest" || scope == "sdn") && isName(name)
	}
	return reference{"", s}, isName(s)
}

// parseCIDR reads an address or network of an alias or a member. It accepts
// host bits. bits is the number after the slash, or -1; it may exceed the
// length of the address, which the kernel refuses.
func parseCIDR(s string) (address netip.Addr, bits int, err error) {
	text, length, slash := strings.Cut(s, "/")
	address, err = netip.ParseAddr(text)
	if err != nil || address.Zone() != "" || address.Is4In6() || slash && !isNumber(length) {
		return netip.Addr{}, 0, errors.New("value does not look like a valid IP address or CIDR network")
	}
	if !slash {
		return address, -1, nil
	}
	bits, ok := smallNumber(length, 128)
	if !ok {
		bits = 129
	}
	return address, bits, nil
}

// prefixOf returns the network of a result of parseCIDR; ok is false if bits
// exceeds the length of the address.
func prefixOf(address netip.Addr, bits int) (netip.Prefix, bool) {
	if bits < 0 {
		bits = address.BitLen()
	}
	p := netip.PrefixFrom(address, bits)
	return p, p.IsValid()
}

// familyOf returns the IP version of an address, 4 or 6.
func familyOf(a netip.Addr) int {
	if a.Is4() {
		return 4
	}
	return 6
}

// parseAddresses reads literal addresses: one, a comma list, or one range.
func parseAddresses(s string) (spans []span, family int, err error) {
	if strings.HasSuffix(s, ",") {
		return nil, 0, errors.New("extraneous commas in list")
	}
	ranged := false
	for item := range strings.SplitSeq(s, ",") {
		one, isRange, err := parseSpan(item)
		if err != nil {
			return nil, 0, err
		}
		ranged = ranged || isRange
		f := familyOf(one.first)
		if family != 0 && family != f {
			return nil, 0, fmt.Errorf("detected mixed ipv4/ipv6 addresses in address list '%.80s'", s)
		}
		family = f
		spans = append(spans, one)
	}
	if ranged && len(spans) > 1 {
		return nil, 0, errors.New("you can't use a range in a list")
	}
	return spans, family, nil
}

// parseSpan reads an address, a network or a range "first-last". isRange
// reports a range, which not every place accepts.
func parseSpan(s string) (one span, isRange bool, err error) {
	bad := fmt.Errorf("invalid IP address: %.60q", s)
	if from, to, cut := strings.Cut(s, "-"); cut {
		first, err := netip.ParseAddr(from)
		if err != nil {
			return span{}, true, bad
		}
		last, err := netip.ParseAddr(to)
		if err != nil || first.BitLen() != last.BitLen() || first.Zone()+last.Zone() != "" || last.Less(first) {
			return span{}, true, bad
		}
		return span{first, last}, true, nil
	}
	address, bits, err := parseCIDR(s)
	if err != nil {
		return span{}, false, bad
	}
	p, ok := prefixOf(address, bits)
	if !ok || p.Masked() != p {
		return span{}, false, bad
	}
	return spanOf(p), false, nil
}
