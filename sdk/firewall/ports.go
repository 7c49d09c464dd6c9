package firewall

import (
	"cmp"
	"slices"
)

// ComparePorts returns the ports that are in after and not in before, and the
// reverse. The arguments and the results are sorted and do not touch, as in
// ReachRow.Open.
func ComparePorts(before, after []Ports) (gained, lost []Ports) {
	return withoutPorts(after, before), withoutPorts(before, after)
}

// withoutPorts returns the ports of all that are not in without.
func withoutPorts(all, without []Ports) []Ports {
	var left []Ports
	for _, p := range all {
		for _, w := range without {
			if w.Protocol != p.Protocol || w.Last < p.First || w.First > p.Last {
				continue
			}
			if w.First > p.First {
				left = append(left, Ports{p.Protocol, p.First, w.First - 1})
			}
			p.First = w.Last + 1
		}
		if p.First <= p.Last {
			left = append(left, p)
		}
	}
	return left
}

// JoinPorts returns the ranges sorted by protocol and port. Ranges that overlap or
// touch become one. It does not change its argument.
func JoinPorts(all []Ports) []Ports {
	all = slices.Clone(all)
	slices.SortFunc(all, func(a, b Ports) int { return cmp.Or(cmp.Compare(a.Protocol, b.Protocol), a.First-b.First) })
	var joined []Ports
	for _, p := range all {
		if n := len(joined); n > 0 && joined[n-1].Protocol == p.Protocol && p.First <= joined[n-1].Last+1 {
			joined[n-1].Last = max(joined[n-1].Last, p.Last)
		} else {
			joined = append(joined, p)
		}
	}
	return joined
}
