package membackend

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/hostler/hostler/sdk/firewall"
)

// judge evaluates a packet: first the outgoing rules of the sender, then the
// incoming rules of the receiver. If the cluster's firewall is off, everything
// is accepted without a hop.
func (e evaluation) judge(packet firewall.Packet, trace bool) firewall.Verdict {
	v := firewall.Verdict{Outcome: firewall.Accepted, From: packet.From, To: packet.To}
	for _, end := range []*firewall.End{&v.From, &v.To} {
		var reason string
		if *end, reason = e.resolve(*end); reason != "" {
			v.Outcome, v.Reason = firewall.Unknown, reason
			return v
		}
	}
	cluster := e.states[key(firewall.Scope{Kind: firewall.ClusterScope})]
	if on := cluster.Options.Enable; on == nil || !*on {
		return v
	}
	if packet.ICMPType == "" {
		packet.ICMPType = "echo-request"
	}
	for i, end := range []firewall.End{v.From, v.To} {
		scope, has := scopeOf(end)
		if !has {
			continue
		}
		w := walk{evaluation: e, cluster: cluster, packet: packet, from: v.From, to: v.To, trace: trace}
		w.hop = firewall.Hop{Scope: scope, NIC: end.NIC, Direction: []string{firewall.DirectionOut, firewall.DirectionIn}[i]}
		w.pass(e.states[endKey(scope)])
		v.Hops, v.Outcome = append(v.Hops, w.hop), w.hop.Outcome
		if v.Outcome != firewall.Accepted {
			break
		}
	}
	return v
}

// walk is a packet on its way through the firewall of one end.
type walk struct {
	evaluation
	cluster  firewall.State
	packet   firewall.Packet
	from, to firewall.End
	trace    bool
	hop      firewall.Hop
}

// pass evaluates the rules of a guest, or those of a node followed by those of
// the cluster, and then the policy. Nodes are on unless switched off, guests
// are off unless switched on. Without a policy, incoming packets are dropped
// and outgoing ones accepted.
func (w *walk) pass(own firewall.State) {
	on, options := own.Scope.Kind == firewall.NodeScope, own.Options
	if own.Options.Enable != nil {
		on = *own.Options.Enable
	}
	if !on {
		w.decide(firewall.Accepted, firewall.Step{Check: "off", Text: "the firewall is switched off here"})
		return
	}
	lists := []firewall.State{own}
	if own.Scope.Kind == firewall.NodeScope {
		lists, options = append(lists, w.cluster), w.cluster.Options
	}
	for _, s := range lists {
		for _, rule := range s.Rules {
			if w.look(s, rule, nil) {
				return
			}
		}
	}
	policy := either(options.PolicyIn, "DROP")
	if w.hop.Direction == firewall.DirectionOut {
		policy = either(options.PolicyOut, "ACCEPT")
	}
	w.decide(outcomeOf(policy), firewall.Step{Check: "policy", Text: "no rule decides, and the policy is " + policy})
}

