package pve

import (
	"fmt"

	"github.com/hostler/hostler/sdk/firewall"
)

// comparedNICs limits the network interfaces of a guest that are compared. Each
// is compared with each of every other guest on the same bridge, so the cost
// grows with its square.
const comparedNICs = 4

// pair is the two ends of a connection that is compared.
type pair struct{ from, to firewall.End }

// nicsOf returns the interfaces of a guest's end that are compared; none for
// other ends, and for a guest that cannot be read.
func (k *facts) nicsOf(end firewall.End) []nicFacts {
	if end.Kind != firewall.GuestEnd || end.NIC != "" || k.guests[end.Guest.ID] == nil {
		return nil
	}
	nics := k.guests[end.Guest.ID].nics
	return nics[:min(len(nics), comparedNICs)]
}

// pairsByNIC returns the connections between two ends by the interfaces of
// guests: each two that are on bridges of one name, and each one of a guest
// with the outside. If guests have no such two, the ends are chosen as for a
// packet that names no interface.
func (k *facts) pairsByNIC(from, to firewall.End) (pairs []pair) {
	of, at := k.nicsOf(from), k.nicsOf(to)
	if len(of) < 2 && len(at) < 2 {
		return []pair{{from, to}}
	}
	name := func(end firewall.End, n nicFacts) firewall.End {
		end.NIC = n.Name
		return end
	}
	switch {
	case from.Kind != firewall.GuestEnd:
		for _, n := range at {
			pairs = append(pairs, pair{from, name(to, n)})
		}
	case to.Kind != firewall.GuestEnd:
		for _, n := range of {
			pairs = append(pairs, pair{name(from, n), to})
		}
	default:
		for _, a := range of {
			for _, b := range at {
				if a.Bridge == b.Bridge {
					pairs = append(pairs, pair{name(from, a), name(to, b)})
				}
			}
		}
	}
	if len(pairs) == 0 {
		return []pair{{from, to}}
	}
	return pairs
}

// nameNIC removes the name of the interface from guests with a single one.
func (k *facts) nameNIC(end *firewall.End) {
	if end.Kind == firewall.GuestEnd && k.guests[end.Guest.ID] != nil && len(k.guests[end.Guest.ID].nics) < 2 {
		end.NIC = ""
	}
}

// otherNICs returns the note that a guest has more interfaces than are
// compared; false if it does not.
func (k *facts) otherNICs(end firewall.End) (change firewall.PairChange, is bool) {
	if end.Kind != firewall.GuestEnd || k.guests[end.Guest.ID] == nil || len(k.guests[end.Guest.ID].nics) <= comparedNICs {
		return change, false
	}
	return firewall.PairChange{From: firewall.End{Kind: firewall.OutsideEnd}, To: end, Unknown: fmt.Sprintf(
		"the guest has %d network interfaces; only the first %d are compared", len(k.guests[end.Guest.ID].nics), comparedNICs)}, true
}
