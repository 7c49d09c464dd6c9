package identity

import (
	"crypto/sha256"
	"encoding/hex"
	"net/netip"
)

// Network names whom an address stands for where requests are counted: an IPv4 address, or the /64 that one IPv6 customer
// has to rotate in. At most 64 bytes, whatever was given.
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
