package pvefirewall

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"sync"
)

// Limits of names, as pve-firewall has them.
const (
	maxAliasName = 64
	maxSetName   = 64
	maxGroupName = 18
)

// isName reports whether s is a valid name for an alias, an IP set or a group.
func isName(s string) bool {
	if len(s) < 2 || !isLetter(s[0]) {
		return false
	}
	for i := 1; i < len(s); i++ {
		if c := s[i]; !isLetter(c) && !isDigit(c) && c != '-' && c != '_' {
			return false
		}
	}
	return true
}

// isLetter is for ASCII only, like the patterns of the original.
func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }
func isDigit(c byte) bool  { return c >= '0' && c <= '9' }

// isNumber reports whether s consists of digits.
func isNumber(s string) bool {
	for i := 0; i < len(s); i++ {
		if !isDigit(s[i]) {
			return false
		}
	}
	return s != ""
}

// smallNumber reads digits up to a limit; ok is false above it.
func smallNumber(s string, limit int) (int, bool) {
	n, err := strconv.Atoi(s)
	return n, isNumber(s) && err == nil && n <= limit
}

// isInterface reports whether Proxmox VE accepts s as the name of an interface.
func isInterface(s string) bool {
	name, rest := s, ""
	if i := strings.IndexAny(s, ":."); i >= 0 {
		name, rest = s[:i], s[i+1:]
		if !isNumber(rest) {
			return false
		}
	}
	if len(name) < 2 || len(name) > 21 || !isLetter(name[0]) {
		return false
	}
	for i := 1; i < len(name); i++ {
		if c := name[i]; !isLetter(c) && !isDigit(c) && c != '_' {
			return false
		}
	}
	return true
}

// nicNumber returns the number of netN, or -1.
func nicNumber(s string) int {
	digits, ok := strings.CutPrefix(s, "net")
	n, small := smallNumber(digits, MaxNICs-1)
	if !ok || !small || strconv.Itoa(n) != digits {
		return -1
	}
	return n
}

// Protocol numbers (IANA) that rules treat specially.
const (
	protoICMP    = 1
	protoIGMP    = 2
	protoTCP     = 6
	protoUDP     = 17
	protoDCCP    = 33
	protoICMPv6  = 58
	protoSCTP    = 132
	protoUDPLite = 136
)

// portProtocols are the protocols that have ports, in the two spellings that a rule may use.
var portProtocols = map[string]int{"udp": protoUDP, "17": protoUDP, "udplite": protoUDPLite, "136": protoUDPLite,
	"tcp": protoTCP, "6": protoTCP, "dccp": protoDCCP, "33": protoDCCP, "sctp": protoSCTP, "132": protoSCTP}

// hasPorts reports whether packets of the protocol have ports.
func hasPorts(protocol uint8) bool {
	switch protocol {
	case protoTCP, protoUDP, protoDCCP, protoSCTP, protoUDPLite:
		return true
	}
	return false
}

// isExtension reports whether the protocol is an extension header of IPv6. The
// kernel skips these, so that no rule matches them.
func isExtension(protocol uint8) bool {
	switch protocol {
	case 0, 43, 44, 51, 60:
		return true
	}
	return false
}

//go:embed protocols.txt
var protocolsText string

//go:embed services.txt
var servicesText string

//go:embed macros.json
var macrosText []byte

// protocolTable maps the names and numbers of /etc/protocols.
type protocolTable struct {
	byName   map[string]uint8
	byNumber map[string]uint8
}

// protocols are those in Debian's /etc/protocols: a rule accepts no other name
// and no other number.
var protocols = sync.OnceValue(func() protocolTable {
	t := protocolTable{byName: map[string]uint8{}, byNumber: map[string]uint8{}}
	for name, rest := range lines(protocolsText) {
		n, err := strconv.ParseUint(rest, 10, 8)
		if err != nil {
			panic(fmt.Sprintf("protocols.txt: %s: %v", name, err))
		}
		t.byName[name], t.byNumber[rest] = uint8(n), uint8(n)
	}
	return t
})

// ParseProtocol reads a protocol by name or number, as in a rule and in a
// packet. Every number of one byte is accepted.
func ParseProtocol(s string) (uint8, error) {
	if n, ok := smallNumber(s, 255); ok {
		return uint8(n), nil
	}
	if n, ok := protocols().byName[s]; ok {
		return n, nil
	}
	return 0, &TextError{What: "protocol", Text: s}
}

// find returns the number of a protocol by its name or number.
func (t protocolTable) find(s string) (uint8, bool) {
	if n, ok := t.byName[s]; ok {
		return n, true
	}
	n, ok := t.byNumber[s]
	return n, ok
}

// service is a port with the protocols that have it, as in /etc/services.
type service struct {
	port      uint16
	protocols string // comma before and after each
}

// services are those in Debian's /etc/services.
var services = sync.OnceValue(func() map[string]service {
	all := map[string]service{}
	for name, rest := range lines(servicesText) {
		number, of, _ := strings.Cut(rest, " ")
		port, err := strconv.ParseUint(number, 10, 16)
		if err != nil {
			panic(fmt.Sprintf("services.txt: %s: %v", name, err))
		}
		all[name] = service{uint16(port), "," + of + ","}
	}
	return all
})

// lines returns the first word and the rest of each line of a table.
func lines(text string) func(func(string, string) bool) {
	return func(yield func(string, string) bool) {
		for line := range strings.Lines(text) {
			line = strings.TrimSpace(line)
			name, rest, _ := strings.Cut(line, " ")
			if name == "" || name[0] == '#' {
				continue
			}
			if !yield(name, rest) {
				return
			}
		}
	}
}

