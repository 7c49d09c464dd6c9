package pve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/hostler/hostler/plugins/pve/pvefirewall"
	"github.com/hostler/hostler/sdk/firewall"
)

var _ firewall.Evaluator = (*Firewall)(nil)

// Test implements firewall.Evaluator by package pvefirewall. It assumes that
// the unread parts of a node's guests do not keep the node from loading its
// rules. facts.read documents the number of requests.
func (f *Firewall) Test(ctx context.Context, query firewall.TestQuery) (firewall.Test, error) {
	if err := query.Check(); err != nil {
		return firewall.Test{}, err
	}
	if err := checkPackets("packets", query.Packets); err != nil {
		return firewall.Test{}, err
	}
	k, err := f.facts(ctx, endsOf(query.Packets), query.Assume, query.Assume)
	if err != nil {
		return firewall.Test{}, err
	}
	j, err := k.with(query.Assume)
	if err != nil {
		return firewall.Test{}, err
	}
	answer := firewall.Test{At: k.at}
	for _, p := range query.Packets {
		if ctx.Err() != nil {
			return firewall.Test{}, ctx.Err()
		}
		answer.Verdicts = append(answer.Verdicts, j.verdict(p, query.Trace))
	}
	return answer, nil
}

// facts reads what the ends need, without the scopes that both lists assume.
func (f *Firewall) facts(ctx context.Context, ends []firewall.End, before, after []firewall.State) (*facts, error) {
	has := func(list []firewall.State, scope firewall.Scope) bool {
		return slices.ContainsFunc(list, func(s firewall.State) bool { return s.Scope.Same(scope) })
	}
	k := &facts{f: f, covered: func(scope firewall.Scope) bool { return has(before, scope) && has(after, scope) }}
	return k, k.read(ctx, ends)
}

// endsOf returns both ends of all packets.
func endsOf(packets []firewall.Packet) (ends []firewall.End) {
	for _, p := range packets {
		ends = append(ends, p.From, p.To)
	}
	return ends
}

// Reach implements firewall.Evaluator.
func (f *Firewall) Reach(ctx context.Context, query firewall.ReachQuery) (firewall.Reach, error) {
	if err := query.Check(); err != nil {
		return firewall.Reach{}, err
	}
	k, err := f.facts(ctx, append(slices.Clone(query.From), query.To), query.Assume, query.Assume)
	if err != nil {
		return firewall.Reach{}, err
	}
	j, err := k.with(query.Assume)
	if err != nil {
		return firewall.Reach{}, err
	}
	answer := firewall.Reach{To: query.To, At: k.at}
	known := false
	for _, from := range query.From {
		if ctx.Err() != nil {
			return firewall.Reach{}, ctx.Err()
		}
		row, to := j.reach(from, query.To)
		if !known && (row.Unknown == "" || answer.To.NIC == "") {
			answer.To, known = to, row.Unknown == ""
		}
		answer.Rows = append(answer.Rows, row)
	}
	return answer, nil
}

// reach returns the row of one sender over all versions of IP for which both
// ends have addresses, and the other end as it was chosen for the first.
func (j *judged) reach(from, to firewall.End) (row firewall.ReachRow, met firewall.End) {
	for i, w := range j.waysOf(from, to) {
		one := j.reachBy(w)
		if i == 0 {
			row, met = one, w.to
			continue
		}
		if row.Unknown == "" {
			row.Unknown = one.Unknown
		}
		row.Open, row.Echo = firewall.JoinPorts(append(row.Open, one.Open...)), row.Echo || one.Echo
	}
	if row.Unknown != "" {
		row.Open, row.Echo = nil, false
	}
	return row, met
}

// reachBy returns the row of a way's sender, for the way's version of IP.
func (j *judged) reachBy(w way) firewall.ReachRow {
	row := firewall.ReachRow{From: w.from, Unknown: w.unknown}
	if row.Unknown == "" {
		row.Unknown = j.asks(w)
	}
	if row.Unknown != "" {
		return row
	}
	answers, err := j.firewall.Reach(pvefirewall.ReachQuery{To: w.packet.To, Dest: w.packet.Dest,
		From: []pvefirewall.Source{{Endpoint: w.packet.From, Address: w.packet.Source}}})
	if err == nil {
		err = answers[0].Err
	}
	if err != nil {
		row.Unknown = notJudged(err)
		return row
	}
	for _, open := range answers[0].Open {
		protocol := pvefirewall.ProtocolName(open.Protocol)
		row.Open = append(row.Open, firewall.Ports{Protocol: protocol, First: int(open.First), Last: int(open.Last)})
	}
	row.Open, row.Echo = firewall.JoinPorts(row.Open), answers[0].Echo
	return row
}

