package firewall

import (
	"context"
	"time"
)

// Bounds of one question of an Evaluator. More is Invalid with the field "packets", "from", "guests", "probes" or "assume".
const (
	MaxPackets = 1000
	// MaxTraced is how many packets a question may have whose paths are asked for.
	MaxTraced = 20
	// MaxReachFrom is how many ends a question about reach may name as senders.
	MaxReachFrom = 500
	// MaxCompared is how many guests a comparison may be about.
	MaxCompared = 250
	// MaxPairs is how many pairs the answer of a comparison has. More are counted.
	MaxPairs = 1000
	// MaxAssumed is how many states a question may assume.
	MaxAssumed = 100
	// MaxSteps is how many steps a hop has. The one that decides is the last of them in any case.
	MaxSteps = 2000
)

// EndKind is what an end of a packet's way is.
type EndKind string

// The kinds of ends.
const (
	// GuestEnd is a network interface of a guest.
	GuestEnd EndKind = "guest"
	// NodeEnd is a node itself.
	NodeEnd EndKind = "node"
	// AddressEnd is whoever has an address: a node where it is one of a node's own, else what is behind the nodes' interfaces.
	AddressEnd EndKind = "address"
	// OutsideEnd is what is behind the nodes' interfaces and is no guest of this endpoint.
	OutsideEnd EndKind = "outside"
)

// End is where a packet comes from or goes to. In a question it names what its kind needs and what more is known; in an answer it has what
// was taken where the question left it open.
type End struct {
	Kind EndKind
	// Guest is the guest of a GuestEnd, and NIC which of its network interfaces, in the backend's words; empty is the first one, best
	// on the network of the other end.
	Guest *Guest
	NIC   string
	// Node is the node of a NodeEnd. Of other ends an answer says the node whose firewall the packet meets there.
	Node string
	// Address is the one of an AddressEnd. For other ends it chooses one; where it is empty the backend takes one that it knows: for an
	// OutsideEnd any that no guest has.
	Address string
	// Interface is the node's network interface that packets of an AddressEnd, OutsideEnd or NodeEnd pass; where it is empty it is that of
	// the other end, as far as the backend knows it.
	Interface string
}

// Packet is the first packet of a connection.
type Packet struct {
	From, To End
	// Protocol is its name in the words of rules, such as "tcp", or its number.
	Protocol string
	// SourcePort and DestinationPort are those of protocols that have ports. A SourcePort of 0 stands for one that is nothing special.
	SourcePort, DestinationPort int
	// ICMPType is a type as rules name it, such as "echo-request", or its number, with a code perhaps: "3/1". Empty is an echo request.
	ICMPType string
}

// Outcome is what becomes of a packet.
type Outcome string

// The outcomes.
const (
	Accepted Outcome = "accept"
	Dropped  Outcome = "drop"
	// Rejected is dropped, and the sender is told.
	Rejected Outcome = "reject"
	// Unknown has no verdict; the answer says why.
	Unknown Outcome = "unknown"
)

// Outcomes lists them.
func Outcomes() []Outcome { return []Outcome{Accepted, Dropped, Rejected, Unknown} }

// Why is why a step decided, or did not.
type Why string

// The reasons. Matched is that of the step that decides.
const (
	Matched         Why = "matched"
	NotEnabled      Why = "disabled"
	OtherDirection  Why = "direction"
	OtherInterface  Why = "interface"
	OtherFamily     Why = "family"
	OtherProtocol   Why = "protocol"
	OtherICMPType   Why = "icmp_type"
	OtherSource     Why = "source"
	OtherDest       Why = "dest"
	SourceExcepted  Why = "source_nomatch"
	DestExcepted    Why = "dest_nomatch"
	OtherSourcePort Why = "sport"
	OtherDestPort   Why = "dport"
	// RuleInvalid is of a rule that the hypervisor skips; Text says what is wrong with it.
	RuleInvalid Why = "invalid"
	// NotInForce is of a rule that the hypervisor makes nothing of.
	NotInForce Why = "not_in_force"
	// GroupMissing is of a rule that stands for a group that is not there, and GroupPassed of one whose group did not decide.
	GroupMissing Why = "group_missing"
	GroupPassed  Why = "group_passed"
	// NotMet is of a check whose condition does not hold.
	NotMet Why = "not_met"
)

// Reasons lists them.
func Reasons() []Why {
	return []Why{Matched, NotEnabled, OtherDirection, OtherInterface, OtherFamily, OtherProtocol, OtherICMPType, OtherSource, OtherDest,
		SourceExcepted, DestExcepted, OtherSourcePort, OtherDestPort, RuleInvalid, NotInForce, GroupMissing, GroupPassed, NotMet}
}

// RuleAt is a rule with its scope.
type RuleAt struct {
	Scope Scope
	Rule  Rule
}

// Step is a rule, or a check of the hypervisor itself, that a packet came to.
type Step struct {
	// Rule is nil for a check.
	Rule *RuleAt
	// Via is the rule that stands for the group whose rule Rule is.
	Via *RuleAt
	// Check is the backend's word for a check, such as "policy"; empty for a rule.
	Check string
	// Part counts the parts of a rule with a macro, from 1; 0 is the whole rule.
	Part int
	Why  Why
	// Text says it for people, where the other fields do not: what a check is, or what is wrong with a rule.
	Text string
}

