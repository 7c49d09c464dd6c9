package firewall

import (
	"context"
	"slices"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/problem"
	sdk "github.com/hostler/hostler/sdk/firewall"
)

// IPSet is a named set of addresses and networks, as the API shows it.
type IPSet struct {
	Name    string  `json:"name" example:"management"`
	Comment *string `json:"comment" example:"networks of the administrators"`
	Digest  *string `json:"digest" example:"da39a3ee5e6b4b0d3255bfef95601890afd80709" doc:"Digest of the list of sets, the same for each set; the members of each set have their own. Null if the hypervisor has none, and in the response to a change if another user has changed the list since"`
}

// ipSets returns the listing of a scope's sets.
func (s *Store) ipSets(on Scope) *listing[sdk.IPSet] {
	return &listing[sdk.IPSet]{
		things: "the IP sets",
		read: func(ctx context.Context) (rows []sdk.IPSet, digest string, err error) {
			rows, err = ask(ctx, s, on, func(ctx context.Context, able sdk.IPSetManager, scope sdk.Scope) (found []sdk.IPSet, err error) {
				found, digest, err = able.IPSets(ctx, scope)
				return found, err
			})
			return rows, digest, err
		},
		show: func(rows []sdk.IPSet, digest *string) any { return showEach(rows, digest, showIPSet) },
		tell: func(set sdk.IPSet) map[string]any { return map[string]any{"name": set.Name, "comment": set.Comment} },
	}
}

// showIPSet converts a set for the API.
func showIPSet(set sdk.IPSet, digest *string) IPSet {
	return IPSet{Name: host.Clean(set.Name), Comment: host.CleanOrNil(set.Comment), Digest: digest}
}

// IPSets returns the sets of a scope, with their digest, nil for none.
// Problems: those of Rules.
func (s *Store) IPSets(ctx context.Context, on Scope) ([]IPSet, *string, error) {
	return list(ctx, s.ipSets(on), showIPSet)
}

// CreateIPSet makes an empty set. Problems: those of CreateAlias.
func (s *Store) CreateIPSet(ctx context.Context, on Scope, set sdk.IPSet, digest string) (IPSet, error) {
	faults := slices.Concat(fault(sdk.CheckName(sdk.FieldName, set.Name)),
		fault(sdk.CheckText(sdk.FieldComment, set.Comment, sdk.MaxComment)))
	return editList[sdk.IPSetManager](ctx, s, on, s.ipSets(on), showIPSet, digest, faults, func(was []sdk.IPSet) (edit[sdk.IPSet], error) {
		if setAt(was, set.Name) >= 0 {
			return edit[sdk.IPSet]{}, taken()
		}
		return edit[sdk.IPSet]{free: true, before: -1, at: len(was), want: append(slices.Clone(was), set),
			send: requestOf(s, on, func(ctx context.Context, able sdk.IPSetManager, scope sdk.Scope, digest string) error {
				return able.CreateIPSet(ctx, scope, set, digest)
			})}, nil
	})
}

// DeleteIPSet deletes a set with its members and returns it as it was. A set
// that is in use or has members is the problem in_use unless confirm is its
// name. Problems: those of DeleteAlias.
func (s *Store) DeleteIPSet(ctx context.Context, on Scope, name, digest, confirm string) (IPSet, error) {
	return editList[sdk.IPSetManager](ctx, s, on, s.ipSets(on), showIPSet, digest, nil, func(was []sdk.IPSet) (edit[sdk.IPSet], error) {
		at := setAt(was, name)
		if at < 0 {
			return edit[sdk.IPSet]{}, none("IP set")
		}
		members, _, err := s.members(on, name).read(ctx)
		if err != nil && !lacks(err) {
			return edit[sdk.IPSet]{}, err
		}
		if err := s.inUse(ctx, on, sdk.IPSetObject, name, confirm, len(members)); err != nil {
			return edit[sdk.IPSet]{}, err
		}
		if len(members) > 0 {
			audit.Describe(ctx, func(e *audit.Entry) {
				told := make([]any, 0, min(len(members), maxTold))
				for _, m := range members[:min(len(members), maxTold)] {
					told = append(told, tellMember(m))
				}
				e.Detail("members", told)
				e.Detail("members_count", len(members))
			})
		}
		return edit[sdk.IPSet]{before: at, at: -1, want: slices.Delete(slices.Clone(was), at, at+1),
			send: requestOf(s, on, func(ctx context.Context, able sdk.IPSetManager, scope sdk.Scope, digest string) error {
				return able.DeleteIPSet(ctx, scope, name, len(members) > 0, digest)
			})}, nil
	})
}

// maxTold limits the members of a deleted set in the audit entry.
const maxTold = 200

// setAt returns the index of a set, or -1.
func setAt(rows []sdk.IPSet, name string) int {
	return slices.IndexFunc(rows, func(set sdk.IPSet) bool { return set.Name == name })
}

// IPSetMember is a member of a set, as the API shows it.
type IPSetMember struct {
	CIDR    string  `json:"cidr" example:"192.0.2.0/24" doc:"An address, a network, or another value that the hypervisor accepts, such as an alias"`
	NoMatch int     `json:"nomatch" minimum:"0" maximum:"1" doc:"1 excludes these addresses from a larger member of the set"`
	Comment *string `json:"comment" example:"the office"`
	Digest  *string `json:"digest" example:"da39a3ee5e6b4b0d3255bfef95601890afd80709" doc:"Digest of the members of the set, the same for each member. Null if the hypervisor has none, and in the response to a change if another user has changed the members since"`
}

