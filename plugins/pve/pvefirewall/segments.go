package pvefirewall

import (
	"cmp"
	"encoding/binary"
	"math"
	"net/netip"
	"slices"
)

// state is what a set says about an address.
type state uint8

// The states of an address in a set.
const (
	outside state = iota
	inside
	excluded // a nomatch member decides
)

// wide is an address as a number. An IPv4 address uses the low 32 bits.
type wide struct{ high, low uint64 }

// next returns the following address.
func (a wide) next() wide {
	a.low++
	if a.low == 0 {
		a.high++
	}
	return a
}

// wideOf returns an address as two words.
func wideOf(a netip.Addr) wide {
	if a.Is4() {
		b := a.As4()
		return wide{0, uint64(binary.BigEndian.Uint32(b[:]))}
	}
	b := a.As16()
	return wide{binary.BigEndian.Uint64(b[:8]), binary.BigEndian.Uint64(b[8:])}
}

// segments are the addresses of one family, cut where the answer changes: from
// start[i] to the next start the answer is at[i]. Everything before the first
// start is outside.
type segments[T any] struct {
	start []T
	at    []state
}

// add cuts at start. A cut at the same place replaces the earlier one, and a
// cut without a change is left out.
func (s *segments[T]) add(start T, at state, same func(a, b T) bool) {
	if n := len(s.start); n > 0 && same(s.start[n-1], start) {
		s.start, s.at = s.start[:n-1], s.at[:n-1]
	}
	if before := s.last(); before == at {
		return
	}
	s.start, s.at = append(s.start, start), append(s.at, at)
}

// last returns the state of the last segment.
func (s *segments[T]) last() state {
	if len(s.at) == 0 {
		return outside
	}
	return s.at[len(s.at)-1]
}

// addressSet tells of any address whether it is in the set. nil is no
// condition: everything is inside.
type addressSet struct {
	v4 segments[uint32]
	v6 segments[wide]
}

// lookup takes an address of IPv4 as a number.
func (s *addressSet) lookup4(a uint32) state {
	start := s.v4.start
	low, high := 0, len(start)
	for low < high {
		if middle := int(uint(low+high) >> 1); start[middle] <= a {
			low = middle + 1
		} else {
			high = middle
		}
	}
	if low == 0 {
		return outside
	}
	return s.v4.at[low-1]
}

// lookup6 finds an IPv6 address by binary search.
func (s *addressSet) lookup6(a wide) state {
	start := s.v6.start
	low, high := 0, len(start)
	for low < high {
		middle := int(uint(low+high) >> 1)
		if m := &start[middle]; m.high < a.high || m.high == a.high && m.low <= a.low {
			low = middle + 1
		} else {
			high = middle
		}
	}
	if low == 0 {
		return outside
	}
	return s.v6.at[low-1]
}

// lookup finds an address of either version.
func (s *addressSet) lookup(a netip.Addr) state {
	if a.Is4() {
		return s.lookup4(uint32(wideOf(a).low))
	}
	return s.lookup6(wideOf(a))
}

// span is a range of addresses of one family, both ends included.
type span struct{ first, last netip.Addr }

// spanOf returns the range of a network, whatever host bits its address has.
func spanOf(p netip.Prefix) span {
	p = p.Masked()
	first := p.Addr()
	if first.Is4() {
		b := first.As4()
		fill(b[:], p.Bits())
		return span{first, netip.AddrFrom4(b)}
	}
	b := first.As16()
	fill(b[:], p.Bits())
	return span{first, netip.AddrFrom16(b)}
}

// fill sets the bits after the first bits, which gives the last address of a
// network.
func fill(b []byte, bits int) {
	for i := range b {
		switch rest := bits - 8*i; {
		case rest <= 0:
			b[i] = 0xff
		case rest < 8:
			b[i] |= 0xff >> rest
		}
	}
}

// put adds a range that begins after all earlier ones.
func (s *addressSet) put(first netip.Addr, at state) {
	if first.Is4() {
		s.v4.add(uint32(wideOf(first).low), at, func(a, b uint32) bool { return a == b })
	} else {
		s.v6.add(wideOf(first), at, func(a, b wide) bool { return a == b })
	}
}

// end closes a range: after last the answer is at.
func (s *addressSet) end(last netip.Addr, at state) {
	if last.Is4() {
		if n := uint32(wideOf(last).low); n != math.MaxUint32 {
			s.v4.add(n+1, at, func(a, b uint32) bool { return a == b })
		}
	} else if n := wideOf(last); n != (wide{math.MaxUint64, math.MaxUint64}) {
		s.v6.add(n.next(), at, func(a, b wide) bool { return a == b })
	}
}

// union is the set of all addresses of the ranges.
func union(spans []span) *addressSet {
	set := &addressSet{}
	slices.SortFunc(spans, func(a, b span) int { return a.first.Compare(b.first) })
	for i := 0; i < len(spans); {
		whole := spans[i]
		for i++; i < len(spans) && spans[i].first.BitLen() == whole.first.BitLen() && spans[i].first.Compare(whole.last) <= 0; i++ {
			if spans[i].last.Compare(whole.last) > 0 {
				whole.last = spans[i].last
			}
		}
		set.put(whole.first, inside)
		set.end(whole.last, outside)
	}
	return set
}

// network is a member of an IP set with its answer.
type network struct {
	prefix netip.Prefix
	at     state
}

// longest returns the set in which the longest network that contains an address
// decides. The networks are masked, and none occurs twice.
func longest(networks []network) *addressSet {
	set := &addressSet{}
	slices.SortFunc(networks, func(a, b network) int {
		if c := a.prefix.Addr().Compare(b.prefix.Addr()); c != 0 {
			return c
		}
		return cmp.Compare(a.prefix.Bits(), b.prefix.Bits())
	})
	// Networks contain each other or have nothing in common, so those around
	// the place that is reached are a stack.
	type open struct {
		last netip.Addr
		at   state
	}
	var around []open
	leave := func(until netip.Addr) {
		for n := len(around); n > 0 && (!until.IsValid() || around[n-1].last.Compare(until) < 0); n-- {
			outer := outside
			if n > 1 {
				outer = around[n-2].at
			}
			set.end(around[n-1].last, outer)
			around = around[:n-1]
		}
	}
	for _, n := range networks {
		s := spanOf(n.prefix)
		if len(around) > 0 && around[0].last.BitLen() != s.first.BitLen() {
			leave(netip.Addr{})
		}
		leave(s.first)
		set.put(s.first, n.at)
		around = append(around, open{s.last, n.at})
	}
	leave(netip.Addr{})
	return set
}
