package pve

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hostler/hostler/plugins/pve/pvefirewall"
	"github.com/hostler/hostler/sdk/firewall"
)

// reasons maps the reasons of the evaluator to those of the SDK.
var reasons = map[pvefirewall.Reason]firewall.Reason{
	pvefirewall.Matched: firewall.Matched, pvefirewall.Disabled: firewall.NotEnabled, pvefirewall.Direction: firewall.OtherDirection,
	pvefirewall.ForwardOnly: firewall.NotInForce, pvefirewall.Invalid: firewall.RuleInvalid, pvefirewall.Interface: firewall.OtherInterface,
	pvefirewall.Family: firewall.OtherFamily, pvefirewall.Protocol: firewall.OtherProtocol, pvefirewall.ICMPType: firewall.OtherICMPType,
	pvefirewall.SourceAddress: firewall.OtherSource, pvefirewall.SourceExcluded: firewall.SourceExcepted,
	pvefirewall.DestAddress: firewall.OtherDest, pvefirewall.DestExcluded: firewall.DestExcepted,
	pvefirewall.SourcePort: firewall.OtherSourcePort, pvefirewall.DestPort: firewall.OtherDestPort,
	pvefirewall.UnknownGroup: firewall.GroupMissing, pvefirewall.GroupPassed: firewall.GroupPassed, pvefirewall.NotMet: firewall.NotMet,
}

// checks describe the built-in checks of Proxmox VE for people.
var checks = map[pvefirewall.Builtin]string{
	pvefirewall.DHCP:      "DHCP of guests is accepted before any rule (option dhcp)",
	pvefirewall.NDP:       "IPv6 neighbor discovery is accepted before any rule (option ndp)",
	pvefirewall.RADV:      "router advertisements from guests are dropped (option radv)",
	pvefirewall.MACFilter: "the source MAC address must be that of the network interface (option macfilter)",
	pvefirewall.IPFilter:  "the source address must be in the filter of the interface (option ipfilter, or a set ipfilter-netN)",
	pvefirewall.Blacklist: "packets from sources in the cluster's IP set blacklist are dropped before any rule",
	pvefirewall.Smurfs:    "packets that claim to come from a broadcast address are dropped (option nosmurfs)",
	pvefirewall.TCPFlags:  "invalid combinations of TCP flags are dropped (option tcpflags)",
	pvefirewall.IGMP:      "IGMP from and to nodes is accepted before any rule",
	pvefirewall.Management: "the IP set management and the nodes' own network may manage the node, unless an earlier rule decides " +
		"otherwise",
	pvefirewall.LocalNetwork:     "the node may manage other nodes on its own network, unless an earlier rule decides otherwise",
	pvefirewall.CorosyncTraffic:  "the cluster's own traffic is accepted, unless an earlier rule decides otherwise",
	pvefirewall.ConntrackInvalid: "packets that connection tracking marks as invalid are dropped",
	pvefirewall.MarkLeft: "a rule with a group and another interface accepts packets that the sending guest's own rules accepted " +
		"before: a quirk of the hypervisor",
	pvefirewall.Loopback:   "packets from a node to itself are not checked",
	pvefirewall.ClusterOff: "the firewall of the cluster is off: nothing is checked anywhere",
	pvefirewall.NodeOff:    "the firewall of the node is off",
	pvefirewall.GuestOff:   "the firewall of the guest is off",
	pvefirewall.NICOff:     "the firewall of the guest's network interface is off",
}

// exceptions describe which part of a policy decided.
var exceptions = map[pvefirewall.Exception]string{
	pvefirewall.ExceptBroadcast: "but broadcasts and multicasts are dropped first",
	pvefirewall.ExceptICMP:      "but ICMP packets that belong to connections are accepted first",
	pvefirewall.ExceptInvalid:   "but packets that connection tracking marks as invalid are dropped first",
	pvefirewall.ExceptSMB:       "as for all Windows file sharing",
	pvefirewall.ExceptUPnP:      "but UPnP is dropped first",
	pvefirewall.ExceptNotSYN:    "but TCP packets that do not open a connection are dropped first",
	pvefirewall.ExceptDNSReply:  "but late DNS answers are dropped first",
	pvefirewall.ExceptTCP43:     "but TCP to port 43 is rejected first",
}

