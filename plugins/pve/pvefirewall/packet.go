package pvefirewall

import (
	"errors"
	"net/netip"
)

// EndpointKind is the kind of a packet's source or destination.
type EndpointKind uint8

// The kinds of ends.
const (
	// Outside is whatever is behind a device of a node and has no firewall
	// there: the network, or a NIC that is not known.
	Outside EndpointKind = iota + 1
	// Host is a node itself.
	Host
	// GuestNIC is a network interface of a guest.
	GuestNIC
)

// Endpoint is the source or destination of a packet.
type Endpoint struct {
	Kind EndpointKind
	// Node is the node of a Host or of the device of an Outside. It may be
	// empty where the cluster has one node, and for an Outside where the other
	// end has a node.
	Node string
	// Device is what an Outside is behind (vmbr0). For a Host it is the device
	// that packets of or for other nodes pass; rules that name an interface do
	// not match when it is empty.
	Device string
	Guest  int    // of GuestNIC
	NIC    string // of GuestNIC: net0
}

// Flags are the flags of a TCP segment. The zero value stands for a plain SYN,
// as it opens a connection.
type Flags uint8

// The flags of a TCP header (RFC 9293 section 3.1).
const (
	FlagFIN Flags = 1 << iota
	FlagSYN
	FlagRST
	FlagPSH
	FlagACK
	FlagURG
	// NoFlags is a segment without any flag.
	NoFlags Flags = 1 << 7
)

// Packet is the first packet of a connection.
type Packet struct {
	From, To       Endpoint
	Source, Dest   netip.Addr
	Protocol       uint8
	SourcePort     uint16
	DestPort       uint16
	ICMPType, Code uint8
	// SourceMAC is that of the sending guest's NIC when it is zero.
	SourceMAC MAC
	Flags     Flags
}

// ErrPacket is wrapped by every error about the packet itself.
var ErrPacket = errors.New("invalid packet")

// packetError is the error of a packet that cannot exist.
type packetError struct{ text string }

func (e *packetError) Error() string { return e.text }
func (e *packetError) Unwrap() error { return ErrPacket }

// tracking is the state of a first packet in connection tracking.
type tracking uint8

// How connection tracking classifies a packet.
const (
	trackedNew tracking = iota
	trackedInvalid
	untracked
)

// probe is a packet in the form in which it is compared with chains.
type probe struct {
	family   uint8
	icmp     bool // ICMP of its family
	protocol int16
	matched  int16 // the protocol as rules meet it: none for extension headers
	sport    uint16
	dport    uint16
	kind     uint8
	code     uint8
	flags    Flags
	tracking tracking
	mark     bool // what a group or the sender's rules accepted
	device   int32
	source4  uint32
	dest4    uint32
	source6  wide
	dest6    wide
	packet   *Packet
}

// probe converts a packet to the form in which rules are compared, or returns
// an error for a packet that cannot exist.
func (f *Firewall) probe(packet *Packet, p *probe) error {
	if !packet.Source.IsValid() || !packet.Dest.IsValid() {
		return &packetError{"the packet has no source or destination address"}
	}
	source, dest := packet.Source.Unmap().WithZone(""), packet.Dest.Unmap().WithZone("")
	if source.Is4() != dest.Is4() {
		return &packetError{"source and destination have different IP versions"}
	}
	*p = probe{protocol: int16(packet.Protocol), matched: int16(packet.Protocol), kind: packet.ICMPType, code: packet.Code, packet: packet}
	if hasPorts(packet.Protocol) {
		p.sport, p.dport = packet.SourcePort, packet.DestPort
	}
	if source.Is4() {
		p.family, p.source4, p.dest4 = v4, uint32(wideOf(source).low), uint32(wideOf(dest).low)
		p.icmp = packet.Protocol == protoICMP
	} else {
		p.family, p.source6, p.dest6 = v6, wideOf(source), wideOf(dest)
		p.icmp = packet.Protocol == protoICMPv6
		if isExtension(packet.Protocol) {
			p.matched = noInterface
		}
	}
	if packet.Protocol == protoTCP {
		p.flags = packet.Flags
		if p.flags == 0 {
			p.flags = FlagSYN
		}
		p.flags &^= NoFlags
	}
	p.tracking = p.track()
	return nil
}

// track judges a first packet like the kernel's connection tracking.
func (p *probe) track() tracking {
	switch {
	case p.protocol == protoTCP:
		switch p.flags &^ FlagPSH {
		case FlagSYN, FlagSYN | FlagURG, FlagACK, FlagACK | FlagURG:
			return trackedNew
		}
		return trackedInvalid
	case p.icmp && p.family == v4:
		switch p.kind {
		case 8, 13, 15, 17:
			return trackedNew
		}
		return untracked
	case p.icmp:
		switch p.kind {
		case 128, 139:
			return trackedNew
		}
		return untracked
	}
	return trackedNew
}

