package firewall

import "context"

// The directions of rules. A rule of the direction DirectionGroup stands for a group of rules, which its Action names.
const (
	DirectionIn      = "in"
	DirectionOut     = "out"
	DirectionForward = "forward"
	DirectionGroup   = "group"
)

// Directions lists them.
func Directions() []string {
	return []string{DirectionIn, DirectionOut, DirectionForward, DirectionGroup}
}

// Rule is one rule. A text that the rule does not have is empty.
type Rule struct {
	// Position is the rule's place in its list, from 0 on: the first rule that fits decides. Where a firewall's rules have no order,
	// it only names the rule together with the list's digest, and the firewall is no RuleMover.
	Position  int
	Direction string
	// Action is the backend's word for what the rule does, such as "ACCEPT", or the name of a group.
	Action  string
	Enabled bool
	// Macro is the name of a service that the backend knows, such as "SSH".
	Macro    string
	Protocol string
	// Source and Destination are addresses, networks, ranges, or names of sets, in the backend's form.
	Source          string
	Destination     string
	SourcePort      string
	DestinationPort string
	// Interface is the network interface that the rule is for.
	Interface string
	// Log is the level at which the rule logs.
	Log      string
	ICMPType string
	Comment  string
}

// The fields of rules, in the words that users know. A change names those that it takes away, and the Field of an Invalid error is one.
const (
	FieldDirection       = "type"
	FieldAction          = "action"
	FieldEnabled         = "enable"
	FieldMacro           = "macro"
	FieldProtocol        = "proto"
	FieldSource          = "source"
	FieldDestination     = "dest"
	FieldSourcePort      = "sport"
	FieldDestinationPort = "dport"
	FieldInterface       = "iface"
	FieldLog             = "log"
	FieldICMPType        = "icmp_type"
	FieldComment         = "comment"
)

// Fields of Invalid, NotFound and Conflict errors that are no field of a rule.
const (
	FieldScope    = "scope"
	FieldDigest   = "digest"
	FieldPosition = "pos"
	// FieldTo is where a rule shall go to.
	FieldTo   = "to"
	FieldName = "name"
	// FieldKind is the kind of an object.
	FieldKind = "kind"
	// FieldRename is the new name of something.
	FieldRename = "rename"
	FieldCIDR   = "cidr"
	// FieldMembers is of a set that has members.
	FieldMembers = "members"
	// FieldRules is of a group that has rules.
	FieldRules = "rules"
)

// RuleLister is satisfied by firewalls that can list rules. Needs the Monitoring capability.
type RuleLister interface {
	// Rules lists the rules of a scope by position, and gives a digest that changes with them; it is empty where the backend has
	// none. A scope that is none is Invalid with the field "scope". An unknown node is NotFound, or Invalid with the field "node"
	// when no node can have that name. Of an unknown guest the answer is NotFound or no rules, and a guest's
	// node may not matter: some backends keep the rules of guests beside the nodes, and for guests that do not exist. An unknown group
	// is NotFound.
	Rules(ctx context.Context, scope Scope) (rules []Rule, digest string, err error)
}
