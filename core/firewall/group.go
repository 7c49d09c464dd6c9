package firewall

import (
	"context"
	"slices"

	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/problem"
	sdk "github.com/hostler/hostler/sdk/firewall"
)

// Group is a group of rules of the cluster, as the API shows it.
type Group struct {
	Name    string  `json:"group" example:"webserver"`
	Comment *string `json:"comment" example:"common rules of all web servers"`
	Digest  *string `json:"digest" example:"da39a3ee5e6b4b0d3255bfef95601890afd80709" doc:"Digest of the list of groups, the same for each group; the rules of each group have their own. Null if the hypervisor has none, and in the response to a change if another user has changed the list since"`
}

// groups returns the listing of security groups.
func (s *Store) groups(on Scope) *listing[sdk.Group] {
	return &listing[sdk.Group]{
		things: "the security groups",
		read: func(ctx context.Context) (rows []sdk.Group, digest string, err error) {
			rows, err = ask(ctx, s, on, func(ctx context.Context, able sdk.GroupManager, _ sdk.Scope) (found []sdk.Group, err error) {
				found, digest, err = able.Groups(ctx)
				return found, err
			})
			return rows, digest, err
		},
		show: func(rows []sdk.Group, digest *string) any { return showEach(rows, digest, showGroup) },
		tell: func(g sdk.Group) map[string]any { return map[string]any{"group": g.Name, "comment": g.Comment} },
	}
}

// showGroup converts a group for the API.
func showGroup(g sdk.Group, digest *string) Group {
	return Group{Name: host.Clean(g.Name), Comment: host.CleanOrNil(g.Comment), Digest: digest}
}

// Groups returns the groups of a cluster, with their digest, nil for none.
// Problems: those of Rules.
func (s *Store) Groups(ctx context.Context, on Scope) ([]Group, *string, error) {
	return list(ctx, s.groups(on), showGroup)
}

// CreateGroup makes a group without rules. Problems: those of CreateAlias.
func (s *Store) CreateGroup(ctx context.Context, on Scope, group sdk.Group, digest string) (Group, error) {
	faults := slices.Concat(fault(sdk.CheckName("group", group.Name)),
		fault(sdk.CheckText(sdk.FieldComment, group.Comment, sdk.MaxComment)))
	return editList[sdk.GroupManager](ctx, s, on, s.groups(on), showGroup, digest, faults, func(was []sdk.Group) (edit[sdk.Group], error) {
		if groupAt(was, group.Name) >= 0 {
			return edit[sdk.Group]{}, taken()
		}
		return edit[sdk.Group]{free: true, before: -1, at: len(was), want: append(slices.Clone(was), group),
			send: requestOf(s, on, func(ctx context.Context, able sdk.GroupManager, _ sdk.Scope, digest string) error {
				return able.CreateGroup(ctx, group, digest)
			})}, nil
	})
}

// DeleteGroup deletes a group and returns it as it was. A group to which rules
// refer is the problem in_use unless confirm is its name, and one with rules is
// invalid_state. Problems: those of DeleteAlias.
func (s *Store) DeleteGroup(ctx context.Context, on Scope, name, digest, confirm string) (Group, error) {
	return editList[sdk.GroupManager](ctx, s, on, s.groups(on), showGroup, digest, nil, func(was []sdk.Group) (edit[sdk.Group], error) {
		at := groupAt(was, name)
		if at < 0 {
			return edit[sdk.Group]{}, none("security group")
		}
		rules, _, err := s.readRules(ctx, OfGroup(on.hostID, name))
		if err != nil && !lacks(err) {
			return edit[sdk.Group]{}, err
		}
		if len(rules) > 0 {
			return edit[sdk.Group]{}, problem.New(problem.CodeInvalidState, "the group has %d rules; delete them first", len(rules)).
				With("rules", len(rules))
		}
		if err := s.inUse(ctx, on, sdk.GroupObject, name, confirm, 0); err != nil {
			return edit[sdk.Group]{}, err
		}
		return edit[sdk.Group]{before: at, at: -1, want: slices.Delete(slices.Clone(was), at, at+1),
			send: requestOf(s, on, func(ctx context.Context, able sdk.GroupManager, _ sdk.Scope, digest string) error {
				return able.DeleteGroup(ctx, name, digest)
			})}, nil
	})
}

// groupAt returns the index of a group, or -1.
func groupAt(rows []sdk.Group, name string) int {
	return slices.IndexFunc(rows, func(g sdk.Group) bool { return g.Name == name })
}