// notJudged returns the reason why there is no verdict.
func notJudged(err error) string {
	var loads *pvefirewall.UndecidedError
	if errors.As(err, &loads) {
		return "the node does not load the configured rules, so other rules are in force: " + oneLine(err.Error())
	}
	return oneLine(err.Error())
}

// Compare implements firewall.Evaluator. It compares the pairs in which the
// firewall of one end differs, and all pairs if that of the cluster, a group or
// a node differs.
func (f *Firewall) Compare(ctx context.Context, query firewall.CompareQuery) (firewall.Comparison, error) {
	if err := query.Check(); err != nil {
		return firewall.Comparison{}, err
	}
	if err := checkPackets("probes", query.Probes); err != nil {
		return firewall.Comparison{}, err
	}
	ends := []firewall.End{{Kind: firewall.OutsideEnd}}
	for i := range query.Guests {
		ends = append(ends, firewall.End{Kind: firewall.GuestEnd, Guest: &query.Guests[i]})
	}
	k, err := f.facts(ctx, append(endsOf(query.Probes), ends...), query.Before, query.After)
	if err != nil {
		return firewall.Comparison{}, err
	}
	before, err := k.with(query.Before)
	if err != nil {
		return firewall.Comparison{}, err
	}
	after, err := k.with(query.After)
	if err != nil {
		return firewall.Comparison{}, err
	}
	answer := firewall.Comparison{At: k.at}
	for _, p := range query.Probes {
		answer.Probes = append(answer.Probes, firewall.ProbeChange{Before: before.verdict(p, false), After: after.verdict(p, false)})
	}
	answer.Cluster = clusterChanges(before, after)
	all := before.sharedDiffer(after)
	differs := func(end firewall.End) bool {
		return all || end.Kind == firewall.GuestEnd && k.guests[end.Guest.ID].err == nil &&
			!before.guestIs[k.guests[end.Guest.ID].id].Equal(after.guestIs[k.guests[end.Guest.ID].id])
	}
	tell := func(change firewall.PairChange) {
		if len(answer.Pairs) < firewall.MaxPairs {
			answer.Pairs = append(answer.Pairs, change)
		} else {
			answer.Omitted++
		}
	}
	for i, from := range ends {
		if other, is := k.otherNICs(from); is && differs(from) {
			tell(other)
		}
		for l, to := range ends {
			if i == l || !differs(from) && !differs(to) {
				continue
			}
			for _, p := range k.pairsByNIC(from, to) {
				if ctx.Err() != nil {
					return firewall.Comparison{}, ctx.Err()
				}
				if change, is := comparePair(before, after, p.from, p.to); is {
					k.nameNIC(&change.From)
					k.nameNIC(&change.To)
					tell(change)
				}
			}
		}
	}
	return answer, nil
}

// corosyncPort is the port of corosync unless the cluster's configuration names
// another. The built-in rules let only this port through (pve-firewall,
// PVE::Firewall).
const corosyncPort = 5405

// clusterChanges compares the verdicts on corosync's packets between the nodes
// that were read, on every ring. A firewall that blocks corosync makes nodes
// lose quorum and, with high availability, reboot; so a plan must show it. If
// the addresses of the rings cannot be read, the result is one Unknown change
// instead of none.
func clusterChanges(before, after *judged) (changes []firewall.ClusterChange) {
	if before.membership == nil || len(before.membership.order) < 2 {
		return nil
	}
	if err := before.corosyncError; err != nil {
		unknown := firewall.Verdict{Outcome: firewall.Unknown, Reason: "cannot read the cluster addresses of the nodes: " +
			oneLine(err.Error())}
		return []firewall.ClusterChange{{Traffic: "corosync", ProbeChange: firewall.ProbeChange{Before: unknown, After: unknown}}}
	}
	for _, from := range before.corosync.Nodes {
		for _, to := range before.corosync.Nodes {
			if from.Name == to.Name || before.nodes[from.Name] == nil || before.nodes[to.Name] == nil {
				continue
			}
			for ring := range min(len(from.Rings), len(to.Rings)) {
				a, b := from.Rings[ring], to.Rings[ring]
				if !a.IsValid() || !b.IsValid() || a.Is4() != b.Is4() || len(changes) >= firewall.MaxPairs {
					continue
				}
				p := firewall.Packet{Protocol: "udp", DestinationPort: corosyncPort,
					From: firewall.End{Kind: firewall.NodeEnd, Node: from.Name, Address: a.String()},
					To:   firewall.End{Kind: firewall.NodeEnd, Node: to.Name, Address: b.String()}}
				change := firewall.ProbeChange{Before: before.verdict(p, false), After: after.verdict(p, false)}
				if change.Differs() {
					changes = append(changes, firewall.ClusterChange{From: from.Name, To: to.Name, ProbeChange: change,
						Traffic: fmt.Sprintf("corosync, udp port %d, ring %d", corosyncPort, ring)})
				}
			}
		}
	}
	return changes
}

