package firewall

import "context"

// ScopeKind is what a list of rules is about.
type ScopeKind string

// The kinds of scopes.
const (
	ClusterScope ScopeKind = "cluster"
	NodeScope    ScopeKind = "node"
	GuestScope   ScopeKind = "guest"
)

// Scope says whose rules are meant.
type Scope struct {
	Kind ScopeKind
	// Node is the name of the node of a NodeScope.
	Node string
	// Guest is the guest of a GuestScope.
	Guest *Guest
}

// Guest names a guest, whatever its hypervisor.
type Guest struct {
	// Kind is "vm" or "container".
	Kind string
	// Node is where the guest was last seen.
	Node string
	// ID is the hypervisor's own id of the guest, and UID its lasting identity where it has one, as of hypervisor.GuestRef.
	ID  string
	UID string
}

// ValidScope reports whether a scope names what its kind needs and nothing else. Whether that is there is the backend's word.
func ValidScope(s Scope) bool {
	switch s.Kind {
	case ClusterScope:
		return s.Node == "" && s.Guest == nil
	case NodeScope:
		return s.Guest == nil
	case GuestScope:
		return s.Node == "" && s.Guest != nil && (s.Guest.Kind == "vm" || s.Guest.Kind == "container")
	}
	return false
}

// The directions of rules. A rule of the direction DirectionGroup stands for a group of rules, which its Action names.
const (
	DirectionIn      = "in"
	DirectionOut     = "out"
	DirectionForward = "forward"
	DirectionGroup   = "group"
)

// Rule is one rule. A text that the rule does not have is empty.
type Rule struct {
	// Position is the rule's place in its list, from 0 on: the first rule that fits decides.
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

// RuleLister is satisfied by firewalls that can list rules. Needs the Monitoring capability.
type RuleLister interface {
	// Rules lists the rules of a scope by position, and gives a digest that changes with them; it is empty where the backend has
	// none. A scope that is none is Invalid with the field "scope". An unknown node is NotFound, or Invalid with the field "node"
	// when no node can have that name. Of an unknown guest the answer is NotFound or no rules, and a guest's
	// node may not matter: some backends keep the rules of guests beside the nodes, and for guests that do not exist.
	Rules(ctx context.Context, scope Scope) (rules []Rule, digest string, err error)
}