// members returns the listing of a set's members.
func (s *Store) members(on Scope, set string) *listing[sdk.IPSetMember] {
	return &listing[sdk.IPSetMember]{
		things: "the members of the IP set",
		read: func(ctx context.Context) (rows []sdk.IPSetMember, digest string, err error) {
			rows, err = ask(ctx, s, on, func(ctx context.Context, able sdk.IPSetMemberEditor, scope sdk.Scope) (found []sdk.IPSetMember,
				err error) {
				found, digest, err = able.IPSetMembers(ctx, scope, set)
				return found, err
			})
			return rows, digest, err
		},
		show: func(rows []sdk.IPSetMember, digest *string) any { return showEach(rows, digest, showMember) },
		tell: tellMember,
	}
}

// tellMember returns a member for the audit row.
func tellMember(m sdk.IPSetMember) map[string]any {
	return map[string]any{"cidr": m.CIDR, "nomatch": m.NoMatch, "comment": m.Comment}
}

// showMember converts a member for the API.
func showMember(m sdk.IPSetMember, digest *string) IPSetMember {
	shown := IPSetMember{CIDR: host.Clean(m.CIDR), Comment: host.CleanOrNil(m.Comment), Digest: digest}
	if m.NoMatch {
		shown.NoMatch = 1
	}
	return shown
}

// IPSetMembers returns the members of a set, with their digest, nil for none.
// Problems: not_found, and those of Rules.
func (s *Store) IPSetMembers(ctx context.Context, on Scope, set string) ([]IPSetMember, *string, error) {
	return list(ctx, s.members(on, set), showMember)
}

// AddIPSetMember adds a member to a set. Problems: conflict for an existing
// one, and those of CreateAlias.
func (s *Store) AddIPSetMember(ctx context.Context, on Scope, set string, member sdk.IPSetMember, digest string) (IPSetMember, error) {
	faults := slices.Concat(fault(sdk.CheckText(sdk.FieldCIDR, member.CIDR, sdk.MaxText)),
		fault(sdk.CheckText(sdk.FieldComment, member.Comment, sdk.MaxComment)))
	return s.editMembers(ctx, on, set, digest, faults, func(was []sdk.IPSetMember) (edit[sdk.IPSetMember], error) {
		if memberAt(was, member.CIDR) >= 0 {
			return edit[sdk.IPSetMember]{}, taken()
		}
		return edit[sdk.IPSetMember]{free: true, before: -1, at: len(was), want: append(slices.Clone(was), member),
			send: requestOf(s, on, func(ctx context.Context, able sdk.IPSetMemberEditor, scope sdk.Scope, digest string) error {
				return able.AddIPSetMember(ctx, scope, set, member, digest)
			})}, nil
	})
}

// ChangeIPSetMember changes a member. Problems: not_found, and those of CreateAlias.
func (s *Store) ChangeIPSetMember(ctx context.Context, on Scope, set, cidr string, change sdk.IPSetMemberChange) (IPSetMember, error) {
	if change.NoMatch == nil && change.Comment == nil {
		return IPSetMember{}, guest.NothingToChange()
	}
	var faults []problem.Fault
	if change.Comment != nil {
		faults = fault(sdk.CheckText(sdk.FieldComment, *change.Comment, sdk.MaxComment))
	}
	return s.editMembers(ctx, on, set, change.Digest, faults, func(was []sdk.IPSetMember) (edit[sdk.IPSetMember], error) {
		at := memberAt(was, cidr)
		if at < 0 {
			return edit[sdk.IPSetMember]{}, none("member")
		}
		want := slices.Clone(was)
		if change.NoMatch != nil {
			want[at].NoMatch = *change.NoMatch
		}
		if change.Comment != nil {
			want[at].Comment = *change.Comment
		}
		return edit[sdk.IPSetMember]{before: at, at: at, want: want,
			send: requestOf(s, on, func(ctx context.Context, able sdk.IPSetMemberEditor, scope sdk.Scope, digest string) error {
				change.Digest = digest
				return able.ChangeIPSetMember(ctx, scope, set, was[at].CIDR, change)
			})}, nil
	})
}

// RemoveIPSetMember removes a member and returns it as it was. Problems: those
// of ChangeIPSetMember.
func (s *Store) RemoveIPSetMember(ctx context.Context, on Scope, set, cidr, digest string) (IPSetMember, error) {
	return s.editMembers(ctx, on, set, digest, nil, func(was []sdk.IPSetMember) (edit[sdk.IPSetMember], error) {
		at := memberAt(was, cidr)
		if at < 0 {
			return edit[sdk.IPSetMember]{}, none("member")
		}
		return edit[sdk.IPSetMember]{before: at, at: -1, want: slices.Delete(slices.Clone(was), at, at+1),
			send: requestOf(s, on, func(ctx context.Context, able sdk.IPSetMemberEditor, scope sdk.Scope, digest string) error {
				return able.RemoveIPSetMember(ctx, scope, set, was[at].CIDR, digest)
			})}, nil
	})
}

// editMembers changes the members of a set and adds the set to the audit row.
func (s *Store) editMembers(ctx context.Context, on Scope, set, digest string, faults []problem.Fault,
	decide func(was []sdk.IPSetMember) (edit[sdk.IPSetMember], error)) (IPSetMember, error) {
	audit.Describe(ctx, func(e *audit.Entry) { e.Detail("ipset", set) })
	return editList[sdk.IPSetMemberEditor](ctx, s, on, s.members(on, set), showMember, digest, faults, decide)
}

// memberAt returns the index of a member, in whatever form its address is
// written; -1 if there is none.
func memberAt(rows []sdk.IPSetMember, cidr string) int {
	wanted, isPrefix := prefixOf(cidr)
	return slices.IndexFunc(rows, func(m sdk.IPSetMember) bool {
		is, ok := prefixOf(m.CIDR)
		return m.CIDR == cidr || isPrefix && ok && is == wanted
	})
}
