package firewall

import "context"

// Group is a named list of rules of the cluster. A rule with the direction
// DirectionGroup refers to it. The rules of the group are those of its GroupScope.
type Group struct {
	Name    string
	Comment string
}

// GroupChange is a change of a group. Empty and nil fields keep the present value.
// A pointer to an empty string removes the comment.
type GroupChange struct {
	// Rename is the new name. Rules that refer to the group keep the old name.
	Rename  string
	Comment *string
	// Digest is the digest of the list. An empty value is not checked.
	Digest string
}

// GroupManager is implemented by firewalls that have groups of rules. It is an ability
// of the cluster scope. Groups needs the Monitoring capability, the other methods
// need Lifecycle. Errors are those of AliasManager.
type GroupManager interface {
	// Groups lists the groups with a digest of the list. The digest is empty if the
	// backend has none, and may be empty if there are no groups.
	Groups(ctx context.Context) (groups []Group, digest string, err error)
	// CreateGroup creates a group without rules.
	CreateGroup(ctx context.Context, group Group, digest string) error
	// ChangeGroup changes one group in one request.
	ChangeGroup(ctx context.Context, name string, change GroupChange) error
	// DeleteGroup deletes a group, even if a rule refers to it. A group that has
	// rules is Conflict with the field "rules".
	DeleteGroup(ctx context.Context, name, digest string) error
}
