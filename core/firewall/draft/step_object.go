package draft

import (
	"context"
	"slices"

	sdk "github.com/hostler/hostler/sdk/firewall"
)

// onAliases is a step of one request on the aliases of a scope.
func onAliases(scope int, from sdk.State, to []sdk.Alias, send func(ctx context.Context, able sdk.Aliaser, digest string) error) step {
	end := from
	end.Aliases = to
	return once(scope, from, end, from.Scope, func(ctx context.Context, able sdk.Aliaser) (now sdk.State, digest string, err error) {
		now = from
		now.Aliases, digest, err = able.Aliases(ctx, from.Scope)
		return now, digest, err
	}, send)
}

func aliasNamed(all []sdk.Alias, name string) int {
	return slices.IndexFunc(all, func(a sdk.Alias) bool { return a.Name == name })
}

func aliasCreation(scope int, from sdk.State, alias sdk.Alias) step {
	return onAliases(scope, from, append(slices.Clone(from.Aliases), alias), func(ctx context.Context, able sdk.Aliaser,
		digest string) error {
		return able.CreateAlias(ctx, from.Scope, alias, digest)
	})
}

func aliasChange(scope int, from sdk.State, alias sdk.Alias) step {
	to := slices.Clone(from.Aliases)
	to[aliasNamed(to, alias.Name)] = alias
	return onAliases(scope, from, to, func(ctx context.Context, able sdk.Aliaser, digest string) error {
		return able.ChangeAlias(ctx, from.Scope, alias.Name, sdk.AliasChange{CIDR: alias.CIDR, Comment: &alias.Comment, Digest: digest})
	})
}

func aliasDeletion(scope int, from sdk.State, name string) step {
	at := aliasNamed(from.Aliases, name)
	return onAliases(scope, from, slices.Delete(slices.Clone(from.Aliases), at, at+1),
		func(ctx context.Context, able sdk.Aliaser, digest string) error {
			return able.DeleteAlias(ctx, from.Scope, name, digest)
		})
}

func setNamed(all []sdk.IPSetState, name string) int {
	return slices.IndexFunc(all, func(s sdk.IPSetState) bool { return s.Name == name })
}

// onSets is a step of one request on the list of sets of a scope.
func onSets(scope int, from sdk.State, to []sdk.IPSetState, send func(ctx context.Context, able sdk.IPSetter, digest string) error) step {
	end := from
	end.IPSets = to
	return once(scope, from, end, from.Scope, func(ctx context.Context, able sdk.IPSetter) (now sdk.State, digest string, err error) {
		sets, digest, err := able.IPSets(ctx, from.Scope)
		if err != nil {
			return now, "", err
		}
		now = from
		now.IPSets = nil
		for _, s := range sets {
			one := sdk.IPSetState{IPSet: s}
			if at := setNamed(from.IPSets, s.Name); at >= 0 {
				one.Members = from.IPSets[at].Members
			}
			now.IPSets = append(now.IPSets, one)
		}
		return now, digest, nil
	}, send)
}

func setCreation(scope int, from sdk.State, set sdk.IPSet) step {
	return onSets(scope, from, append(slices.Clone(from.IPSets), sdk.IPSetState{IPSet: set}),
		func(ctx context.Context, able sdk.IPSetter, digest string) error {
			return able.CreateIPSet(ctx, from.Scope, set, digest)
		})
}

// setDeletion deletes a set that has no members any more: one that somebody has put in meanwhile is not lost with it.
func setDeletion(scope int, from sdk.State, name string) step {
	at := setNamed(from.IPSets, name)
	return onSets(scope, from, slices.Delete(slices.Clone(from.IPSets), at, at+1),
		func(ctx context.Context, able sdk.IPSetter, digest string) error {
			return able.DeleteIPSet(ctx, from.Scope, name, false, digest)
		})
}

// onMembers is a step of one request on the members of a set.
func onMembers(scope int, from sdk.State, set string, to []sdk.IPSetMember,
	send func(ctx context.Context, able sdk.IPSetMemberEditor, digest string) error) step {
	with := func(members []sdk.IPSetMember) sdk.State {
		s := from
		s.IPSets = slices.Clone(from.IPSets)
		s.IPSets[setNamed(s.IPSets, set)].Members = members
		return s
	}
	return once(scope, from, with(to), from.Scope, func(ctx context.Context, able sdk.IPSetMemberEditor) (sdk.State, string, error) {
		members, digest, err := able.IPSetMembers(ctx, from.Scope, set)
		return with(members), digest, err
	}, send)
}

