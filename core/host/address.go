package host

import (
	"errors"
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/sdk/endpoint"
	"golang.org/x/net/idna"
)

// errAddress and errLocal are the faults of an address that cannot be used.
var errAddress = errors.New("must be a name or an IP address (IPv6 in brackets), optionally with :port, or an https:// URL of one")

var errLocal = errors.New("loopback, link-local, multicast and unspecified addresses and cloud metadata services are not allowed for a " +
	"host")

// loopback lists the names of the machine itself: "localhost", which is always
// loopback (RFC 6761 section 6.3), and the names that Linux distributions add
// to /etc/hosts.
var loopback = map[string]bool{"localhost": true, "localhost.localdomain": true, "localhost4": true, "localhost4.localdomain4": true,
	"localhost6": true, "localhost6.localdomain6": true, "ip6-localhost": true, "ip6-loopback": true}

// hostName is a DNS name of letters, digits, hyphens and dots (RFC 1123 section
// 2.1); underscores are met in the wild.
var hostName = regexp.MustCompile(`^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)*$`)

// ParseAddress returns an address in the form in which hosts are stored:
// host:port in lower case, IPv6 in brackets and in its shortest form, an
// international name in its ASCII form. An address without port gets
// defaultPort. An address that endpoint.CheckAddress refuses is an error; a
// name is judged when it is dialled.
func ParseAddress(address, defaultPort string, allowLocal bool) (string, error) {
	text, err := withoutScheme(strings.TrimSpace(address))
	if err != nil {
		return "", err
	}
	name, port, err := split(text, defaultPort)
	if err != nil {
		return "", err
	}
	if ip, err := netip.ParseAddr(name); err == nil {
		if ip.Zone() != "" {
			return "", errors.New("an IPv6 address must not have a zone")
		}
		ip = ip.Unmap()
		if err := endpoint.CheckAddress(ip, allowLocal); err != nil {
			return "", errLocal
		}
		return net.JoinHostPort(ip.String(), port), nil
	}
	ascii := strings.TrimSuffix(strings.ToLower(name), ".")
	// An international name is looked up in its ASCII form, so it is stored in
	// that form (RFC 5890).
	err = nil
	if strings.IndexFunc(ascii, func(r rune) bool { return r > 127 }) >= 0 {
		ascii, err = idna.Lookup.ToASCII(ascii)
	}
	if err != nil || len(ascii) > 253 || !hostName.MatchString(ascii) || numeric(ascii) {
		return "", errAddress
	}
	if !allowLocal && (loopback[ascii] || strings.HasSuffix(ascii, ".localhost")) {
		return "", errLocal
	}
	return net.JoinHostPort(ascii, port), nil
}

// withoutScheme returns the host and port of an https:// URL. Text without a
// scheme is returned unchanged. A path or a user is refused, because it would
// be dropped without notice.
func withoutScheme(text string) (string, error) {
	if len(text) > 300 || strings.ContainsAny(text, "\x00 \t\r\n\\") {
		return "", errAddress
	}
	if !strings.Contains(text, "://") {
		if strings.ContainsAny(text, "/?#@%") {
			return "", errAddress
		}
		return text, nil
	}
	u, err := url.Parse(text)
	if err != nil || !strings.EqualFold(u.Scheme, "https") || u.Host == "" || u.Opaque != "" {
		return "", errAddress
	}
	if u.User != nil || u.Path != "" && u.Path != "/" || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" ||
		strings.ContainsAny(text, "#%") {
		return "", errors.New("must not have a user, path, query or fragment")
	}
	return u.Host, nil
}

// split separates name and port. It accepts an IPv6 address without brackets if
// there is no port.
func split(text, defaultPort string) (name, port string, err error) {
	if ip, err := netip.ParseAddr(text); err == nil {
		return ip.String(), defaultPort, nil
	}
	if strings.HasPrefix(text, "[") && strings.HasSuffix(text, "]") {
		name, port = text[1:len(text)-1], defaultPort
	} else if strings.Contains(text, ":") {
		if name, port, err = net.SplitHostPort(text); err != nil {
			return "", "", errAddress
		}
	} else {
		name, port = text, defaultPort
	}
	if strings.HasPrefix(text, "[") {
		if ip, err := netip.ParseAddr(name); err != nil || !ip.Is6() {
			return "", "", errAddress
		}
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil || n == 0 || strings.HasPrefix(port, "+") {
		return "", "", errors.New("the port must be from 1 to 65535")
	}
	return name, strconv.FormatUint(n, 10), nil
}

// numeric reports whether a name is a form of an IPv4 address that resolvers
// accept and netip does not, such as 127.1 or 0x7f000001. Such a name would get
// past the check of addresses.
func numeric(name string) bool {
	last := name[strings.LastIndexByte(name, '.')+1:]
	_, err := strconv.ParseUint(strings.TrimPrefix(last, "0x"), 16, 64)
	return err == nil && (last[0] >= '0' && last[0] <= '9')
}

// address is ParseAddress with the fault of the field.
func (s *Store) address(text, defaultPort string) (string, error) {
	parsed, err := ParseAddress(text, defaultPort, s.allowLocal)
	if err != nil {
		return "", problem.InvalidField(err.Error(), "address", "body", "address")
	}
	return parsed, nil
}
