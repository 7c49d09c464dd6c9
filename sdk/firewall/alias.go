package firewall

import "context"

// Alias is a name for an address or a network.
type Alias struct {
	Name string
	// CIDR is an address or a network, such as "192.0.2.10" or "2001:db8::/64".
	CIDR    string
	Comment string
}

// AliasChange is a change of an alias. What is empty or nil stays; an empty comment takes it away.
type AliasChange struct {
	CIDR    string
	Comment *string
	// Rename is the new name. What names the alias is not changed with it.
	Rename string
	// Digest is that of the list; empty is not checked.
	Digest string
}

// Aliaser is satisfied by firewalls that have aliases. Aliases needs the Monitoring capability, all else Lifecycle.
//
// An alias that is not there is NotFound, also where the hypervisor itself would say nothing. A digest that is another by now is Conflict
// with the field "digest", a name that is taken Conflict with the field "name", and what does not fit is Invalid with the field "name",
// "cidr", "comment" or "rename": then nothing was changed.
type Aliaser interface {
	// Aliases lists the aliases of a scope, and gives a digest that changes with them; it is empty where the backend has none, and may be
	// where there are no aliases.
	Aliases(ctx context.Context, scope Scope) (aliases []Alias, digest string, err error)
	CreateAlias(ctx context.Context, scope Scope, alias Alias, digest string) error
	ChangeAlias(ctx context.Context, scope Scope, name string, change AliasChange) error
	// DeleteAlias deletes an alias, whether something names it or not. Where the hypervisor refuses one that is in use, it is Conflict.
	DeleteAlias(ctx context.Context, scope Scope, name, digest string) error
}
