package firewall

import "context"

// IPSet is a named set of addresses and networks.
type IPSet struct {
	Name    string
	Comment string
}

// IPSetManager is implemented by firewalls that have sets of addresses. IPSets needs
// the Monitoring capability, the other methods need Lifecycle. Members of a set are
// the subject of IPSetMemberEditor. Errors are those of AliasManager.
type IPSetManager interface {
	// IPSets lists the sets of a scope with a digest of the list. The digest is
	// empty if the backend has none, and may be empty if there are no sets.
	IPSets(ctx context.Context, scope Scope) (sets []IPSet, digest string, err error)
	// CreateIPSet creates an empty set.
	CreateIPSet(ctx context.Context, scope Scope, set IPSet, digest string) error
	// DeleteIPSet deletes a set, even if something refers to it. A set with members
	// is Conflict with the field "members", unless withMembers is true.
	DeleteIPSet(ctx context.Context, scope Scope, name string, withMembers bool, digest string) error
}

// IPSetMember is a member of a set.
type IPSetMember struct {
	// CIDR is an address, a network, or another form that the backend accepts, such
	// as the name of an alias. It identifies the member.
	CIDR string
	// NoMatch excludes the addresses from the set, although a larger member
	// contains them.
	NoMatch bool
	Comment string
}

// IPSetMemberChange is a change of a member. A nil field keeps the present value. A
// pointer to an empty string removes the comment.
type IPSetMemberChange struct {
	NoMatch *bool
	Comment *string
	// Digest is the digest of the set's members. An empty value is not checked.
	Digest string
}

// IPSetMemberEditor is implemented by firewalls that can read and change the
// members of sets one by one. IPSetMembers needs the Monitoring capability, the
// other methods need Lifecycle.
//
// A set or a member that does not exist is NotFound with the field "name" or
// "cidr". A member that already exists is Conflict with the field "cidr". Other
// errors are those of AliasManager.
type IPSetMemberEditor interface {
	// IPSetMembers lists the members with a digest of the list. The digest is empty
	// if the backend has none, and may be empty if there are no members.
	IPSetMembers(ctx context.Context, scope Scope, set string) (members []IPSetMember, digest string, err error)
	// AddIPSetMember adds a member to a set.
	AddIPSetMember(ctx context.Context, scope Scope, set string, member IPSetMember, digest string) error
	// ChangeIPSetMember changes one member in one request. Its CIDR cannot change.
	ChangeIPSetMember(ctx context.Context, scope Scope, set, cidr string, change IPSetMemberChange) error
	// RemoveIPSetMember removes a member from a set.
	RemoveIPSetMember(ctx context.Context, scope Scope, set, cidr, digest string) error
}
