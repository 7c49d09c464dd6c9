package firewall

import "context"

// IPSet is a named set of addresses and networks.
type IPSet struct {
	Name    string
	Comment string
}

// IPSetter is satisfied by firewalls that have sets of addresses. IPSets needs the Monitoring capability, all else Lifecycle. What is in
// a set is the business of IPSetMemberEditor.
//
// Errors are as of Aliaser; a set that is not there is NotFound.
type IPSetter interface {
	// IPSets lists the sets of a scope, and gives a digest that changes with the list; it is empty where the backend has none, and may be
	// where there are no sets.
	IPSets(ctx context.Context, scope Scope) (sets []IPSet, digest string, err error)
	// CreateIPSet makes an empty set.
	CreateIPSet(ctx context.Context, scope Scope, set IPSet, digest string) error
	// DeleteIPSet deletes a set, whether something names it or not. One that has members is Conflict with the field "members" unless
	// withMembers says that they go with it.
	DeleteIPSet(ctx context.Context, scope Scope, name string, withMembers bool, digest string) error
}

// IPSetMember is a member of a set.
type IPSetMember struct {
	// CIDR is an address, a network, or what else the backend takes, such as the name of an alias. It names the member.
	CIDR string
	// NoMatch takes the addresses out of the set that a larger member brought in.
	NoMatch bool
	Comment string
}

// IPSetMemberChange is a change of a member. What is nil stays; an empty comment takes it away.
type IPSetMemberChange struct {
	NoMatch *bool
	Comment *string
	// Digest is that of the set's members; empty is not checked.
	Digest string
}

// IPSetMemberEditor is satisfied by firewalls whose sets' members can be read and changed one by one. IPSetMembers needs the Monitoring
// capability, all else Lifecycle.
//
// A set or a member that is not there is NotFound, with the field "name" or "cidr". A member that is there already is Conflict with the
// field "cidr"; all else is as of Aliaser.
type IPSetMemberEditor interface {
	// IPSetMembers lists the members, and gives a digest that changes with them; it is empty where the backend has none, and may be where
	// there are no members.
	IPSetMembers(ctx context.Context, scope Scope, set string) (members []IPSetMember, digest string, err error)
	AddIPSetMember(ctx context.Context, scope Scope, set string, member IPSetMember, digest string) error
	ChangeIPSetMember(ctx context.Context, scope Scope, set, cidr string, change IPSetMemberChange) error
	RemoveIPSetMember(ctx context.Context, scope Scope, set, cidr, digest string) error
}
