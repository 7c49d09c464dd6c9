package pve

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/hostler/hostler/plugins/pve/pvefirewall"
	"github.com/hostler/hostler/sdk/firewall"
)

// way is a packet between two ends, with the addresses that were chosen for
// them.
type way struct {
	from, to firewall.End
	packet   pvefirewall.Packet
	// sourceGuessed and destGuessed say that the address of that end is not
	// known, and one stands for it.
	sourceGuessed, destGuessed bool
	// unknown says why the packet cannot be judged.
	unknown string
}

// anybody is the address of an outside end without one, and guessed that of a
// guest whose address is unknown.
var (
	anybody = []netip.Addr{netip.MustParseAddr("203.0.113.77"), netip.MustParseAddr("2001:db8:ffff::77")}
	guessed = []netip.Addr{netip.MustParseAddr("198.18.0.77"), netip.MustParseAddr("2001:2::77")}
)

// packetEnd is an end with what is known about it.
type packetEnd struct {
	end     firewall.End
	guest   *guestFacts
	nic     *nicFacts
	guessed bool
}

// wayOf chooses addresses of one version of IP for two ends. version is 4, 6,
// or 0 for either. It also chooses their network interfaces. An address that
// nobody knows is guessed, and a guessed address is not shown in the verdict.
// If no way can be found, unknown says why.
func (j *judged) wayOf(from, to firewall.End, version int) way {
	w := way{from: from, to: to}
	a, reason := j.side(from)
	b, reason2 := j.side(to)
	if reason == "" {
		reason = reason2
	}
	if w.unknown = reason; reason != "" {
		return w
	}
	j.chooseNIC(&a, &b)
	j.chooseNIC(&b, &a)
	for _, s := range []*packetEnd{&a, &b} {
		if s.guest != nil && s.nic == nil {
			w.unknown = fmt.Sprintf("guest %s has no network interface%s", s.guest.guest.ID, named(s.end.NIC))
			return w
		}
		if s.end.Node != "" && j.nodes[s.end.Node] != nil && j.nodes[s.end.Node].err != nil {
			w.unknown = fmt.Sprintf("node %s cannot be read: %s", s.end.Node, oneLine(j.nodes[s.end.Node].err.Error()))
			return w
		}
	}
	outside(&a, &b)
	outside(&b, &a)
	source, dest, ok := choose(j.addressesOf(&a), j.addressesOf(&b), version)
	if w.from, w.to = a.end, b.end; !ok {
		w.unknown = "the two ends have no known addresses of the same IP version"
		return w
	}
	if a.guessed && b.guessed && source == dest {
		dest = dest.Next()
	}
	a.end.Interface, b.end.Interface = j.device(&a, &b, dest), j.device(&b, &a, source)
	w.sourceGuessed, w.destGuessed = a.guessed, b.guessed
	for _, s := range []struct {
		end     *firewall.End
		address netip.Addr
		guessed bool
	}{{&a.end, source, a.guessed}, {&b.end, dest, b.guessed}} {
		if s.end.Address = s.address.String(); s.guessed {
			s.end.Address = ""
		}
	}
	w.from, w.to = a.end, b.end
	w.packet = pvefirewall.Packet{From: a.endpoint(), To: b.endpoint(), Source: source, Dest: dest}
	return w
}

// waysOf returns the ways between two ends, one for each version of IP for
// which both have addresses or may have one. There is always at least one; if
// no version fits, it says so.
func (j *judged) waysOf(from, to firewall.End) []way {
	first, other := j.wayOf(from, to, 0), 4
	if first.unknown != "" {
		return []way{first}
	}
	if first.packet.Source.Is4() {
		other = 6
	}
	if second := j.wayOf(from, to, other); second.unknown == "" {
		return []way{first, second}
	}
	return []way{first}
}

// named returns the name of a NIC for a sentence, with a space in front.
func named(nic string) string {
	if nic == "" {
		return ""
	}
	return " " + nic
}