// state returns whether a set contains the source or the destination.
func (p *probe) state(s *addressSet, source bool) state {
	switch {
	case p.family == v4 && source:
		return s.lookup4(p.source4)
	case p.family == v4:
		return s.lookup4(p.dest4)
	case source:
		return s.lookup6(p.source6)
	}
	return s.lookup6(p.dest6)
}

// isICMPv6 reports whether the packet is an ICMPv6 message of that type.
func (p *probe) isICMPv6(kind uint8) bool { return p.family == v6 && p.icmp && p.kind == kind }

// tcp and udp report the protocol of the packet.
func (p *probe) tcp() bool { return p.protocol == protoTCP }
func (p *probe) udp() bool { return p.protocol == protoUDP }

// udpPorts says whether the packet is UDP from one port to another.
func (p *probe) udpPorts(from, to uint16) bool { return p.udp() && p.sport == from && p.dport == to }

// multicastSource reports a multicast address as source, which no packet may
// have (RFC 1112, section 7.2).
func (p *probe) multicastSource() bool { return p.family == v4 && p.source4>>28 == 0xe }

// multicast reports whether the destination is a multicast address.
func (p *probe) multicast() bool {
	if p.family == v4 {
		return p.dest4>>28 == 0xe
	}
	return p.dest6.high>>56 == 0xff
}

// illegal reports whether the flags are among those that the option tcpflags
// drops.
func (p *probe) illegal() bool {
	if !p.tcp() {
		return false
	}
	f := p.flags
	switch {
	case f == FlagFIN|FlagPSH|FlagURG, f == 0:
		return true
	case f&(FlagSYN|FlagRST) == FlagSYN|FlagRST, f&(FlagSYN|FlagFIN) == FlagSYN|FlagFIN:
		return true
	}
	return p.sport == 0 && p.plainSYN()
}

// plainSYN reports whether the packet opens a TCP connection.
func (p *probe) plainSYN() bool { return p.flags&(FlagFIN|FlagSYN|FlagRST|FlagACK) == FlagSYN }

// broadcast reports whether the node knows the address as a broadcast address.
func (n *node) broadcast(address uint32) bool {
	for _, b := range n.broadcasts {
		if b == address {
			return true
		}
	}
	return address == 0
}

// smurf reports whether the packet pretends to come from a broadcast or
// multicast address.
func (n *node) smurf(p *probe) bool {
	return p.family == v4 && p.tracking != untracked && p.source4 != 0 && (n.broadcast(p.source4) || p.multicastSource())
}

// reject returns the effect of REJECT on the packet: one that must not be
// answered is dropped.
func (n *node) reject(p *probe) Verdict {
	switch {
	case p.icmp, p.family == v4 && (n.broadcast(p.dest4) || p.multicastSource()):
		return Drop
	case p.tcp() && p.flags&FlagRST != 0: // a reset is not answered by a reset
		return Drop
	}
	return Reject
}

// policy returns the effect of a policy of DROP or REJECT, which treats some
// packets separately.
func (n *node) policy(p *probe, policy Verdict) (Verdict, Exception) {
	refuse := func() Verdict {
		if policy == Reject {
			return n.reject(p)
		}
		return Drop
	}
	switch {
	case policy == Accept:
		return Accept, NoException
	case p.family == v6 && p.tcp() && p.dport == 43:
		return n.reject(p), ExceptTCP43
	case p.multicast(), p.family == v4 && n.broadcast(p.dest4):
		return Drop, ExceptBroadcast
	case p.criticalICMP():
		return Accept, ExceptICMP
	case p.tracking == trackedInvalid:
		return Drop, ExceptInvalid
	case p.smb():
		return refuse(), ExceptSMB
	case p.udp() && p.dport == 1900:
		return Drop, ExceptUPnP
	case p.tcp() && !p.plainSYN():
		return Drop, ExceptNotSYN
	case p.udp() && p.sport == 53:
		return Drop, ExceptDNSReply
	}
	return refuse(), NoException
}

// criticalICMP reports messages without which connections hang.
func (p *probe) criticalICMP() bool {
	if !p.icmp {
		return false
	}
	if p.family == v4 {
		return p.kind == 3 && p.code == 4 || p.kind == 11
	}
	return p.kind >= 1 && p.kind <= 3
}

// smb reports whether the packet belongs to Windows file sharing, whose
// broadcasts are dropped without a log line.
func (p *probe) smb() bool {
	switch {
	case p.udp():
		return p.dport == 135 || p.dport == 445 || p.dport >= 137 && p.dport <= 139 || p.sport == 137 && p.dport >= 1024
	case p.tcp():
		return p.dport == 135 || p.dport == 139 || p.dport == 445
	}
	return false
}
