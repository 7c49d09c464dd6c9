package firewall

import (
	"context"

	"github.com/hostler/hostler/sdk/endpoint"
)

// Backend opens firewalls. Its methods may be called at the same time.
type Backend interface {
	// Info returns the description of the backend. It must not use the network.
	Info(ctx context.Context) (Info, error)
	// Open returns the firewall at the target. It must be cheap and must not use
	// the network. The caller closes the firewall.
	Open(ctx context.Context, target endpoint.Target) (Firewall, error)
}

// Info is the description of a backend. Describe fills in defaults for empty
// fields.
type Info struct {
	// Name is the short name, such as "pve". It must equal the name of the driver
	// whose hosts the backend works with. Version is the release of the backend.
	Name    string
	Version string
	// Abilities are the names of the optional interfaces that the firewall
	// implements. A backend leaves it nil.
	Abilities []string
	// Scopes are the kinds of scopes that the firewall has, with the abilities of
	// each. Nil means every ability at cluster, node and guest.
	Scopes []ScopeAbilities
}

// ScopeAbilities are the abilities of one kind of scope.
type ScopeAbilities struct {
	Kind ScopeKind
	// Abilities are names of optional interfaces, as AbilityName returns them.
	Abilities []string
}

// Firewall is the firewall of one endpoint, seen through one credential. Its
// methods may be called at the same time.
type Firewall interface {
	// Close releases the resources of the firewall. It is called once, after the
	// last call has returned.
	Close() error
}
