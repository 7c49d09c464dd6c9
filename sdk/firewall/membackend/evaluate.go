package membackend

import (
	"context"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"time"

	"github.com/hostler/hostler/sdk/firewall"
)

var _ firewall.Evaluator = (*Firewall)(nil)

// NIC is a network interface of a guest or node, with one address.
type NIC struct{ Name, Address string }

// SetNICs sets the network interfaces of a guest or node, and adds its scope.
// Without interfaces, verdicts about packets from or to it are Unknown.
func (e *Endpoint) SetNICs(scope firewall.Scope, nics ...NIC) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.add(scope)
	if e.nics == nil {
		e.nics = map[string][]NIC{}
	}
	e.nics[endKey(scope)] = nics
}

// SetClusterPort sets the TCP port of the cluster's own traffic, which Compare
// watches; 0, the default, is none.
func (e *Endpoint) SetClusterPort(port int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.clusterPort = port
}

// endKey returns the key of a scope without the node of a guest, so that a
// migrated guest keeps its interfaces.
func endKey(s firewall.Scope) string {
	if s.Guest != nil {
		guest := *s.Guest
		guest.Node = ""
		s.Guest = &guest
	}
	return key(s)
}

// evaluation is the state against which packets are evaluated. States and
// interfaces are keyed by endKey.
type evaluation struct {
	states map[string]firewall.State
	nics   map[string][]NIC
}

// evaluation copies the endpoint's state and applies assumed states. The caller
// holds the lock.
func (f *Firewall) evaluation(e *Endpoint, assume []firewall.State) (evaluation, error) {
	now := evaluation{states: map[string]firewall.State{}, nics: maps.Clone(e.nics)}
	for _, s := range e.scopes {
		one := firewall.State{Scope: s.scope, Rules: slices.Clone(s.rules), Aliases: slices.Clone(s.aliases)}
		for _, set := range s.sets {
			one.IPSets = append(one.IPSets, firewall.IPSetState{IPSet: set.IPSet, Members: slices.Clone(set.members)})
		}
		if f.CanAt(s.scope.Kind, "options") {
			var err error
			if one.Options, err = f.optionsOf(e, s.scope); err != nil {
				return now, err
			}
		}
		now.states[endKey(s.scope)] = one
	}
	return now.with(assume), nil
}

// with returns an evaluation in which states replace those of their scopes as a
// whole.
func (e evaluation) with(assume []firewall.State) evaluation {
	e.states = maps.Clone(e.states)
	for _, s := range assume {
		e.states[endKey(s.Scope)] = s
	}
	return e
}

// Test implements firewall.Evaluator.
func (f *Firewall) Test(ctx context.Context, query firewall.TestQuery) (answer firewall.Test, err error) {
	if err := query.Check(); err != nil {
		return answer, err
	}
	err = f.read(ctx, "Test", func(e *Endpoint) error {
		now, err := f.evaluation(e, query.Assume)
		if err != nil {
			return err
		}
		answer.At = time.Now()
		for _, packet := range query.Packets {
			answer.Verdicts = append(answer.Verdicts, now.judge(packet, query.Trace))
		}
		return nil
	})
	return answer, err
}

// Reach implements firewall.Evaluator.
func (f *Firewall) Reach(ctx context.Context, query firewall.ReachQuery) (answer firewall.Reach, err error) {
	if err := query.Check(); err != nil {
		return answer, err
	}
	err = f.read(ctx, "Reach", func(e *Endpoint) error {
		now, err := f.evaluation(e, query.Assume)
		if err != nil {
			return err
		}
		answer.At, answer.To = time.Now(), query.To
		for _, from := range query.From {
			row, to := now.reach(from, query.To)
			answer.To, answer.Rows = to, append(answer.Rows, row)
		}
		return nil
	})
	return answer, err
}

// Compare implements firewall.Evaluator.
func (f *Firewall) Compare(ctx context.Context, query firewall.CompareQuery) (answer firewall.Comparison, err error) {
	if err := query.Check(); err != nil {
		return answer, err
	}
	err = f.read(ctx, "Compare", func(e *Endpoint) error {
		now, err := f.evaluation(e, nil)
		if err != nil {
			return err
		}
		before, after := now.with(query.Before), now.with(query.After)
		answer.At = time.Now()
		for _, packet := range query.Probes {
			change := firewall.ProbeChange{Before: before.judge(packet, false), After: after.judge(packet, false)}
			answer.Probes = append(answer.Probes, change)
		}
		answer.Cluster = e.clusterChanges(before, after, query.Probes)
		ends := []firewall.End{{Kind: firewall.OutsideEnd}}
		several := map[*firewall.Guest]bool{}
		for i := range query.Guests {
			guest := &query.Guests[i]
			end := firewall.End{Kind: firewall.GuestEnd, Guest: guest}
			nics := now.nics[endKey(firewall.Scope{Kind: firewall.GuestScope, Guest: guest})]
			if several[guest] = len(nics) > 1; !several[guest] {
				ends = append(ends, end)
				continue
			}
			for _, nic := range nics {
				end.NIC = nic.Name
				ends = append(ends, end)
			}
		}
		for _, from := range ends {
			for _, to := range ends {
				if from.Guest == to.Guest { // or both are outside
					continue
				}
				change, differs := comparePair(before, after, from, to)
				for _, end := range []*firewall.End{&change.From, &change.To} {
					if !several[end.Guest] {
						end.NIC = ""
					}
				}
				if !differs {
					continue
				} else if len(answer.Pairs) < firewall.MaxPairs {
					answer.Pairs = append(answer.Pairs, change)
				} else {
					answer.Omitted++
				}
			}
		}
		return nil
	})
	return answer, err
}