// macroPart is one of the rules for which a macro stands.
type macroPart struct {
	Proto    string `json:"proto"`
	DPort    string `json:"dport"`
	SPort    string `json:"sport"`
	ICMPType string `json:"icmp_type"`
}

// macro has its parts by version of IP; those of Rules are for both.
type macro struct {
	Rules []macroPart `json:"rules"`
	IPv4  []macroPart `json:"ipv4"`
	IPv6  []macroPart `json:"ipv6"`
}

// macros are the macros by their names in lower case.
var macros = sync.OnceValue(func() map[string]macro {
	named := map[string]macro{}
	if err := json.Unmarshal(macrosText, &named); err != nil {
		panic("macros.json: " + err.Error())
	}
	all := make(map[string]macro, len(named))
	for name, m := range named {
		if m.Rules != nil {
			m.IPv4, m.IPv6 = m.Rules, m.Rules
		}
		all[strings.ToLower(name)] = m
	}
	return all
})

// checked returns the parts with which Proxmox VE compares the fields of a rule
// of a family; 0 is a rule for both.
func (m macro) checked(family int) []macroPart {
	if m.IPv4 == nil || family == 6 && m.IPv6 != nil {
		return m.IPv6
	}
	return m.IPv4
}

// icmpType is a type with a range of codes. anyType stands for all.
type icmpType struct {
	kind        int16
	first, last uint8
}

// anyType stands for every ICMP type.
const anyType = -1

// icmpCode is a type with one code, icmpCodes a type with every code.
func icmpCode(kind int16, code uint8) icmpType { return icmpType{kind, code, code} }
func icmpCodes(kind int16) icmpType            { return icmpType{kind, 0, 255} }

// icmpTypes are the names that iptables knows for ICMP.
var icmpTypes = map[string]icmpType{
	"any": icmpCodes(anyType), "echo-reply": icmpCodes(0), "destination-unreachable": icmpCodes(3),
	"network-unreachable": icmpCode(3, 0), "host-unreachable": icmpCode(3, 1), "protocol-unreachable": icmpCode(3, 2),
	"port-unreachable": icmpCode(3, 3), "fragmentation-needed": icmpCode(3, 4), "source-route-failed": icmpCode(3, 5),
	"network-unknown": icmpCode(3, 6), "host-unknown": icmpCode(3, 7), "network-prohibited": icmpCode(3, 9),
	"host-prohibited": icmpCode(3, 10), "TOS-network-unreachable": icmpCode(3, 11), "TOS-host-unreachable": icmpCode(3, 12),
	"communication-prohibited": icmpCode(3, 13), "host-precedence-violation": icmpCode(3, 14), "precedence-cutoff": icmpCode(3, 15),
	"source-quench": icmpCodes(4), "redirect": icmpCodes(5), "network-redirect": icmpCode(5, 0), "host-redirect": icmpCode(5, 1),
	"TOS-network-redirect": icmpCode(5, 2), "TOS-host-redirect": icmpCode(5, 3), "echo-request": icmpCodes(8),
	"router-advertisement": icmpCodes(9), "router-solicitation": icmpCodes(10), "time-exceeded": icmpCodes(11),
	"ttl-zero-during-transit": icmpCode(11, 0), "ttl-zero-during-reassembly": icmpCode(11, 1), "parameter-problem": icmpCodes(12),
	"ip-header-bad": icmpCode(12, 0), "required-option-missing": icmpCode(12, 1), "timestamp-request": icmpCodes(13),
	"timestamp-reply": icmpCodes(14), "address-mask-request": icmpCodes(17), "address-mask-reply": icmpCodes(18),
}

// icmpv6Types are the names that ip6tables knows for ICMPv6.
var icmpv6Types = map[string]icmpType{
	"destination-unreachable": icmpCodes(1), "no-route": icmpCode(1, 0), "communication-prohibited": icmpCode(1, 1),
	"beyond-scope": icmpCode(1, 2), "address-unreachable": icmpCode(1, 3), "port-unreachable": icmpCode(1, 4),
	"failed-policy": icmpCode(1, 5), "reject-route": icmpCode(1, 6), "packet-too-big": icmpCodes(2), "time-exceeded": icmpCodes(3),
	"ttl-zero-during-transit": icmpCode(3, 0), "ttl-zero-during-reassembly": icmpCode(3, 1), "parameter-problem": icmpCodes(4),
	"bad-header": icmpCode(4, 0), "unknown-header-type": icmpCode(4, 1), "unknown-option": icmpCode(4, 2),
	"echo-request": icmpCodes(128), "echo-reply": icmpCodes(129), "router-solicitation": icmpCodes(133),
	"router-advertisement": icmpCodes(134), "neighbor-solicitation": icmpCodes(135), "neighbour-solicitation": icmpCodes(135),
	"neighbor-advertisement": icmpCodes(136), "neighbour-advertisement": icmpCodes(136), "redirect": icmpCodes(137),
}

// parseICMPType reads a name or a number. In IPv4 the number 255 stands for all
// types.
func parseICMPType(s string, v6 bool) (icmpType, bool) {
	if isNumber(s) {
		n, ok := smallNumber(s, 255)
		if n == 255 && !v6 {
			n = anyType
		}
		return icmpCodes(int16(n)), ok
	}
	names := icmpTypes
	if v6 {
		names = icmpv6Types
	}
	t, ok := names[s]
	return t, ok
}