// side returns what is known about an end, or why it is not known.
func (j *judged) side(end firewall.End) (packetEnd, string) {
	s := packetEnd{end: end}
	switch end.Kind {
	case firewall.GuestEnd:
		s.guest = j.guests[end.Guest.ID]
		if s.guest == nil || s.guest.err != nil {
			text := "it was not checked"
			if s.guest != nil {
				text = oneLine(s.guest.err.Error())
			}
			return s, fmt.Sprintf("guest %s cannot be read: %s", end.Guest.ID, text)
		}
		s.end.Node = s.guest.guest.Node
	case firewall.AddressEnd:
		if node, ok := j.nodeOf(end.Address); ok {
			s.end.Kind, s.end.Node = firewall.NodeEnd, node
		}
	}
	if s.end.Kind == firewall.NodeEnd || s.end.Kind == firewall.AddressEnd {
		if j.memberError != nil {
			return s, "the list of cluster members cannot be read: " + oneLine(j.memberError.Error())
		}
		if s.end.Node != "" && j.membership.nodes[s.end.Node] == nil {
			return s, "unknown node " + s.end.Node
		}
	}
	return s, ""
}

// nodeOf returns the node with an address, among the nodes that were read.
func (j *judged) nodeOf(address string) (string, bool) {
	if node, ok := j.nodeWith(address); ok {
		return node, true
	}
	for name, node := range j.nodes {
		for _, i := range node.network.Current {
			for _, text := range []string{i.CIDR, i.CIDR6} {
				if p, ok := prefixOf(text); ok && sameAddress(p.Addr().String(), address) {
					return name, true
				}
			}
		}
	}
	return "", false
}

// chooseNIC chooses the named interface, else the first one on the network of
// the other end, else the first.
func (j *judged) chooseNIC(s, other *packetEnd) {
	if s.guest == nil {
		return
	}
	bridge := other.end.Interface
	if other.guest != nil {
		for i := range other.guest.nics {
			if n := &other.guest.nics[i]; other.end.NIC == n.Name || other.end.NIC == "" && bridge == "" {
				bridge = n.Bridge
			}
		}
	}
	for _, fits := range []func(n *nicFacts) bool{
		func(n *nicFacts) bool { return n.Name == s.end.NIC },
		func(n *nicFacts) bool { return s.end.NIC == "" && n.Bridge == bridge },
		func(*nicFacts) bool { return s.end.NIC == "" },
	} {
		for i := range s.guest.nics {
			if n := &s.guest.nics[i]; s.nic == nil && fits(n) {
				s.nic, s.end.NIC = n, n.Name
			}
		}
	}
}

// outside places an outside end behind the bridge of the other end's interface,
// on that node.
func outside(s, other *packetEnd) {
	if s.end.Kind != firewall.OutsideEnd && s.end.Kind != firewall.AddressEnd {
		return
	}
	s.end.Kind = firewall.OutsideEnd
	if s.end.Node == "" {
		s.end.Node = other.end.Node
	}
	if s.end.Interface == "" && other.nic != nil {
		s.end.Interface = other.nic.Bridge
	}
}

// addressesOf returns the addresses that an end may have, the most likely
// first.
func (j *judged) addressesOf(s *packetEnd) (list []netip.Addr) {
	if s.end.Address != "" {
		a, _ := netip.ParseAddr(s.end.Address) // Check saw to it
		return []netip.Addr{a.Unmap()}
	}
	switch s.end.Kind {
	case firewall.GuestEnd:
		if list = s.nic.addresses; len(list) == 0 {
			s.guessed, list = true, guessed
		}
	case firewall.NodeEnd:
		if own := j.nodeAddress(s.end.Node); own.IsValid() {
			list = append(list, own)
		}
		for _, i := range j.nodes[s.end.Node].network.Current {
			for _, text := range []string{i.CIDR, i.CIDR6} {
				if p, ok := prefixOf(text); ok {
					list = append(list, p.Addr())
				}
			}
		}
	default:
		list = anybody
	}
	return list
}

