package firewall

import "context"

// Group is a named list of rules of the cluster, for which a rule with the direction DirectionGroup stands. Its rules are those of its
// GroupScope.
type Group struct {
	Name    string
	Comment string
}

// GroupChange is a change of a group. What is empty or nil stays; an empty comment takes it away.
type GroupChange struct {
	// Rename is the new name. Rules that stand for the group are not changed with it.
	Rename  string
	Comment *string
	// Digest is that of the list; empty is not checked.
	Digest string
}

// Grouper is satisfied by firewalls that have groups of rules; it is an ability of the cluster's scope. Groups needs the Monitoring
// capability, all else Lifecycle.
//
// Errors are as of Aliaser; a group that is not there is NotFound.
type Grouper interface {
	// Groups lists the groups, and gives a digest that changes with the list; it is empty where the backend has none, and may be where
	// there are no groups.
	Groups(ctx context.Context) (groups []Group, digest string, err error)
	// CreateGroup makes a group without rules.
	CreateGroup(ctx context.Context, group Group, digest string) error
	ChangeGroup(ctx context.Context, name string, change GroupChange) error
	// DeleteGroup deletes a group, whether a rule stands for it or not. One that has rules is Conflict with the field "rules".
	DeleteGroup(ctx context.Context, name, digest string) error
}
