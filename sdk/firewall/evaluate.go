package firewall

import (
	"context"
	"time"
)

// Limits of one question to an Evaluator. A question that exceeds one is Invalid
// with the field "packets", "from", "guests", "probes" or "assume".
const (
	MaxPackets = 1000
	// MaxTraced is the largest number of packets whose steps can be requested.
	MaxTraced = 20
	// MaxReachFrom is the largest number of senders of a ReachQuery.
	MaxReachFrom = 500
	// MaxCompared is the largest number of guests of a CompareQuery.
	MaxCompared = 250
	// MaxPairs is the largest number of pairs in a Comparison. The others are only
	// counted.
	MaxPairs = 1000
	// MaxAssumed is the largest number of assumed states in a question.
	MaxAssumed = 100
	// MaxSteps is the largest number of steps of a hop. The deciding step is always
	// the last of them.
	MaxSteps = 2000
)

// EndKind is the kind of an end of a packet's path.
type EndKind string

// The kinds of ends.
const (
	// GuestEnd is a network interface of a guest.
	GuestEnd EndKind = "guest"
	// NodeEnd is a node itself.
	NodeEnd EndKind = "node"
	// AddressEnd is whatever has an address: a node if it is one of a node's
	// addresses, otherwise something beyond the nodes' interfaces.
	AddressEnd EndKind = "address"
	// OutsideEnd is something beyond the nodes' interfaces that is not a guest of
	// this endpoint.
	OutsideEnd EndKind = "outside"
)

// End is the source or the destination of a packet. In a question it contains what
// its kind needs, and optionally more. In an answer it contains the values that the
// backend assumed for what the question left open.
type End struct {
	Kind EndKind
	// Guest is the guest of a GuestEnd. NIC selects one of its network interfaces,
	// in the backend's words; empty means the first one, preferably on the network
	// of the other end.
	Guest *Guest
	NIC   string
	// Node is the node of a NodeEnd. For other ends an answer contains the node
	// whose firewall the packet meets there.
	Node string
	// Address is the address of an AddressEnd. For other ends it selects one of
	// their addresses. If it is empty, the backend uses one that it knows; for an
	// OutsideEnd any address that no guest has.
	Address string
	// Interface is the network interface of the node through which packets of an
	// AddressEnd, OutsideEnd or NodeEnd pass. If it is empty, the backend uses that
	// of the other end if it knows it.
	Interface string
}

// Packet describes the first packet of a connection.
type Packet struct {
	// From and To are the source and the destination.
	From, To End
	// Protocol is the name in the words of rules, such as "tcp", or the protocol
	// number.
	Protocol string
	// SourcePort and DestinationPort apply to protocols with ports. A SourcePort of
	// 0 stands for an arbitrary unprivileged port.
	SourcePort, DestinationPort int
	// ICMPType is the type in the words of rules, such as "echo-request", or its
	// number, optionally with a code: "3/1". Empty means an echo request.
	ICMPType string
}

// Outcome is the fate of a packet.
type Outcome string

// The outcomes.
const (
	Accepted Outcome = "accept"
	Dropped  Outcome = "drop"
	// Rejected means that the packet is dropped and the sender is notified.
	Rejected Outcome = "reject"
	// Unknown means that there is no verdict. Verdict.Reason says why.
	Unknown Outcome = "unknown"
)

// Outcomes returns all outcomes.
func Outcomes() []Outcome { return []Outcome{Accepted, Dropped, Rejected, Unknown} }

// Reason is the reason why a step decided about a packet, or did not.
type Reason string

