package firewall

import "context"

// ObjectKind is what rules can name.
type ObjectKind string

// The kinds of objects.
const (
	AliasObject ObjectKind = "alias"
	IPSetObject ObjectKind = "ipset"
	GroupObject ObjectKind = "group"
)

// ObjectKinds lists them.
func ObjectKinds() []ObjectKind { return []ObjectKind{AliasObject, IPSetObject, GroupObject} }

// Reference is something that the source or destination of a rule may name.
type Reference struct {
	// Kind is AliasObject or IPSetObject.
	Kind ObjectKind
	Name string
	// Text is how a rule writes it, such as "+web".
	Text string
	// Scope is where it is kept; empty where that is none of the firewall's scopes.
	Scope   ScopeKind
	Comment string
}

// Referencer is satisfied by firewalls that tell what rules may name. Needs the Monitoring capability.
type Referencer interface {
	// References lists what the rules of a scope may name, that of wider scopes too.
	References(ctx context.Context, scope Scope) ([]Reference, error)
}