// clusterChanges compares the cluster's own traffic between the nodes that
// probes name.
func (e *Endpoint) clusterChanges(before, after evaluation, probes []firewall.Packet) (changes []firewall.ClusterChange) {
	if e.clusterPort == 0 {
		return nil
	}
	ends := map[string]firewall.End{}
	for _, p := range probes {
		for _, end := range []firewall.End{p.From, p.To} {
			if end.Kind == firewall.NodeEnd {
				ends[end.Node] = firewall.End{Kind: firewall.NodeEnd, Node: end.Node}
			}
		}
	}
	for _, from := range slices.Sorted(maps.Keys(ends)) {
		for _, to := range slices.Sorted(maps.Keys(ends)) {
			packet := firewall.Packet{From: ends[from], To: ends[to], Protocol: "tcp", DestinationPort: e.clusterPort}
			change := firewall.ClusterChange{From: from, To: to, Traffic: fmt.Sprintf("the cluster's own, tcp port %d", e.clusterPort),
				ProbeChange: firewall.ProbeChange{Before: before.judge(packet, false), After: after.judge(packet, false)}}
			if from != to && change.Differs() && len(changes) < firewall.MaxPairs {
				changes = append(changes, change)
			}
		}
	}
	return changes
}

// comparePair compares what a sender reaches at a receiver before and after. An
// end that cannot be evaluated counts as a difference, because a caller must
// not take silence for "no change".
func comparePair(before, after evaluation, from, to firewall.End) (change firewall.PairChange, differs bool) {
	then, _ := before.reach(from, to)
	now, met := after.reach(from, to)
	change = firewall.PairChange{From: now.From, To: met, Unknown: now.Unknown}
	if change.Unknown == "" {
		change.Unknown = then.Unknown
	}
	if change.Unknown != "" {
		return change, true
	}
	change.Gained, change.Lost = firewall.ComparePorts(then.Open, now.Open)
	change.GainsEcho, change.LosesEcho = now.Echo && !then.Echo, then.Echo && !now.Echo
	return change, len(change.Gained)+len(change.Lost) > 0 || now.Echo != then.Echo
}

// reach returns the open ports from a sender to a receiver. It does not try
// 65,536 ports: rules only change their answer at ports that they name, so one
// port of each range between these is enough.
func (e evaluation) reach(from, to firewall.End) (row firewall.ReachRow, met firewall.End) {
	echo := e.judge(firewall.Packet{From: from, To: to, Protocol: "icmp"}, false)
	row.From, row.Unknown, row.Echo, met = echo.From, echo.Reason, echo.Outcome == firewall.Accepted, echo.To
	if row.Unknown != "" {
		return row, met
	}
	cuts := []int{0, 1 << 16}
	for _, s := range e.states {
		for _, rule := range s.Rules {
			for _, part := range parts(rule) {
				for _, p := range rangesOf(part.DestinationPort) {
					cuts = append(cuts, p.First, p.Last+1)
				}
			}
		}
	}
	slices.Sort(cuts)
	for _, protocol := range []string{"tcp", "udp"} {
		for i, first := range cuts[:len(cuts)-1] {
			if first == cuts[i+1] || first < 0 || first >= 1<<16 {
				continue
			}
			packet := firewall.Packet{From: from, To: to, Protocol: protocol, DestinationPort: first}
			if e.judge(packet, false).Outcome == firewall.Accepted {
				row.Open = append(row.Open, firewall.Ports{Protocol: protocol, First: first, Last: min(cuts[i+1], 1<<16) - 1})
			}
		}
	}
	row.Open = firewall.JoinPorts(row.Open)
	return row, met
}

// scopeOf returns the scope whose rules apply at an end. ok is false for
// addresses and the outside.
func scopeOf(end firewall.End) (scope firewall.Scope, ok bool) {
	switch end.Kind {
	case firewall.GuestEnd:
		return firewall.Scope{Kind: firewall.GuestScope, Guest: end.Guest}, true
	case firewall.NodeEnd:
		return firewall.Scope{Kind: firewall.NodeScope, Node: end.Node}, true
	}
	return firewall.Scope{}, false
}

// resolve fills in the interface and the address of an end, or returns why it
// cannot. An address that belongs to a node becomes that node. The outside has
// an address of TEST-NET-3 (RFC 5737).
func (e evaluation) resolve(end firewall.End) (firewall.End, string) {
	if end.Kind == firewall.AddressEnd {
		for _, s := range e.states {
			is := func(n NIC) bool { return n.Address == end.Address }
			if s.Scope.Kind == firewall.NodeScope && slices.ContainsFunc(e.nics[endKey(s.Scope)], is) {
				return firewall.End{Kind: firewall.NodeEnd, Node: s.Scope.Node, Address: end.Address, Interface: end.Interface}, ""
			}
		}
	}
	scope, inside := scopeOf(end)
	if !inside {
		if end.Address == "" {
			end.Address = "203.0.113.77"
		}
		return end, ""
	}
	nics := e.nics[endKey(scope)]
	for _, nic := range nics {
		if end.NIC == "" || nic.Name == end.NIC {
			if end.Kind == firewall.GuestEnd {
				end.NIC, end.Node = nic.Name, scope.Guest.Node
			}
			if end.Address == "" {
				end.Address = nic.Address
			}
			if _, err := netip.ParseAddr(end.Address); err != nil {
				return end, fmt.Sprintf("the address of %s is not known", endKey(scope))
			}
			return end, ""
		}
	}
	return end, fmt.Sprintf("the network interface %q of %s does not exist", end.NIC, endKey(scope))
}
