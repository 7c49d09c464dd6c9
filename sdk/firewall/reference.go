package firewall

import "context"

// ObjectKind is the kind of an object that rules can refer to.
type ObjectKind string

// The kinds of objects.
const (
	AliasObject ObjectKind = "alias"
	IPSetObject ObjectKind = "ipset"
	GroupObject ObjectKind = "group"
)

// ObjectKinds returns all kinds of objects.
func ObjectKinds() []ObjectKind { return []ObjectKind{AliasObject, IPSetObject, GroupObject} }

// Reference is an object that the source or destination of a rule may refer to.
type Reference struct {
	// Kind is AliasObject or IPSetObject.
	Kind ObjectKind
	Name string
	// Text is the notation in a rule, such as "+web".
	Text string
	// Scope is the kind of scope that contains the object. It is empty if that is
	// not one of the firewall's scopes.
	Scope   ScopeKind
	Comment string
}

// ReferenceLister is implemented by firewalls that list what rules may refer to. It
// needs the Monitoring capability.
type ReferenceLister interface {
	// References returns the objects that the rules of a scope may refer to,
	// including those of wider scopes.
	References(ctx context.Context, scope Scope) ([]Reference, error)
}
