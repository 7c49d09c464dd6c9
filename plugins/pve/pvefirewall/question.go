package pvefirewall

import (
	"fmt"
	"strings"
)

// ProtocolName returns the name of a protocol with ports as in rules, and the
// number of every other one.
func ProtocolName(number uint8) string {
	for _, name := range []string{"tcp", "udp", "udplite", "sctp", "dccp"} {
		if n, ok := protocols().find(name); ok && n == number {
			return name
		}
	}
	return fmt.Sprint(number)
}

// HasPorts reports whether packets of a protocol have ports that rules can
// name.
func HasPorts(protocol uint8) bool { return hasPorts(protocol) }

// ParseICMPType reads a type of ICMP or ICMPv6 for one packet: a name as in
// rules, a number, or a number with a code, "3/1". A name or number without a
// code stands for its first code.
func ParseICMPType(s string, v6 bool) (kind, code uint8, ok bool) {
	number, text, cut := strings.Cut(s, "/")
	if !cut {
		t, ok := parseICMPType(s, v6)
		return uint8(t.kind), t.first, ok && t.kind >= 0 && t.kind <= 255
	}
	k, ok := smallNumber(number, 255)
	c, okCode := smallNumber(text, 255)
	return uint8(k), uint8(c), ok && okCode && isNumber(number) && isNumber(text)
}