// choose returns the first pair of addresses with the same version of IP.
func choose(from, to []netip.Addr, version int) (source, dest netip.Addr, ok bool) {
	for _, a := range from {
		if version == 4 && !a.Is4() || version == 6 && a.Is4() {
			continue
		}
		for _, b := range to {
			if a.Is4() == b.Is4() {
				return a, b, true
			}
		}
	}
	return netip.Addr{}, netip.Addr{}, false
}

// device returns the interface of the node through which packets of an end
// pass; for a guest it is that of its NIC.
func (j *judged) device(s, other *packetEnd, far netip.Addr) string {
	switch {
	case s.guest != nil || s.end.Interface != "":
		return s.end.Interface
	case other.nic != nil && s.end.Node == other.end.Node:
		return other.nic.Bridge
	case j.nodes[s.end.Node] == nil:
		return ""
	}
	gateway := ""
	for _, i := range j.nodes[s.end.Node].network.Current {
		for _, text := range []string{i.CIDR, i.CIDR6} {
			if p, ok := prefixOf(text); ok && p.Masked().Contains(far) {
				return i.Name
			}
		}
		if i.Gateway != "" && far.Is4() || i.Gateway6 != "" && !far.Is4() {
			gateway = i.Name
		}
	}
	return gateway
}

// endpoint converts an end for the evaluator.
func (s *packetEnd) endpoint() pvefirewall.Endpoint {
	switch s.end.Kind {
	case firewall.GuestEnd:
		return pvefirewall.Endpoint{Kind: pvefirewall.GuestNIC, Guest: s.guest.id, NIC: s.nic.Name}
	case firewall.NodeEnd:
		return pvefirewall.Endpoint{Kind: pvefirewall.Host, Node: s.end.Node, Device: s.end.Interface}
	}
	return pvefirewall.Endpoint{Kind: pvefirewall.Outside, Node: s.end.Node, Device: s.end.Interface}
}

// ephemeral is a source port without a special meaning.
const ephemeral = 40000

// fill sets the remaining fields of the packet, or records why that is
// impossible.
func (w *way) fill(p firewall.Packet) {
	protocol, err := pvefirewall.ParseProtocol(p.Protocol)
	if err != nil {
		w.unknown = "unknown protocol"
		return
	}
	w.packet.Protocol, w.packet.SourcePort, w.packet.DestPort = protocol, uint16(p.SourcePort), uint16(p.DestinationPort)
	if p.SourcePort == 0 && pvefirewall.HasPorts(protocol) {
		w.packet.SourcePort = ephemeral
	}
	if protocol != 1 && protocol != 58 {
		return
	}
	kind := p.ICMPType
	if kind == "" {
		kind = "echo-request"
	}
	var ok bool
	if w.packet.ICMPType, w.packet.Code, ok = pvefirewall.ParseICMPType(kind, protocol == 58); !ok {
		w.unknown = "unknown type of " + p.Protocol
	}
}

// ipVersion returns the version of IP to which a protocol belongs, 0 for both.
func ipVersion(protocol string) int {
	switch {
	case slices.Contains([]string{"icmp", "1"}, protocol):
		return 4
	case slices.Contains([]string{"icmpv6", "ipv6-icmp", "58"}, protocol):
		return 6
	}
	return 0
}

// checkPackets refuses unknown protocols and types, as Invalid.
func checkPackets(field string, packets []firewall.Packet) error {
	for i, p := range packets {
		var w way
		if w.fill(p); w.unknown != "" {
			part := "protocol"
			if !strings.HasSuffix(w.unknown, "protocol") {
				part = "icmp_type"
			}
			return firewall.Invalid(fmt.Sprintf("%s.%d.%s", field, i, part), "%s", w.unknown)
		}
	}
	return nil
}
