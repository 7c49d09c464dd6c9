package pvefirewall

import (
	"errors"
	"fmt"
	"strings"
)

// portRange is a range of ports, both ends included.
type portRange struct{ first, last uint16 }

// portSet are the ports of a rule. nil is no condition.
type portSet []portRange

// has reports whether the set contains a port.
func (s portSet) has(port uint16) bool {
	for _, r := range s {
		if port >= r.first && port <= r.last {
			return true
		}
	}
	return false
}

// portSpec is the port field of a rule.
type portSpec struct {
	ports portSet
	list  bool // more than one, so that another module of the kernel matches
	names []string
	size  int // how many numbers the kernel's list of at most 15 takes
}

// maxPorts is the limit of the multiport match of iptables. A range counts as
// two (iptables-extensions(8), multiport).
const maxPorts = 15

// checkPorts reads the ports of a rule with the checks of Proxmox VE. types
// allows names of ICMP types; a nil portSpec stands for such a name.
func checkPorts(s string, types bool) (*portSpec, error) {
	spec := &portSpec{}
	if strings.HasSuffix(s, ",") {
		return nil, errors.New("extraneous commas in list")
	}
	count, icmp := 0, false
	for item := range strings.SplitSeq(s, ",") {
		first, last, ranged := strings.Cut(item, ":")
		switch {
		case ranged && isNumber(first) && isNumber(last):
			a, ok := smallNumber(first, 65535)
			if !ok {
				return nil, fmt.Errorf("invalid port '%.40s'", first)
			}
			b, ok := smallNumber(last, 65535)
			if !ok {
				return nil, fmt.Errorf("invalid port '%.40s'", last)
			}
			if a > b {
				return nil, fmt.Errorf("backwards range '%d:%d' not allowed, did you mean '%d:%d'?", a, b, b, a)
			}
			count += 2
			spec.size += 2
			spec.ports = append(spec.ports, portRange{uint16(a), uint16(b)})
		case isNumber(item):
			a, ok := smallNumber(item, 65535)
			if !ok {
				return nil, fmt.Errorf("invalid port '%.40s'", item)
			}
			count++
			spec.size++
			spec.ports = append(spec.ports, portRange{uint16(a), uint16(a)})
		default:
			_, v4 := icmpTypes[item]
			_, v6 := icmpv6Types[item]
			if types && (v4 || v6) {
				icmp = true
				continue
			}
			known, ok := services()[item]
			if !ok {
				return nil, fmt.Errorf("invalid port '%.40s'", item)
			}
			spec.size++
			spec.names = append(spec.names, item)
			spec.ports = append(spec.ports, portRange{known.port, known.port})
		}
	}
	if icmp && count > 0 {
		return nil, errors.New("ICMP ports not allowed in port range")
	}
	if count > maxPorts {
		return nil, errors.New("too many entries in port list (> 15 numbers)")
	}
	spec.list = strings.Contains(s, ",")
	if icmp {
		return nil, nil
	}
	return spec, nil
}

// loads returns why iptables-restore would refuse these ports; empty if it
// would not. A refusal means that no rule at all is loaded.
func (s *portSpec) loads(protocol int) string {
	name := map[int]string{protoTCP: "tcp", protoUDP: "udp", protoSCTP: "sctp", protoDCCP: "dccp", protoUDPLite: "udplite"}[protocol]
	for _, n := range s.names {
		if !strings.Contains(services()[n].protocols, ","+name+",") {
			return fmt.Sprintf("service %s is unknown for %s", n, name)
		}
	}
	switch {
	case s.list && s.size > maxPorts:
		return "more than 15 ports in a list"
	case !s.list && protocol == protoUDPLite:
		return "udplite needs a list of ports: a single port or range does not load"
	}
	return ""
}
