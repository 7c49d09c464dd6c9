package firewall

import "context"

// The directions of rules. A rule with DirectionGroup refers to a group of rules,
// which its Action names.
const (
	DirectionIn      = "in"
	DirectionOut     = "out"
	DirectionForward = "forward"
	DirectionGroup   = "group"
)

// Directions returns all directions.
func Directions() []string {
	return []string{DirectionIn, DirectionOut, DirectionForward, DirectionGroup}
}

// Rule is one firewall rule. A text that the rule does not have is empty.
type Rule struct {
	// Position is the index of the rule in its list, from 0. The first matching
	// rule decides. If the rules of a firewall have no order, the position only
	// identifies the rule, together with the digest of the list, and the firewall
	// is not a RuleMover.
	Position  int
	Direction string
	// Action is the backend's word for what the rule does, such as "ACCEPT", or the
	// name of a group.
	Action  string
	Enabled bool
	// Macro is the name of a Macro, such as "SSH".
	Macro    string
	Protocol string
	// Source and Destination are addresses, networks, ranges, or names of aliases
	// and sets, in the backend's notation.
	Source          string
	Destination     string
	SourcePort      string
	DestinationPort string
	// Interface is the network interface that the rule applies to.
	Interface string
	// Log is the level at which the rule logs.
	Log      string
	ICMPType string
	Comment  string
}

// The fields of rules, in the words that users know. RuleChange.Clear and the Field
// of an Invalid error use them.
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

// Further values of the Field of Invalid, NotFound and Conflict errors.
const (
	FieldScope    = "scope"
	FieldDigest   = "digest"
	FieldPosition = "pos"
	// FieldTo is the destination of a moved rule.
	FieldTo   = "to"
	FieldName = "name"
	// FieldKind is the kind of an object.
	FieldKind = "kind"
	// FieldRename is the new name of an object.
	FieldRename = "rename"
	FieldCIDR   = "cidr"
	// FieldMembers means that a set still has members.
	FieldMembers = "members"
	// FieldRules means that a group still has rules.
	FieldRules = "rules"
)

// RuleLister is implemented by firewalls that can list rules. It needs the
// Monitoring capability.
type RuleLister interface {
	// Rules lists the rules of a scope by position, with a digest of the list. The
	// digest is empty if the backend has none.
	//
	// A malformed scope is Invalid with the field "scope". An unknown node is
	// NotFound, or Invalid with the field "node" if no node can have that name. An
	// unknown group is NotFound. An unknown guest is NotFound or has no rules, and
	// the node of a guest may not matter: some backends store the rules of guests
	// independently of nodes, even for guests that do not exist.
	Rules(ctx context.Context, scope Scope) (rules []Rule, digest string, err error)
}