func memberNamed(all []sdk.IPSetMember, cidr string) int {
	return slices.IndexFunc(all, func(m sdk.IPSetMember) bool { return m.CIDR == cidr })
}

func membersOf(s sdk.State, set string) []sdk.IPSetMember {
	if at := setNamed(s.IPSets, set); at >= 0 {
		return s.IPSets[at].Members
	}
	return nil
}

func memberAddition(scope int, from sdk.State, set string, m sdk.IPSetMember) step {
	return onMembers(scope, from, set, append(slices.Clone(membersOf(from, set)), m),
		func(ctx context.Context, able sdk.IPSetMemberEditor, digest string) error {
			return able.AddIPSetMember(ctx, from.Scope, set, m, digest)
		})
}

func memberChange(scope int, from sdk.State, set string, m sdk.IPSetMember) step {
	to := slices.Clone(membersOf(from, set))
	to[memberNamed(to, m.CIDR)] = m
	return onMembers(scope, from, set, to, func(ctx context.Context, able sdk.IPSetMemberEditor, digest string) error {
		return able.ChangeIPSetMember(ctx, from.Scope, set, m.CIDR,
			sdk.IPSetMemberChange{NoMatch: &m.NoMatch, Comment: &m.Comment, Digest: digest})
	})
}

func memberRemoval(scope int, from sdk.State, set, cidr string) step {
	members := membersOf(from, set)
	at := memberNamed(members, cidr)
	return onMembers(scope, from, set, slices.Delete(slices.Clone(members), at, at+1),
		func(ctx context.Context, able sdk.IPSetMemberEditor, digest string) error {
			return able.RemoveIPSetMember(ctx, from.Scope, set, cidr, digest)
		})
}

// optionsChange makes the named options as they are in to.
func optionsChange(scope int, from sdk.State, to sdk.Options, names []string) step {
	end := from
	end.Options = withOptions(from.Options, to, names)
	return once(scope, from, end, from.Scope, func(ctx context.Context, able sdk.Optioner) (now sdk.State, digest string, err error) {
		now = from
		now.Options, err = able.Options(ctx, from.Scope)
		return now, now.Options.Digest, err
	}, func(ctx context.Context, able sdk.Optioner, digest string) error {
		change := sdk.OptionsChange{Set: withOptions(sdk.Options{}, to, names)}
		for _, name := range names {
			if !isSet(to, name) {
				change.Clear = append(change.Clear, name)
			}
		}
		change.Set.Digest = digest
		return able.ChangeOptions(ctx, from.Scope, change)
	})
}

// groupStep is a step of one request on the group that the scope is.
func groupStep(scope int, from, to sdk.State, send func(ctx context.Context, able sdk.Grouper, digest string) error) step {
	cluster := sdk.Scope{Kind: sdk.ClusterScope}
	return once(scope, from, to, cluster, func(ctx context.Context, able sdk.Grouper) (now sdk.State, digest string, err error) {
		groups, digest, err := able.Groups(ctx)
		if err != nil {
			return now, "", err
		}
		now = sdk.State{Scope: from.Scope, Absent: true}
		if at := slices.IndexFunc(groups, func(g sdk.Group) bool { return g.Name == from.Scope.Group }); at >= 0 {
			now = from
			now.Absent, now.Comment = false, groups[at].Comment
		}
		return now, digest, nil
	}, send)
}

func groupCreation(scope int, from sdk.State, comment string) step {
	to := sdk.State{Scope: from.Scope, Comment: comment}
	return groupStep(scope, from, to, func(ctx context.Context, able sdk.Grouper, digest string) error {
		return able.CreateGroup(ctx, sdk.Group{Name: from.Scope.Group, Comment: comment}, digest)
	})
}

func groupChange(scope int, from sdk.State, comment string) step {
	to := from
	to.Comment = comment
	return groupStep(scope, from, to, func(ctx context.Context, able sdk.Grouper, digest string) error {
		return able.ChangeGroup(ctx, from.Scope.Group, sdk.GroupChange{Comment: &comment, Digest: digest})
	})
}

func groupDeletion(scope int, from sdk.State) step {
	return groupStep(scope, from, sdk.State{Scope: from.Scope, Absent: true},
		func(ctx context.Context, able sdk.Grouper, digest string) error {
			return able.DeleteGroup(ctx, from.Scope.Group, digest)
		})
}
