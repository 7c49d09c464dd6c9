package identity

import (
	"crypto/sha256"
	"encoding/hex"
	"net/netip"
)

// Network returns the name under which requests from an address are counted:
// the IPv4 address, or the /64 of an IPv6 address, within which one customer
// can change addresses freely. The result has at most 64 bytes for
// every input.
func Network(address string) string {
	name := address
	if ip, err := netip.ParseAddr(address); err == nil {
		ip = ip.Unmap().WithZone("")
		name = ip.String()
		if ip.Is6() {
			prefix, _ := ip.Prefix(64) // 64 is in range for every IPv6 address
			name = prefix.String()
		}
	}
	if len(name) > 64 {
		sum := sha256.Sum256([]byte(name))
		name = hex.EncodeToString(sum[:])
	}
	return name
}
