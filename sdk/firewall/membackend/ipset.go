package membackend

import (
	"context"
	"slices"

	"github.com/hostler/hostler/sdk/firewall"
	"github.com/hostler/hostler/sdk/plugin"
)

var (
	_ firewall.IPSetManager      = (*Firewall)(nil)
	_ firewall.IPSetMemberEditor = (*Firewall)(nil)
)

// IPSets implements firewall.IPSetManager.
func (f *Firewall) IPSets(ctx context.Context, scope firewall.Scope) (sets []firewall.IPSet, sum string, err error) {
	err = f.read(ctx, "IPSets", func(e *Endpoint) error {
		s, err := f.at(e, scope, "ipsets")
		if err != nil {
			return err
		}
		sets = s.listSets()
		sum = digest(sets)
		return nil
	})
	return sets, sum, err
}

// listSets returns the sets without their members.
func (s *state) listSets() (sets []firewall.IPSet) {
	for _, set := range s.sets {
		sets = append(sets, set.IPSet)
	}
	return sets
}

// CreateIPSet implements firewall.IPSetManager.
func (f *Firewall) CreateIPSet(ctx context.Context, scope firewall.Scope, set firewall.IPSet, sum string) error {
	return f.editSets(ctx, "CreateIPSet", scope, sum, func(s *state) error {
		if err := firewall.CheckName(firewall.FieldName, set.Name); err != nil {
			return err
		}
		if err := firewall.CheckText(firewall.FieldComment, set.Comment, firewall.MaxComment); err != nil {
			return err
		}
		if s.set(set.Name) != nil {
			return taken(firewall.FieldName)
		}
		s.sets = append(s.sets, ipSet{IPSet: set})
		return nil
	})
}

// DeleteIPSet implements firewall.IPSetManager.
func (f *Firewall) DeleteIPSet(ctx context.Context, scope firewall.Scope, name string, withMembers bool, sum string) error {
	return f.editSets(ctx, "DeleteIPSet", scope, sum, func(s *state) error {
		switch set := s.set(name); {
		case set == nil:
			return missing(firewall.FieldName)
		case len(set.members) > 0 && !withMembers:
			return failed(plugin.Conflict, firewall.FieldMembers, "the set has members")
		}
		s.sets = slices.DeleteFunc(s.sets, func(set ipSet) bool { return set.Name == name })
		return nil
	})
}

// editSets changes the sets of a scope after checking the digest of their list.
func (f *Firewall) editSets(ctx context.Context, method string, scope firewall.Scope, sum string, do func(*state) error) error {
	return f.change(ctx, method, func(e *Endpoint) error {
		s, err := f.at(e, scope, "ipsets")
		if err != nil {
			return err
		}
		if err := stale(sum, digest(s.listSets())); err != nil {
			return err
		}
		return do(s)
	})
}

// set returns a set, or nil if none has the name. The pointer is valid until
// the list changes.
func (s *state) set(name string) *ipSet {
	if i := slices.IndexFunc(s.sets, func(set ipSet) bool { return set.Name == name }); i >= 0 {
		return &s.sets[i]
	}
	return nil
}

// IPSetMembers implements firewall.IPSetMemberEditor.
func (f *Firewall) IPSetMembers(ctx context.Context, scope firewall.Scope, name string) (members []firewall.IPSetMember, sum string,
	err error) {
	err = f.read(ctx, "IPSetMembers", func(e *Endpoint) error {
		_, set, err := f.setAt(e, scope, name)
		if err != nil {
			return err
		}
		members, sum = slices.Clone(set.members), digest(set.members)
		return nil
	})
	return members, sum, err
}

// AddIPSetMember implements firewall.IPSetMemberEditor. A member is a network
// or an alias of the scope or the cluster.
func (f *Firewall) AddIPSetMember(ctx context.Context, scope firewall.Scope, name string, member firewall.IPSetMember, sum string) error {
	return f.editMembers(ctx, "AddIPSetMember", scope, name, sum, func(e *Endpoint, s *state, set *ipSet) error {
		cluster := e.scopes[key(firewall.Scope{Kind: firewall.ClusterScope})]
		if !network(member.CIDR) && s.alias(member.CIDR) < 0 && cluster.alias(member.CIDR) < 0 {
			return firewall.Invalid(firewall.FieldCIDR, "it is not an address, a network or an alias")
		}
		if err := firewall.CheckText(firewall.FieldComment, member.Comment, firewall.MaxComment); err != nil {
			return err
		}
		if set.member(member.CIDR) >= 0 {
			return taken(firewall.FieldCIDR)
		}
		set.members = append(slices.Clone(set.members), member)
		return nil
	})
}

// ChangeIPSetMember implements firewall.IPSetMemberEditor.
func (f *Firewall) ChangeIPSetMember(ctx context.Context, scope firewall.Scope, name, cidr string,
	change firewall.IPSetMemberChange) error {
	return f.editMembers(ctx, "ChangeIPSetMember", scope, name, change.Digest, func(_ *Endpoint, _ *state, set *ipSet) error {
		i := set.member(cidr)
		if i < 0 {
			return missing(firewall.FieldCIDR)
		}
		now := set.members[i]
		if change.NoMatch != nil {
			now.NoMatch = *change.NoMatch
		}
		if change.Comment != nil {
			now.Comment = *change.Comment
		}
		if err := firewall.CheckText(firewall.FieldComment, now.Comment, firewall.MaxComment); err != nil {
			return err
		}
		set.members = slices.Clone(set.members)
		set.members[i] = now
		return nil
	})
}

// RemoveIPSetMember implements firewall.IPSetMemberEditor.
func (f *Firewall) RemoveIPSetMember(ctx context.Context, scope firewall.Scope, name, cidr, sum string) error {
	return f.editMembers(ctx, "RemoveIPSetMember", scope, name, sum, func(_ *Endpoint, _ *state, set *ipSet) error {
		i := set.member(cidr)
		if i < 0 {
			return missing(firewall.FieldCIDR)
		}
		set.members = slices.Delete(slices.Clone(set.members), i, i+1)
		return nil
	})
}

// editMembers changes the members of a set after checking their digest.
func (f *Firewall) editMembers(ctx context.Context, method string, scope firewall.Scope, name, sum string,
	do func(*Endpoint, *state, *ipSet) error) error {
	return f.change(ctx, method, func(e *Endpoint) error {
		s, set, err := f.setAt(e, scope, name)
		if err != nil {
			return err
		}
		if err := stale(sum, digest(set.members)); err != nil {
			return err
		}
		return do(e, s, set)
	})
}

// setAt returns a scope and one of its sets. The caller holds the lock.
func (f *Firewall) setAt(e *Endpoint, scope firewall.Scope, name string) (*state, *ipSet, error) {
	s, err := f.at(e, scope, "ipset_members")
	if err != nil {
		return nil, nil, err
	}
	set := s.set(name)
	if set == nil {
		return nil, nil, missing(firewall.FieldName)
	}
	return s, set, nil
}

// member returns the index of a member by its CIDR, or -1.
func (set *ipSet) member(cidr string) int {
	return slices.IndexFunc(set.members, func(m firewall.IPSetMember) bool { return m.CIDR == cidr })
}