// The reasons. Matched is the reason of the deciding step.
const (
	Matched         Reason = "matched"
	NotEnabled      Reason = "disabled"
	OtherDirection  Reason = "direction"
	OtherInterface  Reason = "interface"
	OtherFamily     Reason = "family"
	OtherProtocol   Reason = "protocol"
	OtherICMPType   Reason = "icmp_type"
	OtherSource     Reason = "source"
	OtherDest       Reason = "dest"
	SourceExcepted  Reason = "source_nomatch"
	DestExcepted    Reason = "dest_nomatch"
	OtherSourcePort Reason = "sport"
	OtherDestPort   Reason = "dport"
	// RuleInvalid applies to a rule that the hypervisor skips. Text says what is
	// wrong with it.
	RuleInvalid Reason = "invalid"
	// NotInForce applies to a rule that has no effect at the hypervisor.
	NotInForce Reason = "not_in_force"
	// GroupMissing applies to a rule that refers to a group which does not exist.
	// GroupPassed applies to one whose group did not decide.
	GroupMissing Reason = "group_missing"
	GroupPassed  Reason = "group_passed"
	// NotMet applies to a check whose condition is not met.
	NotMet Reason = "not_met"
)

// Reasons returns all reasons.
func Reasons() []Reason {
	return []Reason{Matched, NotEnabled, OtherDirection, OtherInterface, OtherFamily, OtherProtocol, OtherICMPType, OtherSource, OtherDest,
		SourceExcepted, DestExcepted, OtherSourcePort, OtherDestPort, RuleInvalid, NotInForce, GroupMissing, GroupPassed, NotMet}
}

// RuleAt is a rule together with its scope.
type RuleAt struct {
	Scope Scope
	Rule  Rule
}

// Step is a rule, or a check of the hypervisor itself, that a packet reached.
type Step struct {
	// Rule is nil for a check.
	Rule *RuleAt
	// Via is the rule that refers to the group of Rule. It is nil for a rule
	// outside of a group.
	Via *RuleAt
	// Check is the backend's word for a check, such as "policy". It is empty for a
	// rule.
	Check string
	// Part is the number of the part of a rule with a macro, from 1. 0 is the whole
	// rule.
	Part int
	Why  Reason
	// Text explains to people what the other fields do not say: what a check is, or
	// what is wrong with a rule.
	Text string
}

// Hop is one firewall on a packet's path.
type Hop struct {
	// Scope is the guest or node whose firewall it is. NIC is that of the guest.
	// Direction is DirectionIn, DirectionOut or DirectionForward as seen from
	// there.
	Scope     Scope
	NIC       string
	Direction string
	Outcome   Outcome
	// By is the step that decided.
	By Step
	// Steps are the steps that the packet reached, in order; the last one is By.
	// They are empty without TestQuery.Trace.
	Steps []Step
	// Omitted is the number of steps before the last that are missing in Steps.
	Omitted int
}

// Verdict is the result for one packet.
type Verdict struct {
	Outcome Outcome
	// Reason explains to people why the outcome is Unknown.
	Reason string
	// From and To are the ends with the values that the backend assumed.
	From, To End
	// Hops are the firewalls on the path, in order. The path ends at the first one
	// that does not accept. If there are none, nothing filters packets on this
	// path.
	Hops []Hop
}

// By returns the deciding step: the one that dropped the packet, or the last one
// that accepted it. It returns nil if nothing filters packets on this path, and for
// an Unknown outcome.
func (v Verdict) By() *Step {
	if len(v.Hops) == 0 || v.Outcome == Unknown {
		return nil
	}
	return &v.Hops[len(v.Hops)-1].By
}

// TestQuery asks for the fate of packets.
type TestQuery struct {
	// Packets are the packets to judge, at most MaxPackets.
	Packets []Packet
	// Trace requests the steps, for at most MaxTraced packets.
	Trace bool
	// Assume contains states that replace the present ones. The backend does not
	// read these scopes. That is how a draft is judged before it is applied.
	Assume []State
}

// Test is the result of Evaluator.Test.
type Test struct {
	// Verdicts are in the order of the packets.
	Verdicts []Verdict
	// At is the time at which the backend began to read the hypervisor's state.
	At time.Time
}

// ReachQuery asks which of the senders From reach the end To, and on which ports.
type ReachQuery struct {
	To     End
	From   []End
	Assume []State
}

