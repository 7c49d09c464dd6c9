package pvefirewall

// Verdict is the fate of a packet. Reject means that the sender is notified. A
// rule with the action REJECT that sends no answer, as for ICMP, has the
// verdict Drop.
type Verdict uint8

// The verdicts. The zero value is none.
const (
	Accept Verdict = iota + 1
	Drop
	Reject
)

// verdictNames are the names of verdicts in configurations.
var verdictNames = [...]string{"", "ACCEPT", "DROP", "REJECT"}

// String returns the name of the verdict.
func (v Verdict) String() string { return nameOf(verdictNames[:], int(v)) }

// verdictOf returns the verdict of a name, or 0.
func verdictOf(s string) Verdict {
	for i, name := range verdictNames {
		if s != "" && s == name {
			return Verdict(i)
		}
	}
	return 0
}

// Builtin is a check that Proxmox VE makes without a rule.
type Builtin uint8

// Decisions that no rule makes.
const (
	Policy Builtin = iota + 1
	DHCP
	NDP
	RADV
	MACFilter
	IPFilter
	Blacklist
	Smurfs
	TCPFlags
	IGMP
	Management
	LocalNetwork
	CorosyncTraffic
	ConntrackInvalid
	// MarkLeft is an oddity: a rule with a group and an interface on a node or
	// the cluster accepts whatever the rules of the sending guest accepted
	// before, although the interface is another and the group is not asked.
	MarkLeft
	Loopback
	ClusterOff
	NodeOff
	GuestOff
	NICOff
)

// builtinNames are the names of these decisions in answers.
var builtinNames = [...]string{"", "policy", "dhcp", "ndp", "radv", "macfilter", "ipfilter", "blacklist", "smurfs", "tcpflags", "igmp",
	"management", "local-network", "corosync", "conntrack-invalid", "mark-left-by-guest-out", "loopback", "cluster-firewall-off",
	"host-firewall-off",
	"guest-firewall-off", "nic-firewall-off"}

// String returns the name of the decision.
func (b Builtin) String() string { return nameOf(builtinNames[:], int(b)) }

// Exception is the part of a policy that decided: a policy of DROP or REJECT
// does not treat all packets alike.
type Exception uint8

// Packets for which a policy makes an exception.
const (
	NoException Exception = iota
	ExceptBroadcast
	ExceptICMP // accepted
	ExceptInvalid
	ExceptSMB
	ExceptUPnP
	ExceptNotSYN
	ExceptDNSReply
	ExceptTCP43
)

// exceptionNames are the names of exceptions.
var exceptionNames = [...]string{"none", "broadcast", "icmp-accepted", "conntrack-invalid", "smb", "upnp", "not-syn", "dns-reply",
	"tcp-43"}

// String returns the name of the exception.
func (e Exception) String() string { return nameOf(exceptionNames[:], int(e)) }

// RuleRef names a rule by its scope and position. The zero value names none.
type RuleRef struct {
	Scope    Scope
	Position int
}

// Decision is what decided: a rule or a built-in check.
type Decision struct {
	// Rule decided, when Builtin is 0.
	Rule RuleRef
	// Via is the rule that led into the group that Rule stands in; with
	// MarkLeft the rule at which it happened.
	Via       RuleRef
	Builtin   Builtin
	Exception Exception // of Policy
}

// Check is the chain of rules that a packet passes.
type Check uint8

// The checks on the path of a packet.
const (
	NodeIn Check = iota + 1
	NodeOut
	GuestIn
	GuestOut
	// Forward is what is left between two that have no firewall: packets that
	// connection tracking finds invalid are dropped.
	Forward
)

// checkNames are the names of checks.
var checkNames = [...]string{"", "host-in", "host-out", "guest-in", "guest-out", "forward"}

// String returns the name of the check.
func (c Check) String() string { return nameOf(checkNames[:], int(c)) }

// Stage is one check on the path of a packet, with its outcome.
type Stage struct {
	Check   Check
	Node    string
	Guest   int    // of GuestIn and GuestOut
	NIC     string // of GuestIn and GuestOut
	Verdict Verdict
	By      Decision
	// Steps are what was looked at, in order; the last one decided. Only Trace has them.
	Steps []EvaluatedRule
}

// EvaluatedRule is a rule or a built-in check that a packet met. A rule with a macro
// has one for each part of the macro.
type EvaluatedRule struct {
	Rule    RuleRef
	Via     RuleRef // as in Decision
	Builtin Builtin
	Part    int // of the macro, from 1; 0 without a macro
	Reason  Reason
}

// Reason is why a rule decided or did not.
type Reason uint8

// Why a rule decided, or did not.
const (
	Matched        Reason = iota + 1
	Disabled              // the rule is switched off
	Direction             // it is for the other direction
	ForwardOnly           // the back end makes nothing of forward rules
	Invalid               // Proxmox skips it: Problems says why
	Interface             // another interface
	Family                // it is for the other version of IP, or its macro has no such part
	Protocol              // another protocol
	ICMPType              // another type or code
	SourceAddress         // the source is not in it
	SourceExcluded        // a nomatch member takes the source out of the set
	DestAddress           // the destination is not in it
	DestExcluded          // a nomatch member takes the destination out of the set
	SourcePort            // another source port
	DestPort              // another destination port
	UnknownGroup          // there is no such group
	GroupPassed           // no rule of the group decided
	NotMet                // the condition of a check of Proxmox does not hold
)

// reasonNames are the names of reasons.
var reasonNames = [...]string{"", "matched", "disabled", "direction", "forward-only", "invalid", "interface", "family", "protocol",
	"icmp-type",
	"source", "source-nomatch", "dest", "dest-nomatch", "source-port", "dest-port", "unknown-group", "group-passed", "not-met"}

// String returns the name of the reason.
func (r Reason) String() string { return nameOf(reasonNames[:], int(r)) }

// Result is the answer for one packet.
type Result struct {
	Verdict Verdict
	// By decided: what dropped the packet, or what accepted it last. It is zero
	// when nothing checks packets on that way.
	By Decision
	// Stages are the checks, in order. The first that does not accept is the
	// last. None: nothing checks packets on that way.
	Stages []Stage
}
