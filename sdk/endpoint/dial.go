package endpoint

import (
	"fmt"
	"github.com/hostler/hostler/sdk/plugin"
	"net/netip"
	"slices"
	"syscall"
)

// DialControl returns the Control function for every net.Dialer that a driver uses
// for the target. It refuses addresses that Target.AllowLocal does not permit, with
// Forbidden. It runs after the name is resolved and sees the address that is
// dialled, so a name that resolves to 127.0.0.1 does not get past it. It protects
// nothing behind a proxy, so a driver must not use one.
func DialControl(target Target) func(network, address string, conn syscall.RawConn) error {
	return func(network, address string, _ syscall.RawConn) error {
		switch network {
		case "tcp", "tcp4", "tcp6":
		default:
			return plugin.Errorf(plugin.Forbidden, "the network type %s is not allowed for connections to a hypervisor", network)
		}
		dialled, err := netip.ParseAddrPort(address)
		if err != nil {
			return plugin.Errorf(plugin.Forbidden, "cannot parse the address to connect to: %w", err)
		}
		return CheckAddress(dialled.Addr(), target.AllowLocal)
	}
}

// embedding lists IPv6 blocks whose addresses contain an IPv4 address, with the
// index of its first byte. Without them a translator in the network could be used
// to reach an IPv4 address that is refused itself.
var embedding = []struct {
	block netip.Prefix
	at    int
}{
	{netip.MustParsePrefix("::/96"), 12},           // IPv4-compatible, RFC 4291 section 2.5.5.1
	{netip.MustParsePrefix("::ffff:0:0:0/96"), 12}, // IPv4-translated, RFC 2765 section 2.1
	{netip.MustParsePrefix("64:ff9b::/96"), 12},    // NAT64, RFC 6052 section 2.1
	{netip.MustParsePrefix("64:ff9b:1::/48"), 12},  // NAT64 of one network, RFC 8215, with the usual prefix of 96 bits
	{netip.MustParsePrefix("2002::/16"), 2},        // 6to4, RFC 3056 section 2
}

// teredo addresses contain the IPv4 address of the client in the last four bytes,
// with all bits inverted (RFC 4380 section 4).
var teredo = netip.MustParsePrefix("2001::/32")

var (
	thisNetwork = netip.MustParsePrefix("0.0.0.0/8") // RFC 1122 section 3.2.1.3; Linux takes 0.0.0.0 for the machine itself
	broadcast   = netip.MustParseAddr("255.255.255.255")
)

// metadata lists the addresses, other than link-local ones, at which a cloud
// answers its own machines. They hand out credentials of the machine.
var metadata = []netip.Prefix{
	netip.MustParsePrefix("fd00:ec2::/32"),          // Amazon: fd00:ec2::254, ::23 for pods, name and time services
	netip.MustParsePrefix("fd20:ce::254/128"),       // Google
	netip.MustParsePrefix("fd00:c1::a9fe:a9fe/128"), // Oracle
	netip.MustParsePrefix("fd00:42::42/128"),        // Scaleway
	netip.MustParsePrefix("fd00:a9fe:a9fe::1/128"),  // Akamai (Linode)
	netip.MustParsePrefix("100.100.100.200/32"),     // Alibaba
	netip.MustParsePrefix("168.63.129.16/32"),       // Azure's platform, beside the link-local one
	netip.MustParsePrefix("192.0.0.192/32"),         // Oracle's first cloud
}

// CheckAddress returns Forbidden for an address that must not be dialled: multicast
// and unspecified addresses always, and without allowLocal also loopback and
// link-local addresses, addresses with a zone (only link-local ones have zones) and
// the metadata services of clouds. An IPv6 address that contains an IPv4 address is
// also judged by that. Private networks are allowed, because most hypervisors are
// in one.
func CheckAddress(addr netip.Addr, allowLocal bool) error {
	if addr.Zone() != "" && !allowLocal {
		return refuse(addr, "a zoned")
	}
	addr = addr.Unmap().WithZone("")
	switch {
	case !addr.IsValid():
		return plugin.Errorf(plugin.Forbidden, "the address to connect to is empty")
	case addr.IsUnspecified() || thisNetwork.Contains(addr):
		return refuse(addr, "an unspecified")
	case addr.IsMulticast() || addr == broadcast:
		return refuse(addr, "a multicast")
	case addr.IsLoopback() && !allowLocal:
		return refuse(addr, "a loopback")
	case addr.IsLinkLocalUnicast() && !allowLocal:
		return refuse(addr, "a link-local")
	case isMetadata(addr) && !allowLocal:
		return refuse(addr, "a cloud's metadata")
	}
	if inner, ok := embedded(addr); ok {
		return CheckAddress(inner, allowLocal)
	}
	return nil
}

// shared is the address block of carrier-grade NAT (RFC 6598).
var shared = netip.MustParsePrefix("100.64.0.0/10")

// IsPrivate reports whether an address belongs to a private network: RFC 1918, RFC
// 4193, RFC 6598, or an IPv6 address that contains such an address. CheckAddress
// allows them. A caller that dials addresses which untrusted users name may want to
// refuse them.
func IsPrivate(addr netip.Addr) bool {
	addr = addr.Unmap().WithZone("")
	if addr.IsPrivate() || shared.Contains(addr) {
		return true
	}
	inner, ok := embedded(addr)
	return ok && IsPrivate(inner)
}

// isMetadata reports whether addr is the metadata service of a known cloud.
func isMetadata(addr netip.Addr) bool {
	return slices.ContainsFunc(metadata, func(p netip.Prefix) bool { return p.Contains(addr) })
}

// embedded returns the IPv4 address that an IPv6 address contains, and false if
// there is none.
func embedded(addr netip.Addr) (netip.Addr, bool) {
	if !addr.Is6() || addr.IsLoopback() {
		return netip.Addr{}, false
	}
	bytes := addr.As16()
	for _, e := range embedding {
		if e.block.Contains(addr) {
			return netip.AddrFrom4([4]byte(bytes[e.at : e.at+4])), true
		}
	}
	if teredo.Contains(addr) {
		return netip.AddrFrom4([4]byte{^bytes[12], ^bytes[13], ^bytes[14], ^bytes[15]}), true
	}
	return netip.Addr{}, false
}

// refuse returns the Forbidden error for an address of the named kind.
func refuse(addr netip.Addr, what string) error {
	return plugin.Errorf(plugin.Forbidden, "%s", fmt.Sprintf("%s is %s address, which is not allowed for a host", addr, what))
}