// hop converts a stage with its steps.
func (j *judged) hop(stage pvefirewall.Stage) firewall.Hop {
	h := firewall.Hop{NIC: stage.NIC, Outcome: outcomeOf(stage.Verdict), Scope: firewall.Scope{Kind: firewall.NodeScope, Node: stage.Node}}
	switch stage.Check {
	case pvefirewall.NodeIn, pvefirewall.GuestIn:
		h.Direction = firewall.DirectionIn
	case pvefirewall.NodeOut, pvefirewall.GuestOut:
		h.Direction = firewall.DirectionOut
	default:
		h.Direction = firewall.DirectionForward
	}
	if stage.Check == pvefirewall.GuestIn || stage.Check == pvefirewall.GuestOut {
		h.Scope = j.scope(pvefirewall.Scope{Kind: pvefirewall.ScopeGuest, Guest: stage.Guest})
	}
	looked := stage.Steps
	if over := len(looked) - firewall.MaxSteps; over > 0 {
		h.Omitted, looked = over, looked[over:]
	}
	for _, l := range looked {
		h.Steps = append(h.Steps, j.step(l))
	}
	if n := len(h.Steps); n > 0 {
		h.By = h.Steps[n-1]
	}
	if stage.By.Builtin == pvefirewall.Policy {
		h.By.Text = j.policy(h) + exceptionOf(stage.By.Exception)
		h.Steps[len(h.Steps)-1] = h.By
	}
	return h
}

// nothing returns the hop of a packet that nothing checks.
func (j *judged) nothing(w way, why pvefirewall.Builtin) firewall.Hop {
	h := firewall.Hop{Scope: clusterOnly, Direction: firewall.DirectionForward, Outcome: firewall.Accepted}
	if why == pvefirewall.Loopback {
		h.Scope, h.Direction = firewall.Scope{Kind: firewall.NodeScope, Node: w.to.Node}, firewall.DirectionIn
	}
	h.By = j.step(pvefirewall.EvaluatedRule{Builtin: why, Reason: pvefirewall.Matched})
	h.Steps = []firewall.Step{h.By}
	return h
}

// exceptionOf returns the text for a built-in exception of the firewall, with a
// comma in front.
func exceptionOf(e pvefirewall.Exception) string {
	if text := exceptions[e]; text != "" {
		return ", " + text
	}
	return ""
}

// policy returns the policy that decides at a hop.
func (j *judged) policy(h firewall.Hop) string {
	options, whose := j.cluster.Options, "of the cluster"
	if h.Scope.Kind == firewall.GuestScope {
		for _, s := range j.guestIs {
			if s.Scope.Same(h.Scope) {
				options, whose = s.Options, "of the guest"
			}
		}
	}
	name, policy := firewall.OptionPolicyIn, either(options.PolicyIn, "DROP")
	if h.Direction == firewall.DirectionOut {
		name, policy = firewall.OptionPolicyOut, either(options.PolicyOut, "ACCEPT")
	}
	return fmt.Sprintf("no rule decides: %s %s is %s", name, whose, policy)
}

// either returns text, or otherwise if text is empty.
func either(text, otherwise string) string {
	if text != "" {
		return text
	}
	return otherwise
}

// step converts a step of the evaluator.
func (j *judged) step(l pvefirewall.EvaluatedRule) firewall.Step {
	s := firewall.Step{Why: reasons[l.Reason], Part: l.Part}
	if l.Via != (pvefirewall.RuleRef{}) {
		via := j.ruleAt(l.Via)
		s.Via = &via
	}
	if l.Builtin != 0 {
		s.Check, s.Text = strings.ReplaceAll(l.Builtin.String(), "-", "_"), checks[l.Builtin]
		return s
	}
	rule := j.ruleAt(l.Rule)
	if s.Rule = &rule; s.Why == firewall.RuleInvalid {
		s.Text = j.problems[l.Rule]
	}
	return s
}

// scope converts a scope of the evaluator.
func (j *judged) scope(s pvefirewall.Scope) firewall.Scope {
	switch s.Kind {
	case pvefirewall.ScopeNode:
		return firewall.Scope{Kind: firewall.NodeScope, Node: s.Node}
	case pvefirewall.ScopeGroup:
		return firewall.Scope{Kind: firewall.GroupScope, Group: s.Group}
	case pvefirewall.ScopeGuest:
		for _, g := range j.guests {
			if g.id == s.Guest {
				guest := g.guest
				return firewall.Scope{Kind: firewall.GuestScope, Guest: &guest}
			}
		}
	}
	return clusterOnly
}

// rulesAt returns the rules of a scope as they were read.
func (j *judged) rulesAt(s pvefirewall.Scope) []firewall.Rule {
	switch s.Kind {
	case pvefirewall.ScopeNode:
		return j.nodeIs[s.Node].Rules
	case pvefirewall.ScopeGuest:
		return j.guestIs[s.Guest].Rules
	case pvefirewall.ScopeGroup:
		return j.groups[s.Group].Rules
	}
	return j.cluster.Rules
}

// ruleAt returns the rule that the evaluator refers to.
func (j *judged) ruleAt(ref pvefirewall.RuleRef) firewall.RuleAt {
	at := firewall.RuleAt{Scope: j.scope(ref.Scope)}
	if rules := j.rulesAt(ref.Scope); ref.Position < len(rules) {
		at.Rule = rules[ref.Position]
	}
	return at
}