// Hop is one firewall on a packet's way.
type Hop struct {
	// Scope is the guest or the node whose firewall it is, NIC that of the guest, and Direction DirectionIn, DirectionOut or DirectionForward
	// as seen from there.
	Scope     Scope
	NIC       string
	Direction string
	Outcome   Outcome
	// By is the step that decided.
	By Step
	// Steps are what the packet came to, in order, By last. Without Trace there are none.
	Steps []Step
	// Omitted is how many steps before the last are left out.
	Omitted int
}

// Verdict is what becomes of a packet.
type Verdict struct {
	Outcome Outcome
	// Reason says why the outcome is Unknown, for people.
	Reason string
	// From and To are the ends as they were taken.
	From, To End
	// Hops are the firewalls on the way, in order. The first that does not accept is the last. None: nothing checks packets on that way.
	Hops []Hop
}

// By is the step that decided: what dropped the packet, or what accepted it last. It is nil where nothing checks packets on that way, and
// for what is Unknown.
func (v Verdict) By() *Step {
	if len(v.Hops) == 0 || v.Outcome == Unknown {
		return nil
	}
	return &v.Hops[len(v.Hops)-1].By
}

// TestQuery asks what becomes of packets.
type TestQuery struct {
	Packets []Packet
	// Trace asks for the steps, of MaxTraced packets at most.
	Trace bool
	// Assume are states that take the place of what is there. Those scopes are not read.
	Assume []State
}

// Test is the answer of a packet test.
type Test struct {
	// Verdicts are in the order of the packets.
	Verdicts []Verdict
	// At is when the reading of the hypervisor's state began.
	At time.Time
}

// ReachQuery asks who gets through to one end, and on which ports.
type ReachQuery struct {
	To     End
	From   []End
	Assume []State
}

// Reach is the answer.
type Reach struct {
	To End
	// Rows are in the order of From.
	Rows []ReachRow
	At   time.Time
}

// ReachRow is what one sender gets through.
type ReachRow struct {
	From End
	// Open are sorted by protocol and port, and do not touch: all of tcp and udp, and of other protocols with ports that rules name. What is
	// open by any version of IP of which both ends have addresses is open.
	Open []Ports
	// Echo says whether an ICMP echo request is accepted.
	Echo bool
	// Unknown says why there is no answer for this sender, for people; empty otherwise.
	Unknown string
}

// Ports are ports of a protocol, both ends included.
type Ports struct {
	Protocol    string
	First, Last int
}

// CompareQuery asks what changes between two states of the firewall.
type CompareQuery struct {
	// Guests are those among whom, and between whom and an OutsideEnd, the pairs are compared.
	Guests []Guest
	// Probes are packets whose verdicts are compared besides.
	Probes []Packet
	// Before and After are states that take the place of what is there.
	Before, After []State
}

// Comparison is the answer.
type Comparison struct {
	// Pairs are those that gain or lose something, at most MaxPairs of them, and Omitted how many more there are.
	Pairs   []PairChange
	Omitted int
	// Probes are in the order of the question.
	Probes []ProbeChange
	// Cluster are ways of the traffic that the hypervisor's cluster lives on, between nodes that probes name: those whose verdict
	// changes, or is Unknown before or after, at most MaxPairs. Without such traffic there are none.
	Cluster []ClusterChange
	At      time.Time
}

// ClusterChange is what becomes of one way of the traffic that a cluster lives on, such as that by which its nodes agree.
type ClusterChange struct {
	// From and To are nodes.
	From, To string
	// Traffic says for people what it is: "corosync, udp port 5405".
	Traffic string
	ProbeChange
}

// PairChange is what one pair gains or loses. Guests that have several network interfaces are a pair by each two of them that are on one
// network, and those ends name them; a backend that compares only some of a guest's says so by a pair that is Unknown.
type PairChange struct {
	From, To End
	// Gained are open after and not before, Lost the other way round, by any version of IP of which both ends have addresses: a port can be
	// gained by one and lost by another.
	Gained, Lost []Ports
	// GainsEcho and LosesEcho are about ICMP echo requests.
	GainsEcho, LosesEcho bool
	// Unknown says why there is no answer for this pair.
	Unknown string
}

// ProbeChange is a probe's verdict before and after, without steps.
type ProbeChange struct{ Before, After Verdict }

// Differs reports whether the outcome changes, or is not known before or after.
func (c ProbeChange) Differs() bool {
	return c.Before.Outcome != c.After.Outcome || c.Before.Outcome == Unknown
}

// Evaluator is satisfied by firewalls that can tell what becomes of a packet and which rule decides. It is an ability of the cluster's
// scope. Needs the Monitoring capability, and changes nothing.
//
// Each call reads the hypervisor's state once, and of guests only those that the question names. What a call costs the hypervisor is
// bounded by the backend, which says so in its documentation. What cannot be read, and what the backend cannot judge, makes those verdicts
// Unknown that depend on it, with the reason; the call fails only where nothing at all can be said. A question that is none is Invalid
// with the field, of a packet with its place: "packets.2.to". A guest or node that is not there makes what depends on it Unknown.
//
// Judged is the first packet of a connection, by the rules alone: whether there is a route, and whether somebody listens, is another
// question.
type Evaluator interface {
	// Test judges packets.
	Test(ctx context.Context, query TestQuery) (Test, error)
	// Reach tells for each sender on which ports it gets through to one end.
	Reach(ctx context.Context, query ReachQuery) (Reach, error)
	// Compare tells which pairs gain or lose what, and how the verdicts of probes change.
	Compare(ctx context.Context, query CompareQuery) (Comparison, error)
}
