package draft

import (
	"context"
	"slices"

	sdk "github.com/hostler/hostler/sdk/firewall"
)

// onAliases is a step of one request about the aliases of a scope.
func onAliases(scope int, apply func(aliases []sdk.Alias) []sdk.Alias,
	send func(ctx context.Context, able sdk.AliasManager, from sdk.State, digest string) error) step {
	return request[sdk.AliasManager, sdk.AliasManager]{scope: scope,
		apply: func(s *sdk.State) { s.Aliases = apply(s.Aliases) },
		part:  func(s sdk.State) sdk.State { return sdk.State{Scope: s.Scope, Aliases: slices.Clone(s.Aliases)} },
		read: func(ctx context.Context, able sdk.AliasManager, from sdk.State) (now sdk.State, digest string, err error) {
			now.Scope = from.Scope
			now.Aliases, digest, err = able.Aliases(ctx, from.Scope)
			return now, digest, err
		},
		send: send}.step()
}

// aliasNamed returns the index of an alias, or -1.
func aliasNamed(all []sdk.Alias, name string) int {
	return slices.IndexFunc(all, func(a sdk.Alias) bool { return a.Name == name })
}

// aliasCreation is the step that creates an alias.
func aliasCreation(scope int, alias sdk.Alias) step {
	return onAliases(scope, func(all []sdk.Alias) []sdk.Alias { return append(all, alias) },
		func(ctx context.Context, able sdk.AliasManager, from sdk.State, digest string) error {
			return able.CreateAlias(ctx, from.Scope, alias, digest)
		})
}

// aliasChange is the step that changes an alias.
func aliasChange(scope int, alias sdk.Alias) step {
	return onAliases(scope, func(all []sdk.Alias) []sdk.Alias {
		all[aliasNamed(all, alias.Name)] = alias
		return all
	}, func(ctx context.Context, able sdk.AliasManager, from sdk.State, digest string) error {
		return able.ChangeAlias(ctx, from.Scope, alias.Name, sdk.AliasChange{CIDR: alias.CIDR, Comment: &alias.Comment, Digest: digest})
	})
}

// aliasDeletion is the step that deletes an alias. The object that it takes
// must not be referred to any more.
func aliasDeletion(scope int, of sdk.Scope, name string) step {
	s := onAliases(scope, func(all []sdk.Alias) []sdk.Alias {
		at := aliasNamed(all, name)
		return slices.Delete(all, at, at+1)
	}, func(ctx context.Context, able sdk.AliasManager, from sdk.State, digest string) error {
		return able.DeleteAlias(ctx, from.Scope, name, digest)
	})
	s.takes = &object{of, sdk.AliasObject, name}
	return s
}

// setNamed returns the index of a set, or -1.
func setNamed(all []sdk.IPSetState, name string) int {
	return slices.IndexFunc(all, func(s sdk.IPSetState) bool { return s.Name == name })
}

// onSets is a step of one request about the list of sets of a scope, without
// their members.
func onSets(scope int, apply func(sets []sdk.IPSetState) []sdk.IPSetState,
	send func(ctx context.Context, able sdk.IPSetManager, from sdk.State, digest string) error) step {
	return request[sdk.IPSetManager, sdk.IPSetManager]{scope: scope,
		apply: func(s *sdk.State) { s.IPSets = apply(s.IPSets) },
		part: func(s sdk.State) sdk.State {
			sets := slices.Clone(s.IPSets)
			for i := range sets {
				sets[i].Members = nil
			}
			return sdk.State{Scope: s.Scope, IPSets: sets}
		},
		read: func(ctx context.Context, able sdk.IPSetManager, from sdk.State) (now sdk.State, digest string, err error) {
			sets, digest, err := able.IPSets(ctx, from.Scope)
			now.Scope = from.Scope
			for _, s := range sets {
				now.IPSets = append(now.IPSets, sdk.IPSetState{IPSet: s})
			}
			return now, digest, err
		},
		send: send}.step()
}