// addressChecks are the checks that depend on the source address.
var addressChecks = []string{"blacklist", "ipfilter", "management"}

// unreadSet begins the name of a set of the software-defined network, which is
// not read.
const unreadSet = "+sdn/"

// depends returns the unknown fact on which the verdict depends; empty if there
// is none.
func (j *judged) depends(w way, hops []firewall.Hop) string {
	for _, hop := range hops {
		for _, step := range hop.Steps {
			matched := step.Why == firewall.Matched
			source := slices.Contains([]firewall.Reason{firewall.OtherSource, firewall.SourceExcepted}, step.Why) ||
				slices.Contains(addressChecks, step.Check) || matched && step.Rule != nil && step.Rule.Rule.Source != ""
			dest := slices.Contains([]firewall.Reason{firewall.OtherDest, firewall.DestExcepted}, step.Why) || step.Check == "local_network" ||
				matched && step.Rule != nil && step.Rule.Rule.Destination != ""
			switch {
			case w.sourceGuessed && source:
				return addressMissing(w.from)
			case w.destGuessed && dest:
				return addressMissing(w.to)
			case step.Why == firewall.RuleInvalid && step.Rule != nil && namesUnread(step.Rule.Rule):
				return "a rule on the path uses an IP set of the software-defined network, which Hostler does not read"
			case step.Check == "policy" && j.corosyncError != nil && hop.Scope.Kind == firewall.NodeScope && w.packet.Protocol == 17 &&
				(w.packet.DestPort == 5404 || w.packet.DestPort == 5405):
				return "cannot determine whether this is the cluster's own traffic: " + oneLine(j.corosyncError.Error())
			}
		}
	}
	return ""
}

// namesUnread reports whether a rule refers to a set that could not be read.
// Its verdict is unknown then.
func namesUnread(r firewall.Rule) bool {
	return strings.HasPrefix(r.Source, unreadSet) || strings.HasPrefix(r.Destination, unreadSet)
}

// addressMissing explains that a verdict depends on an unknown address of a
// guest.
func addressMissing(end firewall.End) string {
	return fmt.Sprintf("the result depends on the address of guest %s, which is neither in its configuration nor reported by it; enter "+
		"the address",
		end.Guest.ID)
}

// asks is depends for all ports: it looks at all rules on the way, not only at
// those that matched.
func (j *judged) asks(w way) string {
	sets := j.setsOfWay(w)
	for i, end := range []firewall.End{w.from, w.to} {
		direction := []string{firewall.DirectionOut, firewall.DirectionIn}[i]
		for _, s := range j.statesOf(end) {
			for _, rule := range j.expanded(s) {
				switch {
				case !rule.Enabled || rule.Direction != direction:
				case namesUnread(rule):
					return "a rule on the path uses an IP set of the software-defined network, which Hostler does not read"
				case w.sourceGuessed && rule.Source != "":
					return addressMissing(w.from)
				case w.destGuessed && rule.Destination != "":
					return addressMissing(w.to)
				}
			}
		}
	}
	if w.sourceGuessed && sets {
		return addressMissing(w.from)
	}
	return ""
}

// setsOfWay reports whether a set that no rule names decides about the source.
func (j *judged) setsOfWay(w way) bool {
	has := func(s firewall.State, is func(name string) bool) bool {
		return slices.ContainsFunc(s.IPSets, func(set firewall.IPSetState) bool { return is(set.Name) })
	}
	if has(j.cluster, func(name string) bool { return name == "blacklist" }) || w.to.Kind == firewall.NodeEnd {
		return true
	}
	for _, s := range j.statesOf(w.from) {
		if s.Scope.Kind == firewall.GuestScope && (s.Options.IPFilter != nil && *s.Options.IPFilter ||
			has(s, func(name string) bool { return name == "ipfilter-"+w.from.NIC })) {
			return true
		}
	}
	return false
}

// statesOf returns the scopes whose rules apply to an end.
func (j *judged) statesOf(end firewall.End) []firewall.State {
	switch end.Kind {
	case firewall.GuestEnd:
		if g := j.guests[end.Guest.ID]; g != nil {
			return []firewall.State{j.guestIs[g.id]}
		}
	case firewall.NodeEnd:
		return []firewall.State{j.nodeIs[end.Node], j.cluster}
	}
	return nil
}

// expanded returns the rules of a scope with those of its groups.
func (j *judged) expanded(s firewall.State) (all []firewall.Rule) {
	for _, rule := range s.Rules {
		if rule.Direction == firewall.DirectionGroup && rule.Enabled {
			all = append(all, j.groups[strings.ToLower(rule.Action)].Rules...)
			continue
		}
		all = append(all, rule)
	}
	return all
}
