package pvefirewall

import (
	"cmp"
	"math"
	"net/netip"
	"slices"
)

// Limits of one question of Reach.
const (
	// MaxSources is how many senders one question of Reach may have.
	MaxSources = 10_000
	// MaxReachWork is how many rules one question of Reach may look at, some
	// seconds of work. It ends with a LimitError beyond it.
	MaxReachWork = 1_000_000_000
	// ephemeralPort is a source port that no default rule names.
	ephemeralPort = 40000
)

// Source is a sender with one of its addresses.
type Source struct {
	Endpoint Endpoint
	Address  netip.Addr
}

// ReachQuery asks which senders reach one address, and on which ports.
type ReachQuery struct {
	To   Endpoint
	Dest netip.Addr
	From []Source
	// SourcePort is that of the packets; 0 takes one that is not special.
	SourcePort uint16
}

// OpenPorts are accepted ports of a protocol, both ends included.
type OpenPorts struct {
	Protocol    uint8
	First, Last uint16
}

// Reachable is the answer for one sender.
type Reachable struct {
	From Source
	// Open is sorted by protocol and port, and ranges do not touch: tcp and
	// udp, and other protocols with ports that a rule names.
	Open []OpenPorts
	// Echo says whether an ICMP echo request is accepted.
	Echo bool
	// Err says why there is no answer for this sender, as in Evaluate.
	Err error
}

// Reach answers for each sender, in the order of the question. All ports are
// covered: between the ports that rules name the verdict is the same, so that
// one of them stands for all. The only error is a LimitError; a fault of one
// sender is in its answer.
func (f *Firewall) Reach(q ReachQuery) ([]Reachable, error) {
	if len(q.From) > MaxSources {
		return nil, &LimitError{"senders", MaxSources}
	}
	if q.SourcePort == 0 {
		q.SourcePort = ephemeralPort
	}
	answers := make([]Reachable, len(q.From))
	left := MaxReachWork
	for i, s := range q.From {
		answers[i].From = s
		packet := Packet{From: s.Endpoint, To: q.To, Source: s.Address, Dest: q.Dest, SourcePort: q.SourcePort}
		if err := f.reach(packet, &answers[i], &left); err != nil {
			return nil, err
		}
	}
	return answers, nil
}

// reach computes the answer for one sender.
func (f *Firewall) reach(packet Packet, to *Reachable, left *int) error {
	echo := packet
	echo.Protocol, echo.ICMPType = protoICMP, 8
	if packet.Dest.Unmap().Is6() {
		echo.Protocol, echo.ICMPType = protoICMPv6, 128
	}
	r, err := f.Evaluate(echo)
	if err != nil {
		to.Err = err
		return nil
	}
	to.Echo = r.Verdict == Accept
	w := walk{firewall: f}
	out, in := f.chains(&packet)
	for _, protocol := range portedProtocols(out, in) {
		packet.Protocol = protocol
		way, err := w.prepare(&packet)
		if err != nil {
			to.Err = err
			return nil
		}
		probe := w.probe
		if *left -= out.size() + in.size(); *left < 0 {
			return &LimitError{"rules to look at for one question", MaxReachWork}
		}
		w.short = [2]shortened{shorten(out, &probe, way.from, false), shorten(in, &probe, way.to, true)}
		each := packetWork + w.short[0].chain.size() + w.short[1].chain.size()
		var named []portRange
		for _, s := range w.short {
			named = s.ports(named)
		}
		for _, class := range classes(append(named, specialPorts...)) {
			if *left -= each; *left < 0 {
				return &LimitError{"rules to look at for one question", MaxReachWork}
			}
			probe.dport = class.first
			w.probe, w.result = probe, Result{Verdict: Accept, Stages: w.result.Stages[:0]}
			w.pass(way.from, way.to)
			if w.result.Verdict != Accept {
				continue
			}
			if n := len(to.Open); n > 0 && to.Open[n-1].Protocol == protocol && int(to.Open[n-1].Last)+1 == int(class.first) {
				to.Open[n-1].Last = class.last
			} else {
				to.Open = append(to.Open, OpenPorts{protocol, class.first, class.last})
			}
		}
	}
	return nil
}

// packetWork is the cost of a packet apart from rules, in rules.
const packetWork = 16