// setCreation is the step that creates an empty set.
func setCreation(scope int, set sdk.IPSet) step {
	return onSets(scope, func(sets []sdk.IPSetState) []sdk.IPSetState { return append(sets, sdk.IPSetState{IPSet: set}) },
		func(ctx context.Context, able sdk.IPSetManager, from sdk.State, digest string) error {
			return able.CreateIPSet(ctx, from.Scope, set, digest)
		})
}

// setDeletion is the step that deletes an empty set. It does not force: a
// member that somebody has added in the meantime makes the request fail and is
// not lost.
func setDeletion(scope int, of sdk.Scope, name string) step {
	s := onSets(scope, func(sets []sdk.IPSetState) []sdk.IPSetState {
		at := setNamed(sets, name)
		return slices.Delete(sets, at, at+1)
	}, func(ctx context.Context, able sdk.IPSetManager, from sdk.State, digest string) error {
		return able.DeleteIPSet(ctx, from.Scope, name, false, digest)
	})
	s.takes = &object{of, sdk.IPSetObject, name}
	return s
}

// onMembers is a step of one request about the members of a set.
func onMembers(scope int, set string, apply func(members []sdk.IPSetMember) []sdk.IPSetMember,
	send func(ctx context.Context, able sdk.IPSetMemberEditor, from sdk.State, digest string) error) step {
	return request[sdk.IPSetMemberEditor, sdk.IPSetMemberEditor]{scope: scope,
		apply: func(s *sdk.State) {
			members := &s.IPSets[setNamed(s.IPSets, set)].Members
			*members = apply(*members)
		},
		part: func(s sdk.State) sdk.State {
			return ofSet(s.Scope, set, slices.Clone(membersOf(s, set)))
		},
		read: func(ctx context.Context, able sdk.IPSetMemberEditor, from sdk.State) (sdk.State, string, error) {
			members, digest, err := able.IPSetMembers(ctx, from.Scope, set)
			return ofSet(from.Scope, set, members), digest, err
		},
		send: send}.step()
}

// ofSet returns a state with one set.
func ofSet(scope sdk.Scope, name string, members []sdk.IPSetMember) sdk.State {
	return sdk.State{Scope: scope, IPSets: []sdk.IPSetState{{IPSet: sdk.IPSet{Name: name}, Members: members}}}
}

// memberNamed returns the index of a member, or -1.
func memberNamed(all []sdk.IPSetMember, cidr string) int {
	return slices.IndexFunc(all, func(m sdk.IPSetMember) bool { return m.CIDR == cidr })
}

// membersOf returns the members of a set in a state.
func membersOf(s sdk.State, set string) []sdk.IPSetMember {
	if at := setNamed(s.IPSets, set); at >= 0 {
		return s.IPSets[at].Members
	}
	return nil
}

// memberAddition is the step that adds a member.
func memberAddition(scope int, set string, m sdk.IPSetMember) step {
	return onMembers(scope, set, func(all []sdk.IPSetMember) []sdk.IPSetMember { return append(all, m) },
		func(ctx context.Context, able sdk.IPSetMemberEditor, from sdk.State, digest string) error {
			return able.AddIPSetMember(ctx, from.Scope, set, m, digest)
		})
}

// memberChange is the step that changes a member.
func memberChange(scope int, set string, m sdk.IPSetMember) step {
	return onMembers(scope, set, func(all []sdk.IPSetMember) []sdk.IPSetMember {
		all[memberNamed(all, m.CIDR)] = m
		return all
	}, func(ctx context.Context, able sdk.IPSetMemberEditor, from sdk.State, digest string) error {
		return able.ChangeIPSetMember(ctx, from.Scope, set, m.CIDR,
			sdk.IPSetMemberChange{NoMatch: &m.NoMatch, Comment: &m.Comment, Digest: digest})
	})
}

