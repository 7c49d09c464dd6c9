package firewall

import "context"

// Alias is a name for an address or a network.
type Alias struct {
	// Name is unique within the scope; see CheckName.
	Name string
	// CIDR is an address or a network, such as "192.0.2.10" or "2001:db8::/64".
	CIDR    string
	Comment string
}

// AliasChange is a change of an alias. Empty and nil fields keep the present value.
// A pointer to an empty string removes the comment.
type AliasChange struct {
	CIDR    string
	Comment *string
	// Rename is the new name. References to the alias keep the old name.
	Rename string
	// Digest is the digest of the list. An empty value is not checked.
	Digest string
}

// AliasManager is implemented by firewalls that have aliases. Aliases needs the
// Monitoring capability, the other methods need Lifecycle.
//
// An alias that does not exist is NotFound, even if the hypervisor itself reports
// nothing. An outdated digest is Conflict with the field "digest", a name that is
// taken is Conflict with the field "name", and a wrong value is Invalid with the
// field "name", "cidr", "comment" or "rename". Nothing is changed in these cases.
type AliasManager interface {
	// Aliases lists the aliases of a scope with a digest of the list. The digest is
	// empty if the backend has none, and may be empty if there are no aliases.
	Aliases(ctx context.Context, scope Scope) (aliases []Alias, digest string, err error)
	// CreateAlias adds an alias.
	CreateAlias(ctx context.Context, scope Scope, alias Alias, digest string) error
	// ChangeAlias changes one alias in one request.
	ChangeAlias(ctx context.Context, scope Scope, name string, change AliasChange) error
	// DeleteAlias deletes an alias, even if something refers to it. If the
	// hypervisor refuses to delete an alias in use, the error is Conflict.
	DeleteAlias(ctx context.Context, scope Scope, name, digest string) error
}