// size returns how many entries a packet may meet.
func (c *chain) size() int {
	if c == nil {
		return 0
	}
	n := len(c.entries)
	for i := range c.entries {
		if e := &c.entries[i]; e.group != nil && !e.repeated {
			n += len(e.group.in.entries) + len(e.group.out.entries)
		}
	}
	return n
}

// specialPorts are those that checks of Proxmox name.
var specialPorts = []portRange{{22, 22}, {43, 43}, {67, 68}, {135, 135}, {137, 139}, {445, 445}, {546, 547}, {1024, 65535}, {1900, 1900},
	{3128, 3128}, {5404, 5405}, {5900, 5999}, {8006, 8006}, {60000, 60050}}

// classes cuts all ports into ranges within which each of the given conditions
// is constant.
func classes(named []portRange) []portRange {
	cuts := []int{0, math.MaxUint16 + 1}
	for _, r := range named {
		cuts = append(cuts, int(r.first), int(r.last)+1)
	}
	slices.Sort(cuts)
	cuts = slices.Compact(cuts)
	list := make([]portRange, len(cuts)-1)
	for i := range list {
		list[i] = portRange{uint16(cuts[i]), uint16(cuts[i+1] - 1)}
	}
	return list
}

// chains returns the chains of both ends; nil if an end has none.
func (f *Firewall) chains(p *Packet) (out, in *chain) {
	if e, err := f.find(&p.From); err == nil {
		switch e.kind {
		case GuestNIC:
			out = &e.guest.out
		case Host:
			out = &e.node.out
		}
	}
	if e, err := f.find(&p.To); err == nil {
		switch e.kind {
		case GuestNIC:
			in = &e.guest.in
		case Host:
			in = &e.node.in
		}
	}
	return out, in
}

// portedProtocols returns tcp, udp and the protocols with ports that a rule of
// the chains names.
func portedProtocols(chains ...*chain) []uint8 {
	found := []uint8{protoTCP, protoUDP}
	var look func(c *chain)
	look = func(c *chain) {
		for i := range c.entries {
			e := &c.entries[i]
			if e.protocol >= 0 && hasPorts(uint8(e.protocol)) && !slices.Contains(found, uint8(e.protocol)) {
				found = append(found, uint8(e.protocol))
			}
			if e.group != nil && !e.repeated {
				look(&e.group.in)
				look(&e.group.out)
			}
		}
	}
	for _, c := range chains {
		if c != nil {
			look(c)
		}
	}
	slices.SortFunc(found, func(a, b uint8) int { return cmp.Compare(a, b) })
	return found
}

// shortened is a chain without the entries that cannot match packets which
// differ only in their destination port.
type shortened struct{ of, chain *chain }

// shorten removes from a chain what can never match the packets of a question.
// The question tries up to 65,535 ports, so that each removed rule counts.
func shorten(c *chain, p *probe, e end, in bool) shortened {
	if c == nil {
		return shortened{}
	}
	one := *p
	one.device = anyInterface // what depends on an interface stays
	if e.kind == GuestNIC {
		one.device = e.nic.number
	}
	return shortened{c, c.shorten(&one, in)}
}

// shorten leaves out the entries that do not match for another reason than the
// destination port or the interface of a node.
func (c *chain) shorten(p *probe, in bool) *chain {
	short := &chain{}
	for i := range c.entries {
		e := c.entries[i]
		if e.repeated {
			continue
		}
		ports, device := e.dports, e.device
		e.dports = nil
		if p.device == anyInterface {
			e.device = anyInterface
		}
		if e.match(p) != Matched {
			continue
		}
		if e.group != nil {
			g := &group{known: true}
			*g.chain(in) = *e.group.chain(in).shorten(p, in)
			e.group = g
		}
		e.dports, e.device = ports, device
		e.source, e.dest, e.sports = nil, nil, nil
		short.entries, short.heads = append(short.entries, e), append(short.heads, e.head())
	}
	return short
}

// ports appends what the rest of the chain names.
func (s shortened) ports(to []portRange) []portRange {
	if s.chain == nil {
		return to
	}
	return s.chain.ports(to)
}

// ports collects the ranges of ports that the rules name. Between their limits
// the verdict cannot change, so one port of each is enough.
func (c *chain) ports(to []portRange) []portRange {
	for i := range c.entries {
		to = append(to, c.entries[i].dports...)
		if g := c.entries[i].group; g != nil {
			to = g.out.ports(g.in.ports(to))
		}
	}
	return to
}