// memberRemoval is the step that removes a member.
func memberRemoval(scope int, set, cidr string) step {
	return onMembers(scope, set, func(all []sdk.IPSetMember) []sdk.IPSetMember {
		at := memberNamed(all, cidr)
		return slices.Delete(all, at, at+1)
	}, func(ctx context.Context, able sdk.IPSetMemberEditor, from sdk.State, digest string) error {
		return able.RemoveIPSetMember(ctx, from.Scope, set, cidr, digest)
	})
}

// optionsChange is the step that sets the named options to their values in to.
func optionsChange(scope int, to sdk.Options, names []string) step {
	s := request[sdk.OptionsManager, sdk.OptionsManager]{scope: scope,
		apply: func(s *sdk.State) { setOptions(&s.Options, to, names) },
		part: func(s sdk.State) sdk.State {
			return owned(sdk.State{Scope: s.Scope, Options: s.Options})
		},
		read: func(ctx context.Context, able sdk.OptionsManager, from sdk.State) (now sdk.State, digest string, err error) {
			now.Scope = from.Scope
			now.Options, err = able.Options(ctx, from.Scope)
			return now, now.Options.Digest, err
		},
		send: func(ctx context.Context, able sdk.OptionsManager, from sdk.State, digest string) error {
			change := sdk.OptionsChange{}
			setOptions(&change.Set, to, names)
			for _, name := range names {
				if !isSet(to, name) {
					change.Clear = append(change.Clear, name)
				}
			}
			change.Set.Digest = digest
			return able.ChangeOptions(ctx, from.Scope, change)
		}}.step()
	s.options = true
	return s
}

// onGroup is a step of one request about the group that is the scope. Groups
// are listed at the cluster.
func onGroup(scope int, apply func(s *sdk.State),
	send func(ctx context.Context, able sdk.GroupManager, from sdk.State, digest string) error) step {
	return request[sdk.GroupManager, sdk.GroupManager]{scope: scope, at: &sdk.Scope{Kind: sdk.ClusterScope}, apply: apply,
		part: func(s sdk.State) sdk.State { return sdk.State{Scope: s.Scope, Absent: s.Absent, Comment: s.Comment} },
		read: func(ctx context.Context, able sdk.GroupManager, from sdk.State) (now sdk.State, digest string, err error) {
			groups, digest, err := able.Groups(ctx)
			now = sdk.State{Scope: from.Scope, Absent: true}
			if at := slices.IndexFunc(groups, func(g sdk.Group) bool { return g.Name == from.Scope.Group }); at >= 0 {
				now.Absent, now.Comment = false, groups[at].Comment
			}
			return now, digest, err
		},
		send: send}.step()
}

// groupCreation is the step that creates a group without rules.
func groupCreation(scope int, comment string) step {
	return onGroup(scope, func(s *sdk.State) { *s = sdk.State{Scope: s.Scope, Comment: comment} },
		func(ctx context.Context, able sdk.GroupManager, from sdk.State, digest string) error {
			return able.CreateGroup(ctx, sdk.Group{Name: from.Scope.Group, Comment: comment}, digest)
		})
}

// groupChange is the step that changes the comment of a group.
func groupChange(scope int, comment string) step {
	return onGroup(scope, func(s *sdk.State) { s.Comment = comment },
		func(ctx context.Context, able sdk.GroupManager, from sdk.State, digest string) error {
			return able.ChangeGroup(ctx, from.Scope.Group, sdk.GroupChange{Comment: &comment, Digest: digest})
		})
}

// groupDeletion is the step that deletes an empty group.
func groupDeletion(scope int, name string) step {
	s := onGroup(scope, func(s *sdk.State) { *s = sdk.State{Scope: s.Scope, Absent: true} },
		func(ctx context.Context, able sdk.GroupManager, from sdk.State, digest string) error {
			return able.DeleteGroup(ctx, from.Scope.Group, digest)
		})
	s.takes = &object{sdk.Scope{Kind: sdk.ClusterScope}, sdk.GroupObject, name}
	return s
}
