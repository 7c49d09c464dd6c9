package pve

import (
	"context"
	"net/url"
	"slices"

	"github.com/hostler/hostler/plugins/pve/pveapi"
	"github.com/hostler/hostler/sdk/firewall"
	"github.com/hostler/hostler/sdk/plugin"
)

var _ firewall.IPSetMemberEditor = (*Firewall)(nil)

// neverAMember is a network that no set accepts as a member.
const neverAMember = "0.0.0.0/0"

// setAt returns the place of a set's members.
func setAt(scope firewall.Scope, set string) (place, error) {
	if firewall.CheckName(firewall.FieldName, set) != nil {
		if _, err := objectsOf(scope, "ipset"); err != nil {
			return place{}, err
		}
		return place{}, noObject("IP set", set)
	}
	return objectsOf(scope, "ipset", set)
}

// IPSetMembers implements firewall.IPSetMemberEditor.
func (f *Firewall) IPSetMembers(ctx context.Context, scope firewall.Scope, set string) ([]firewall.IPSetMember, string, error) {
	at, err := setAt(scope, set)
	if err != nil {
		return nil, "", err
	}
	return f.members(ctx, at)
}

// members reads the members of a set, with a digest of the list.
func (f *Firewall) members(ctx context.Context, at place) ([]firewall.IPSetMember, string, error) {
	var rows []struct {
		CIDR    pveapi.Text `json:"cidr"`
		NoMatch pveapi.Flag `json:"nomatch"`
		Comment pveapi.Text `json:"comment"`
		Digest  pveapi.Text `json:"digest"`
	}
	if err := f.read(ctx, at, &rows); err != nil {
		return nil, "", err
	}
	members := make([]firewall.IPSetMember, len(rows))
	for i, row := range rows {
		members[i] = firewall.IPSetMember{CIDR: string(row.CIDR), NoMatch: bool(row.NoMatch), Comment: string(row.Comment)}
	}
	return members, digestOf(len(rows), func(i int) pveapi.Text { return rows[i].Digest }), nil
}

// AddIPSetMember implements firewall.IPSetMemberEditor. Proxmox VE ignores a
// digest here, and removes the host bits of a network.
func (f *Firewall) AddIPSetMember(ctx context.Context, scope firewall.Scope, set string, member firewall.IPSetMember,
	digest string) error {
	at, err := setAt(scope, set)
	if err != nil {
		return err
	}
	if err := firewall.CheckText(firewall.FieldCIDR, member.CIDR, firewall.MaxText); err != nil {
		return err
	}
	if err := firewall.CheckText(firewall.FieldComment, member.Comment, firewall.MaxComment); err != nil {
		return err
	}
	form := memberForm(member)
	form.Set("cidr", member.CIDR)
	return f.change(ctx, at, func() error {
		if err := f.freshMembers(ctx, at, digest); err != nil {
			return err
		}
		_, err := f.host.api.Post(ctx, at.path, form, nil)
		return err
	})
}

// ChangeIPSetMember implements firewall.IPSetMemberEditor. Proxmox VE replaces
// the whole member. So the values that stay are read first, and the digest of
// that list goes with the change.
func (f *Firewall) ChangeIPSetMember(ctx context.Context, scope firewall.Scope, set, cidr string,
	change firewall.IPSetMemberChange) error {
	at, err := setAt(scope, set)
	if err != nil {
		return err
	}
	if change.Comment != nil {
		if err := firewall.CheckText(firewall.FieldComment, *change.Comment, firewall.MaxComment); err != nil {
			return err
		}
	}
	return f.change(ctx, at, func() error {
		member, digest, err := f.member(ctx, at, cidr, change.Digest)
		if err != nil {
			return err
		}
		if change.NoMatch != nil {
			member.NoMatch = *change.NoMatch
		}
		if change.Comment != nil {
			member.Comment = *change.Comment
		}
		one, err := at.below(member.CIDR)
		if err != nil {
			return err
		}
		_, err = f.host.api.Put(ctx, one.path, withDigest(memberForm(member), digest), nil)
		return err
	})
}

// RemoveIPSetMember implements firewall.IPSetMemberEditor. Proxmox VE reports
// success for a member that does not exist, so it is looked for first.
func (f *Firewall) RemoveIPSetMember(ctx context.Context, scope firewall.Scope, set, cidr, digest string) error {
	at, err := setAt(scope, set)
	if err != nil {
		return err
	}
	return f.change(ctx, at, func() error {
		member, _, err := f.member(ctx, at, cidr, digest)
		if err != nil {
			return err
		}
		one, err := at.below(member.CIDR)
		if err != nil {
			return err
		}
		_, err = f.host.api.Delete(ctx, one.path, withDigest(url.Values{}, digest), nil)
		return err
	})
}

// member finds a member and returns the digest of all members. A given digest
// must match unless it is empty.
func (f *Firewall) member(ctx context.Context, at place, cidr, digest string) (firewall.IPSetMember, string, error) {
	members, now, err := f.members(ctx, at)
	if err != nil {
		return firewall.IPSetMember{}, "", err
	}
	if err := fresh(digest, now); err != nil {
		return firewall.IPSetMember{}, "", err
	}
	i := slices.IndexFunc(members, func(m firewall.IPSetMember) bool { return m.CIDR == cidr })
	if i < 0 {
		e := plugin.Errorf(plugin.NotFound, "the set has no member %.80q", cidr)
		e.Field = firewall.FieldCIDR
		return firewall.IPSetMember{}, "", e
	}
	return members[i], now, nil
}

// freshMembers compares a digest with that of a set's members without the right
// to read them. It asks to change a member that cannot exist: Proxmox VE
// compares the digest first and then refuses, so that nothing changes.
func (f *Firewall) freshMembers(ctx context.Context, at place, digest string) error {
	if digest == "" {
		return nil
	}
	one, err := at.below(neverAMember)
	if err != nil {
		return err
	}
	_, err = f.host.api.Put(ctx, one.path, url.Values{"digest": {digest}}, nil)
	return freshAfter(err, "changed the member "+neverAMember)
}

// memberForm returns the parameters of a member without its address.
func memberForm(member firewall.IPSetMember) url.Values {
	form := url.Values{}
	if member.NoMatch {
		form.Set("nomatch", "1")
	}
	if member.Comment != "" {
		form.Set("comment", member.Comment)
	}
	return form
}