// either returns a, or b if a is empty.
func either(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// outcomeOf returns the outcome of an action. Unknown actions drop.
func outcomeOf(action string) firewall.Outcome {
	switch action {
	case "ACCEPT":
		return firewall.Accepted
	case "REJECT":
		return firewall.Rejected
	}
	return firewall.Dropped
}

// decide ends the walk with an outcome and the step that decided.
func (w *walk) decide(outcome firewall.Outcome, by firewall.Step) {
	by.Why = firewall.Matched
	w.hop.Outcome, w.hop.By = outcome, by
	w.note(by)
}

// note adds a step to the trace. A long trace loses its oldest steps, because
// the last ones explain the outcome.
func (w *walk) note(step firewall.Step) {
	if !w.trace {
		return
	}
	if len(w.hop.Steps) >= firewall.MaxSteps {
		w.hop.Steps = w.hop.Steps[1:]
		w.hop.Omitted++
	}
	w.hop.Steps = append(w.hop.Steps, step)
}

// look evaluates one rule and reports whether it decided. A rule that stands
// for a group evaluates the group's rules; groups do not nest.
func (w *walk) look(s firewall.State, rule firewall.Rule, via *firewall.RuleAt) bool {
	at := firewall.RuleAt{Scope: s.Scope, Rule: rule}
	step := firewall.Step{Rule: &at, Via: via}
	if rule.Direction == firewall.DirectionGroup && rule.Enabled {
		group, ok := w.states[key(firewall.Scope{Kind: firewall.GroupScope, Group: rule.Action})]
		if ok && !group.Absent {
			for _, inner := range group.Rules {
				if inner.Direction != firewall.DirectionGroup && w.look(group, inner, &at) {
					return true
				}
			}
			step.Why = firewall.GroupPassed
		} else {
			step.Why = firewall.GroupMissing
		}
		w.note(step)
		return false
	}
	all := parts(rule)
	for i, part := range all {
		if step.Why = w.match(s, part); len(all) > 1 {
			step.Part = i + 1
		}
		if step.Why == firewall.Matched {
			w.decide(outcomeOf(rule.Action), step)
			return true
		}
		w.note(step)
	}
	return false
}

// parts returns the rules for which a rule with a macro stands, or the rule
// itself.
func parts(rule firewall.Rule) []firewall.Rule {
	ports := map[string][]string{"DNS": {"udp 53", "tcp 53"}, "HTTP": {"tcp 80"}, "HTTPS": {"tcp 443"}, "SSH": {"tcp 22"}}[rule.Macro]
	if rule.Macro == "Ping" {
		rule.Protocol, rule.ICMPType = "icmp", "echo-request"
	}
	if ports == nil {
		return []firewall.Rule{rule}
	}
	var all []firewall.Rule
	for _, port := range ports {
		rule.Protocol, rule.DestinationPort, _ = strings.Cut(port, " ")
		all = append(all, rule)
	}
	return all
}

// match returns Matched, or the first reason why a rule does not match.
func (w *walk) match(s firewall.State, rule firewall.Rule) firewall.Reason {
	switch {
	case !rule.Enabled:
		return firewall.NotEnabled
	case rule.Direction != w.hop.Direction:
		return firewall.OtherDirection
	case rule.Interface != "" && rule.Interface != w.hop.NIC:
		return firewall.OtherInterface
	case rule.Protocol != "" && rule.Protocol != w.packet.Protocol:
		return firewall.OtherProtocol
	case rule.ICMPType != "" && rule.ICMPType != w.packet.ICMPType:
		return firewall.OtherICMPType
	case !hasPort(rule.SourcePort, w.packet.SourcePort):
		return firewall.OtherSourcePort
	case !hasPort(rule.DestinationPort, w.packet.DestinationPort):
		return firewall.OtherDestPort
	}
	if in, excepted := w.holds(s, rule.Source, w.from.Address); excepted {
		return firewall.SourceExcepted
	} else if !in {
		return firewall.OtherSource
	}
	if in, excepted := w.holds(s, rule.Destination, w.to.Address); excepted {
		return firewall.DestExcepted
	} else if !in {
		return firewall.OtherDest
	}
	return firewall.Matched
}

// rangesOf parses ports such as "80,443,8000:8010". Items that are not ports
// are skipped.
func rangesOf(text string) (list []firewall.Ports) {
	for item := range strings.SplitSeq(text, ",") {
		from, to, isRange := strings.Cut(item, ":")
		if !isRange {
			to = from
		}
		first, err := strconv.ParseUint(from, 10, 16)
		last, err2 := strconv.ParseUint(to, 10, 16)
		if err == nil && err2 == nil && first <= last {
			list = append(list, firewall.Ports{First: int(first), Last: int(last)})
		}
	}
	return list
}

// hasPort reports whether a list of ports contains a port. An empty list
// contains all.
func hasPort(text string, port int) bool {
	return text == "" || slices.ContainsFunc(rangesOf(text), func(p firewall.Ports) bool { return p.First <= port && port <= p.Last })
}

// holds reports whether an address belongs to a source or destination: a list
// of addresses, networks, names of aliases, and "+" with the name of a set. In
// a set the longest matching network decides; if it is marked NoMatch, the
// address is excepted. Names are looked up in the scope and then in the
// cluster.
func (w *walk) holds(s firewall.State, text, address string) (in, excepted bool) {
	if text == "" {
		return true, false
	}
	a, err := netip.ParseAddr(address)
	if err != nil {
		return false, false
	}
	for item := range strings.SplitSeq(text, ",") {
		name, isSet := strings.CutPrefix(item, "+")
		if !isSet {
			in = in || w.prefix(s, item).Contains(a)
			continue
		}
		best := -1
		for _, m := range w.members(s, name) {
			if p := w.prefix(s, m.CIDR); p.Contains(a) && p.Bits() > best {
				best, excepted = p.Bits(), m.NoMatch
			}
		}
		in = in || best >= 0 && !excepted
	}
	return in, excepted && !in
}

// members returns the members of a set, from the scope or from the cluster.
func (w *walk) members(s firewall.State, name string) []firewall.IPSetMember {
	for _, of := range []firewall.State{s, w.cluster} {
		if i := slices.IndexFunc(of.IPSets, func(set firewall.IPSetState) bool { return set.Name == name }); i >= 0 {
			return of.IPSets[i].Members
		}
	}
	return nil
}

// prefix returns the network of a text or of the alias that it names. The zero
// value, which contains no address, stands for anything else.
func (w *walk) prefix(s firewall.State, text string) netip.Prefix {
	for _, of := range []firewall.State{s, w.cluster} {
		if i := slices.IndexFunc(of.Aliases, func(a firewall.Alias) bool { return a.Name == text }); i >= 0 {
			text = of.Aliases[i].CIDR
		}
	}
	if a, err := netip.ParseAddr(text); err == nil {
		text = fmt.Sprintf("%s/%d", a, a.BitLen())
	}
	p, _ := netip.ParsePrefix(text)
	return p
}