// Reach is the result of Evaluator.Reach.
type Reach struct {
	To End
	// Rows are in the order of ReachQuery.From.
	Rows []ReachRow
	At   time.Time
}

// ReachRow is the result for one sender.
type ReachRow struct {
	From End
	// Open contains the open ports: all of tcp and udp, and those of other
	// protocols with ports that rules name. The ranges are sorted by protocol and
	// port and do not touch. A port counts as open if it is open with any IP
	// version of which both ends have addresses.
	Open []Ports
	// Echo is true if an ICMP echo request is accepted.
	Echo bool
	// Unknown explains to people why there is no answer for this sender. It is
	// empty otherwise.
	Unknown string
}

// Ports is a range of ports of a protocol, both limits included.
type Ports struct {
	Protocol    string
	First, Last int
}

// CompareQuery asks for the differences between two states of the firewall.
type CompareQuery struct {
	// Guests are the guests whose pairs are compared: with each other, and each
	// with an OutsideEnd.
	Guests []Guest
	// Probes are additional packets whose verdicts are compared.
	Probes []Packet
	// Before and After contain states that replace the present ones.
	Before, After []State
}

// Comparison is the result of Evaluator.Compare.
type Comparison struct {
	// Pairs are the pairs that gain or lose access, at most MaxPairs. Omitted is
	// the number of further ones.
	Pairs   []PairChange
	Omitted int
	// Probes are in the order of CompareQuery.Probes.
	Probes []ProbeChange
	// Cluster lists connections that the hypervisor's cluster itself needs, between
	// the nodes of the probes, whose verdict changes or is Unknown before or after,
	// at most MaxPairs. Losing one of them can break the cluster.
	Cluster []ClusterChange
	At      time.Time
}

// ClusterChange is the change for one connection that a cluster needs.
type ClusterChange struct {
	// From and To are names of nodes.
	From, To string
	// Traffic describes the connection to people, such as "corosync, udp port
	// 5405".
	Traffic string
	ProbeChange
}

// PairChange is what one pair of ends gains or loses. Guests with several network
// interfaces have a pair for each two interfaces on the same network, and the ends
// name them. A backend that compares only some interfaces of a guest reports that
// as a pair with Unknown.
type PairChange struct {
	From, To End
	// Gained are the ports that are open after the change and not before, Lost the
	// reverse, with any IP version of which both ends have addresses. A port can be
	// gained with one version and lost with the other.
	Gained, Lost []Ports
	// GainsEcho and LosesEcho concern ICMP echo requests.
	GainsEcho, LosesEcho bool
	// Unknown explains why there is no answer for this pair.
	Unknown string
}

// ProbeChange is the verdict of a probe before and after the change, without steps.
type ProbeChange struct{ Before, After Verdict }

// Differs reports whether the outcome changes, or is unknown before or after.
func (c ProbeChange) Differs() bool {
	return c.Before.Outcome != c.After.Outcome || c.Before.Outcome == Unknown
}

// Evaluator is implemented by firewalls that can compute the fate of a packet and
// the rule that decides. It is an ability of the cluster scope, needs the
// Monitoring capability and changes nothing.
//
// Each call reads the hypervisor's state once, and only those guests that the
// question names. The backend bounds the cost for the hypervisor and documents the
// bound. What cannot be read or judged makes the dependent verdicts Unknown with a
// reason. The call fails only if nothing can be said at all.
//
// A malformed question is Invalid with the field, which includes the index of a
// packet: "packets.2.to". A guest or node that does not exist makes the dependent
// verdicts Unknown.
//
// The verdict is about the first packet of a connection and about rules alone. It
// does not consider routes, or whether a program listens.
type Evaluator interface {
	// Test judges packets.
	Test(ctx context.Context, query TestQuery) (Test, error)
	// Reach returns for each sender the ports on which it reaches one end.
	Reach(ctx context.Context, query ReachQuery) (Reach, error)
	// Compare returns the pairs that gain or lose access, and the changed verdicts
	// of probes.
	Compare(ctx context.Context, query CompareQuery) (Comparison, error)
}
