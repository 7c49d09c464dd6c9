// Package firewall is what the author of a firewall backend sees of Hostler.
//
// A Backend runs in a process of its own. The service opens a Firewall for each call: an endpoint, how its certificate is
// checked, and the one credential that the call's capability needs. A backend keeps nothing that matters between calls. What
// a firewall can do is an optional interface each, listed in ability.go. A firewall has scopes: the cluster, its nodes, its guests,
// and groups of rules; Info says which of the abilities each kind of scope has, and nobody asks for another one.
//
// Digests: what can be changed is read with a digest, which is another one when something of it is changed, and a change may name
// the digest that it was made for. Where the hypervisor takes one, it goes with the request; elsewhere a backend compares it right before.
// A stale one is Conflict with the field FieldDigest, and nothing is changed. An empty one is not checked.
//
// A method that changes something sends its request once and never repeats it by itself. Texts that come in are a stranger's: what
// CheckText, CheckName and CheckRule refuse is Invalid, and nothing is sent then.
//
// Errors: every method returns a *plugin.Error for whatever the service should tell its users; any other error is Internal.
package firewall

import (
	"context"

	"github.com/hostler/hostler/sdk/endpoint"
)

// Backend opens firewalls. Its methods may be called at the same time.
type Backend interface {
	// Info describes the backend. It must not use the network.
	Info(ctx context.Context) (Info, error)
	// Open gives the firewall at the target. It must be cheap and must not use the network. The caller closes it.
	Open(ctx context.Context, target endpoint.Target) (Firewall, error)
}

// Info is what a backend says of itself. What it leaves empty is filled in by Describe.
type Info struct {
	// Name is its short name, such as "pve", the same as that of the driver whose hosts it is for, and Version its own release.
	Name    string
	Version string
	// Abilities are the names of the optional interfaces that the firewall satisfies. A backend leaves it nil.
	Abilities []string
	// Scopes are the kinds of scopes that the firewall has, with the abilities of each; nil is every ability at cluster, node and guest.
	Scopes []ScopeAbilities
}

// ScopeAbilities are the abilities that a kind of scope has.
type ScopeAbilities struct {
	Kind ScopeKind
	// Abilities are the names of optional interfaces, as AbilityName gives them.
	Abilities []string
}

// Firewall is one endpoint's firewall seen through one credential. Its methods may be called at the same time.
type Firewall interface {
	// Close releases what the firewall holds. It is called once, after the last call has returned.
	Close() error
}
