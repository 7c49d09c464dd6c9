package firewall

// ScopeKind is the kind of a scope.
type ScopeKind string

// The kinds of scopes.
const (
	ClusterScope ScopeKind = "cluster"
	NodeScope    ScopeKind = "node"
	GuestScope   ScopeKind = "guest"
	// GroupScope is a named list of rules of the cluster that other rules refer to.
	// It has rules and nothing else.
	GroupScope ScopeKind = "group"
)

// ScopeKinds returns all kinds of scopes.
func ScopeKinds() []ScopeKind { return []ScopeKind{ClusterScope, NodeScope, GuestScope, GroupScope} }

// Scope says whose firewall is meant.
type Scope struct {
	Kind ScopeKind
	// Node is the name of the node of a NodeScope.
	Node string
	// Guest is the guest of a GuestScope.
	Guest *Guest
	// Group is the name of the group of a GroupScope.
	Group string
}

// Guest identifies a guest, independent of the hypervisor.
type Guest struct {
	// Kind is "vm" or "container".
	Kind string
	// Node is the node on which the guest was last seen.
	Node string
	// ID is the hypervisor's ID of the guest. UID is its lasting identity if it has
	// one; see hypervisor.GuestRef.
	ID  string
	UID string
}

// ValidScope reports whether a scope has what its kind needs and nothing else. It
// does not check whether the node, guest or group exists.
func ValidScope(s Scope) bool {
	switch s.Kind {
	case ClusterScope:
		return s.Node == "" && s.Guest == nil && s.Group == ""
	case NodeScope:
		return s.Guest == nil && s.Group == ""
	case GuestScope:
		return s.Node == "" && s.Group == "" && s.Guest != nil && (s.Guest.Kind == "vm" || s.Guest.Kind == "container")
	case GroupScope:
		return s.Node == "" && s.Guest == nil && s.Group != ""
	}
	return false
}
