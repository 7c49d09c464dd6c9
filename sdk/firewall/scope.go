package firewall

// ScopeKind is what a scope is about.
type ScopeKind string

// The kinds of scopes.
const (
	ClusterScope ScopeKind = "cluster"
	NodeScope    ScopeKind = "node"
	GuestScope   ScopeKind = "guest"
	// GroupScope is a group of rules of the cluster, which rules elsewhere stand for. It has rules and nothing else.
	GroupScope ScopeKind = "group"
)

// ScopeKinds lists them.
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