// sharedDiffer reports whether a scope that is not a guest's differs.
func (j *judged) sharedDiffer(other *judged) bool {
	if !j.cluster.Equal(other.cluster) || len(j.groups) != len(other.groups) {
		return true
	}
	for name, group := range j.groups {
		if o, there := other.groups[name]; !there || !group.Equal(o) {
			return true
		}
	}
	for name, node := range j.nodeIs {
		if !node.Equal(other.nodeIs[name]) {
			return true
		}
	}
	return false
}

// comparePair reports whether a pair changes, or may change. Each version of IP
// is compared on its own: a port that IPv6 gains is a change even if IPv4 has
// it already. The ends of the result are those of the first version that
// changes.
func comparePair(before, after *judged, from, to firewall.End) (change firewall.PairChange, changes bool) {
	for _, w := range after.waysOf(from, to) { // the same as before: no rule has a part in them
		then, now := before.reachBy(w), after.reachBy(w)
		one := firewall.PairChange{From: w.from, To: w.to, Unknown: cmp.Or(now.Unknown, then.Unknown)}
		if one.Unknown != "" {
			return one, true
		}
		one.Gained, one.Lost = firewall.ComparePorts(then.Open, now.Open)
		one.GainsEcho, one.LosesEcho = now.Echo && !then.Echo, then.Echo && !now.Echo
		switch {
		case len(one.Gained)+len(one.Lost) == 0 && now.Echo == then.Echo:
		case !changes:
			change, changes = one, true
		default:
			change.Gained, change.Lost = append(change.Gained, one.Gained...), append(change.Lost, one.Lost...)
			change.GainsEcho, change.LosesEcho = change.GainsEcho || one.GainsEcho, change.LosesEcho || one.LosesEcho
		}
	}
	change.Gained, change.Lost = firewall.JoinPorts(change.Gained), firewall.JoinPorts(change.Lost)
	return change, changes
}

// verdict judges one packet.
func (j *judged) verdict(p firewall.Packet, trace bool) firewall.Verdict {
	w := j.wayOf(p.From, p.To, ipVersion(p.Protocol))
	if w.unknown == "" {
		w.fill(p)
	}
	v := firewall.Verdict{Outcome: firewall.Unknown, Reason: w.unknown, From: w.from, To: w.to}
	if v.Reason != "" {
		return v
	}
	result, err := j.firewall.Trace(w.packet)
	if err != nil {
		v.Reason = notJudged(err)
		return v
	}
	for _, stage := range result.Stages {
		v.Hops = append(v.Hops, j.hop(stage))
	}
	if len(v.Hops) == 0 && result.By.Builtin != 0 {
		v.Hops = []firewall.Hop{j.nothing(w, result.By.Builtin)}
	}
	if v.Reason = j.depends(w, v.Hops); v.Reason == "" {
		v.Outcome = outcomeOf(result.Verdict)
	}
	if !trace {
		for i := range v.Hops {
			v.Hops[i].Steps, v.Hops[i].Omitted = nil, 0
		}
	}
	return v
}

// outcomeOf converts a verdict.
func outcomeOf(v pvefirewall.Verdict) firewall.Outcome {
	switch v {
	case pvefirewall.Accept:
		return firewall.Accepted
	case pvefirewall.Reject:
		return firewall.Rejected
	}
	return firewall.Dropped
}
