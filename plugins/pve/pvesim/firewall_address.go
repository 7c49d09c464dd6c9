package pvesim

import (
	"errors"
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var (
	firewallNamePattern = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]+$`)
	aliasPattern        = regexp.MustCompile(`^(dc/|guest/)?([A-Za-z][A-Za-z0-9_-]+)$`)
	ipsetPattern        = regexp.MustCompile(`^\+(dc/|guest/)?([A-Za-z][A-Za-z0-9_-]+)$`)
)

// parseAddress reads an address, a network without host bits, or a range of
// addresses, and tells its family: 4 or 6.
func parseAddress(s string) (family int, err error) {
	first, last, isRange := strings.Cut(s, "-")
	if isRange {
		from, err := netip.ParseAddr(strings.TrimSpace(first))
		if err != nil {
			return 0, fmt.Errorf("invalid IP address: cannot read %s", first)
		}
		to, err := netip.ParseAddr(strings.TrimSpace(last))
		if err != nil || from.Is4() != to.Is4() || to.Less(from) {
			return 0, fmt.Errorf("invalid IP address: %s is no range", s)
		}
		return familyOf(from), nil
	}
	if strings.Contains(s, "/") {
		p, err := netip.ParsePrefix(s)
		if err != nil || p.Masked().Addr() != p.Addr() {
			return 0, fmt.Errorf("invalid IP address: Invalid prefix %s", s)
		}
		return familyOf(p.Addr()), nil
	}
	a, err := netip.ParseAddr(s)
	if err != nil || a.Zone() != "" {
		return 0, fmt.Errorf("invalid IP address: cannot read %s", s)
	}
	return familyOf(a), nil
}

// addressFamily tells the family of an address or a network, which may have bits of the host.
func addressFamily(s string) (int, error) {
	address, _, _ := strings.Cut(s, "/")
	a, err := netip.ParseAddr(address)
	if err != nil || a.Zone() != "" || !isIPorCIDR(s) {
		return 0, errors.New(textIPorCIDR)
	}
	return familyOf(a), nil
}

// zeroLengthPattern matches a network of length zero, which the original writes
// in a form of its own.
var zeroLengthPattern = regexp.MustCompile(`/0+$`)

// withoutFullLength takes off the length of a network that is one address, as
// the real server does when it reads its file.
func withoutFullLength(cidr string) string {
	if family, err := addressFamily(cidr); err == nil {
		return strings.TrimSuffix(cidr, map[int]string{4: "/32", 6: "/128"}[family])
	}
	return cidr
}

// maskedNetwork takes bits of the host off a network. One of length 0 stays as it is.
func maskedNetwork(cidr string) string {
	p, err := netip.ParsePrefix(cidr)
	if err != nil || p.Bits() == 0 {
		return cidr
	}
	return withoutFullLength(p.Masked().String())
}

// familyOf returns the IP version of an address.
func familyOf(a netip.Addr) int {
	if a.Is4() {
		return 4
	}
	return 6
}

// parseAddressSpec reads source or dest of a rule. Names of aliases and sets
// have no family of their own.
func parseAddressSpec(s string) (family int, err error) {
	if strings.HasPrefix(s, "+") || aliasPattern.MatchString(s) {
		if len(s) > 65 {
			return 0, errors.New("name too long")
		}
		return 0, nil
	}
	elements := strings.Split(s, ",")
	if s == "" {
		return 0, nil
	}
	if slices.Contains(elements, "") {
		return 0, errors.New("extraneous commas in list")
	}
	for _, e := range elements {
		f, err := parseAddress(e)
		switch {
		case err != nil:
			return 0, err
		case family != 0 && f != family:
			return 0, fmt.Errorf("detected mixed ipv4/ipv6 addresses in address list '%s'", s)
		case strings.Contains(e, "-") && len(elements) > 1:
			return 0, errors.New("you can't use a range in a list")
		}
		family = f
	}
	return family, nil
}

// maxPorts is how many numbers a list of ports may have; a range counts as two.
const maxPorts = 15

// checkPorts returns what is wrong with the ports of a rule. Where icmp is set
// a single name of an ICMP type passes as well.
func checkPorts(s string, icmp bool) error {
	elements := strings.Split(s, ",")
	if s == "" {
		return nil
	}
	if slices.Contains(elements, "") {
		return errors.New("extraneous commas in list")
	}
	count := 0
	for _, e := range elements {
		from, to, isRange := strings.Cut(e, ":")
		if !isNumber(from) || isRange && !isNumber(to) {
			if icmp && (icmpTypes[e] || icmpv6Types[e]) && len(elements) == 1 || servicePorts[e] {
				count++
				continue
			}
			return fmt.Errorf("invalid port '%s'", e)
		}
		for _, port := range []string{from, to} {
			if n, err := strconv.Atoi(port); port != "" && (err != nil || n > 65535) {
				return fmt.Errorf("invalid port '%s'", port)
			}
		}
		count++
		if isRange {
			count++
			low, _ := strconv.Atoi(from)
			high, _ := strconv.Atoi(to)
			if low > high {
				return fmt.Errorf("backwards range '%d:%d' not allowed, did you mean '%d:%d'?", low, high, high, low)
			}
		}
	}
	if count > maxPorts {
		return fmt.Errorf("too many entries in port list (> %d numbers)", maxPorts)
	}
	return nil
}

// isNumber reports whether s consists of digits.
func isNumber(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// firewallFormats are the named formats of rules. Nothing passes: it takes a field out of a rule.
var firewallFormats = map[string]func(string) string{
	"pve-fw-addr-spec":  func(s string) string { _, err := parseAddressSpec(s); return errorText(err) },
	"pve-fw-dport-spec": func(s string) string { return errorText(checkPorts(s, true)) },
	"pve-fw-sport-spec": func(s string) string { return errorText(checkPorts(s, false)) },
	"pve-fw-protocol-spec": func(s string) string {
		if n, err := strconv.Atoi(s); s == "" || protocols[s] || err == nil && n >= 0 && n <= 255 {
			return ""
		}
		return "unknown protocol '" + s + "'"
	},
	"pve-fw-conntrack-helper": func(s string) string {
		for helper := range strings.SplitSeq(s, ",") {
			switch {
			case helper == "" && s != "":
				return "extraneous commas in list"
			case helper != "" && !conntrackHelpers[helper]:
				return "unknown helper " + helper
			}
		}
		return ""
	},
	"pve-fw-icmp-type-spec": func(s string) string {
		if s == "" || icmpTypes[s] || icmpv6Types[s] {
			return ""
		}
		return "invalid icmp-type '" + s + "'"
	},
}

// errorText returns the text of an error, or an empty string.
func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
