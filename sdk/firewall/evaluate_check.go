package firewall

import (
	"fmt"
	"math"
	"net/netip"
)

// Check returns Invalid, with the field, for a question that is wrong for every
// backend. Backends call it before they read anything.
func (q TestQuery) Check() error {
	switch {
	case len(q.Packets) == 0:
		return Invalid("packets", "at least one is required")
	case len(q.Packets) > MaxPackets:
		return Invalid("packets", "at most %d are allowed", MaxPackets)
	case q.Trace && len(q.Packets) > MaxTraced:
		return Invalid("packets", "at most %d are allowed with their paths", MaxTraced)
	}
	if err := checkPackets("packets", q.Packets); err != nil {
		return err
	}
	return checkAssumed("assume", q.Assume)
}

// Check returns Invalid, with the field, for a malformed question; see
// TestQuery.Check.
func (q ReachQuery) Check() error {
	if err := q.To.check("to"); err != nil {
		return err
	}
	if len(q.From) > MaxReachFrom {
		return Invalid("from", "at most %d are allowed", MaxReachFrom)
	}
	for i, end := range q.From {
		if err := end.check(fmt.Sprintf("from.%d", i)); err != nil {
			return err
		}
	}
	return checkAssumed("assume", q.Assume)
}

// Check returns Invalid, with the field, for a malformed question; see
// TestQuery.Check. It compares guests without their nodes, because a guest may have
// moved.
func (q CompareQuery) Check() error {
	if len(q.Guests) > MaxCompared {
		return Invalid("guests", "at most %d are allowed", MaxCompared)
	}
	seen := map[Guest]bool{}
	for i, guest := range q.Guests {
		field := fmt.Sprintf("guests.%d", i)
		if err := (End{Kind: GuestEnd, Guest: &guest}).check(field); err != nil {
			return err
		}
		guest.Node = ""
		if seen[guest] {
			return Invalid(field, "it occurs twice")
		}
		seen[guest] = true
	}
	if len(q.Probes) > MaxPackets {
		return Invalid("probes", "at most %d are allowed", MaxPackets)
	}
	if err := checkPackets("probes", q.Probes); err != nil {
		return err
	}
	if err := checkAssumed("before", q.Before); err != nil {
		return err
	}
	return checkAssumed("after", q.After)
}

// checkAssumed validates assumed states. Two states of the same scope would
// contradict each other.
func checkAssumed(field string, states []State) error {
	if len(states) > MaxAssumed {
		return Invalid(field, "at most %d are allowed", MaxAssumed)
	}
	for i, s := range states {
		if err := s.Check(); err != nil {
			return Invalid(fmt.Sprintf("%s.%d", field, i), "%v", err)
		}
		for _, other := range states[:i] {
			if s.Scope.Same(other.Scope) {
				return Invalid(fmt.Sprintf("%s.%d", field, i), "the scope occurs twice")
			}
		}
	}
	return nil
}

// checkPackets validates packets; field is the name of the list.
func checkPackets(field string, packets []Packet) error {
	for i, p := range packets {
		if err := p.check(fmt.Sprintf("%s.%d", field, i)); err != nil {
			return err
		}
	}
	return nil
}

// check validates one packet.
func (p Packet) check(field string) error {
	if err := p.From.check(field + ".from"); err != nil {
		return err
	}
	if err := p.To.check(field + ".to"); err != nil {
		return err
	}
	if p.Protocol == "" {
		return Invalid(field+".protocol", "it is required")
	}
	if err := CheckText(field+".protocol", p.Protocol, MaxName); err != nil {
		return err
	}
	for name, port := range map[string]int{".sport": p.SourcePort, ".dport": p.DestinationPort} {
		if port < 0 || port > math.MaxUint16 {
			return Invalid(field+name, "it must be between 0 and %d", math.MaxUint16)
		}
	}
	return CheckText(field+".icmp_type", p.ICMPType, MaxName)
}

// check validates an end: it must have what its kind needs and nothing that belongs
// to another kind.
func (e End) check(field string) error {
	is := func(kind EndKind, what bool) bool { return (e.Kind == kind) == what }
	ok := is(GuestEnd, e.Guest != nil) && (e.NIC == "" || e.Kind == GuestEnd)
	switch e.Kind {
	case GuestEnd:
		ok = ok && ValidScope(Scope{Kind: GuestScope, Guest: e.Guest})
	case NodeEnd:
		ok = ok && e.Node != ""
	case AddressEnd:
		ok = ok && e.Address != ""
	case OutsideEnd:
	default:
		ok = false
	}
	if !ok {
		return Invalid(field, "the fields of the end %.40q are incomplete or do not belong to it", string(e.Kind))
	}
	for _, text := range []string{e.NIC, e.Node, e.Interface} {
		if err := CheckText(field, text, MaxName); err != nil {
			return err
		}
	}
	if e.Address != "" {
		if a, err := netip.ParseAddr(e.Address); err != nil || a.Zone() != "" {
			return Invalid(field+".address", "it is not a valid address")
		}
	}
	return nil
}
