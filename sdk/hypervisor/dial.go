package hypervisor

import (
	"fmt"
	"net/netip"
	"syscall"
)

// DialControl is the Control of every net.Dialer that a driver uses for the target. It refuses addresses that
// Target.AllowLocal does not permit with Forbidden. It sees the address that is dialled, after the name was looked up, so
// that a name which points to 127.0.0.1 does not get past it. It is worth nothing behind a proxy: a driver must not
// use one.
func DialControl(target Target) func(network, address string, conn syscall.RawConn) error {
	return func(network, address string, _ syscall.RawConn) error {
		switch network {
		case "tcp", "tcp4", "tcp6":
		default:
			return Errorf(Forbidden, "%s is not a network to reach a hypervisor by", network)
		}
		dialled, err := netip.ParseAddrPort(address)
		if err != nil {
			return Errorf(Forbidden, "dialling an address that cannot be read: %w", err)
		}
		return CheckAddress(dialled.Addr(), target.AllowLocal)
	}
}

// embedding are blocks of addresses that stand for an IPv4 address, and the byte that it begins at.
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

var (
	thisNetwork = netip.MustParsePrefix("0.0.0.0/8") // RFC 1122 section 3.2.1.3; Linux takes 0.0.0.0 for the machine itself
	broadcast   = netip.MustParseAddr("255.255.255.255")
)

// CheckAddress refuses multicast and unspecified addresses, and without allowLocal loopback and link-local ones (the
// metadata services of clouds among these) with Forbidden. Private networks are allowed.
func CheckAddress(addr netip.Addr, allowLocal bool) error {
	addr = addr.Unmap().WithZone("")
	switch {
	case !addr.IsValid():
		return Errorf(Forbidden, "no address to dial")
	case addr.IsUnspecified() || thisNetwork.Contains(addr):
		return refuse(addr, "an unspecified")
	case addr.IsMulticast() || addr == broadcast:
		return refuse(addr, "a multicast")
	case addr.IsLoopback() && !allowLocal:
		return refuse(addr, "a loopback")
	case addr.IsLinkLocalUnicast() && !allowLocal:
		return refuse(addr, "a link-local")
	}
	for _, e := range embedding {
		if e.block.Contains(addr) && !addr.IsLoopback() {
			bytes := addr.As16()
			return CheckAddress(netip.AddrFrom4([4]byte(bytes[e.at:e.at+4])), allowLocal)
		}
	}
	return nil
}

func refuse(addr netip.Addr, what string) error {
	return Errorf(Forbidden, "%s", fmt.Sprintf("%s is %s address, which is not allowed for a host", addr, what))
}
