package firewalltest

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/hostler/hostler/sdk/firewall"
	"github.com/hostler/hostler/sdk/plugin"
)

// ipSetMembers tests IPSetMemberEditor. Members are identified by their CIDR. A
// set with members is only deleted with force, and the refusal names the field
// "members".
func (s *suite) ipSetMembers(t *testing.T) {
	lacks[firewall.IPSetMemberEditor](t, s)
	if _, makes := firewall.As[firewall.IPSetManager](s.FirewallType); !makes {
		t.Skip("the firewall cannot create sets")
	}
	const set = "servers"
	net := firewall.IPSetMember{CIDR: "192.0.2.0/24", Comment: "für alle"}
	not := firewall.IPSetMember{CIDR: "192.0.2.9", NoMatch: true}
	six := firewall.IPSetMember{CIDR: "2001:db8:2::/64"}
	start := func(t *testing.T, ctx context.Context, g ground) firewall.IPSetMemberEditor {
		t.Helper()
		must(t, "creating the set", changes[firewall.IPSetManager](t, g).CreateIPSet(ctx, g.Scope, firewall.IPSet{Name: set}, ""))
		return changes[firewall.IPSetMemberEditor](t, g)
	}
	eachScope[firewall.IPSetMemberEditor](t, s, "added, changed and removed", func(t *testing.T, ctx context.Context, g ground) {
		edit := start(t, ctx, g)
		digest := g.wantMembers(t, ctx, set, "none")
		var all []firewall.IPSetMember
		for _, m := range []firewall.IPSetMember{net, not, six} {
			must(t, "adding", edit.AddIPSetMember(ctx, g.Scope, set, m, digest))
			all = append(all, m)
			digest = g.wantMembers(t, ctx, set, digest, all...)
		}
		change := firewall.IPSetMemberChange{NoMatch: ptr(true), Comment: ptr("not these"), Digest: digest}
		must(t, "changing", edit.ChangeIPSetMember(ctx, g.Scope, set, six.CIDR, change))
		now := firewall.IPSetMember{CIDR: six.CIDR, NoMatch: true, Comment: "not these"}
		digest = g.wantMembers(t, ctx, set, digest, net, not, now)
		must(t, "changing one thing", edit.ChangeIPSetMember(ctx, g.Scope, set, six.CIDR, firewall.IPSetMemberChange{NoMatch: ptr(false)}))
		now.NoMatch = false
		digest = g.wantMembers(t, ctx, set, digest, net, not, now)
		must(t, "taking the comment away", edit.ChangeIPSetMember(ctx, g.Scope, set, six.CIDR, firewall.IPSetMemberChange{Comment: ptr("")}))
		digest = g.wantMembers(t, ctx, set, digest, net, not, six)
		must(t, "removing", edit.RemoveIPSetMember(ctx, g.Scope, set, net.CIDR, digest))
		g.wantMembers(t, ctx, set, digest, not, six)
		sets := changes[firewall.IPSetManager](t, g)
		wantField(t, "deleting a set with members", sets.DeleteIPSet(ctx, g.Scope, set, false, ""), plugin.Conflict, firewall.FieldMembers)
		g.wantMembers(t, ctx, set, digest, not, six)
		must(t, "deleting the set with its members", sets.DeleteIPSet(ctx, g.Scope, set, true, ""))
		_, _, err := edit.IPSetMembers(ctx, g.Scope, set)
		wantKind(t, err, plugin.NotFound)
	})
	eachScope[firewall.IPSetMemberEditor](t, s, "what does not do", func(t *testing.T, ctx context.Context, g ground) {
		edit := start(t, ctx, g)
		must(t, "adding", edit.AddIPSetMember(ctx, g.Scope, set, net, ""))
		before := g.wantMembers(t, ctx, set, "none", net)
		must(t, "adding", edit.AddIPSetMember(ctx, g.Scope, set, not, ""))
		digest := g.wantMembers(t, ctx, set, before, net, not)
		wantField(t, "one that is there", edit.AddIPSetMember(ctx, g.Scope, set, net, ""), plugin.Conflict, firewall.FieldCIDR)
		wantField(t, "none", edit.ChangeIPSetMember(ctx, g.Scope, set, six.CIDR, firewall.IPSetMemberChange{NoMatch: ptr(true)}),
			plugin.NotFound, firewall.FieldCIDR)
		wantField(t, "none", edit.RemoveIPSetMember(ctx, g.Scope, set, six.CIDR, ""), plugin.NotFound, firewall.FieldCIDR)
		for _, name := range append(hostileNames(), "no-such-set") {
			_, _, err := edit.IPSetMembers(ctx, g.Scope, name)
			wantNone(t, name, err)
			wantNone(t, name, edit.AddIPSetMember(ctx, g.Scope, name, six, ""))
			wantNone(t, name, edit.ChangeIPSetMember(ctx, g.Scope, name, net.CIDR, firewall.IPSetMemberChange{NoMatch: ptr(true)}))
			wantNone(t, name, edit.RemoveIPSetMember(ctx, g.Scope, name, net.CIDR, ""))
		}
		for _, cidr := range hostileNetworks() {
			wantField(t, "adding "+cidr, edit.AddIPSetMember(ctx, g.Scope, set, firewall.IPSetMember{CIDR: cidr}, ""), plugin.Invalid,
				firewall.FieldCIDR)
			wantNone(t, cidr, edit.ChangeIPSetMember(ctx, g.Scope, set, cidr, firewall.IPSetMemberChange{NoMatch: ptr(true)}))
			wantNone(t, cidr, edit.RemoveIPSetMember(ctx, g.Scope, set, cidr, ""))
		}
		for _, text := range hostileTexts() {
			err := edit.AddIPSetMember(ctx, g.Scope, set, firewall.IPSetMember{CIDR: six.CIDR, Comment: text}, "")
			wantField(t, "adding", err, plugin.Invalid, firewall.FieldComment)
			err = edit.ChangeIPSetMember(ctx, g.Scope, set, net.CIDR, firewall.IPSetMemberChange{Comment: &text})
			wantField(t, "changing", err, plugin.Invalid, firewall.FieldComment)
		}
		if before != "" {
			wantField(t, "stale", edit.AddIPSetMember(ctx, g.Scope, set, six, before), plugin.Conflict, firewall.FieldDigest)
			change := firewall.IPSetMemberChange{NoMatch: ptr(true), Digest: before}
			wantField(t, "stale", edit.ChangeIPSetMember(ctx, g.Scope, set, net.CIDR, change), plugin.Conflict, firewall.FieldDigest)
			wantField(t, "stale", edit.RemoveIPSetMember(ctx, g.Scope, set, net.CIDR, before), plugin.Conflict, firewall.FieldDigest)
		}
		noRight(t, g, func(edit firewall.IPSetMemberEditor) error { return edit.AddIPSetMember(ctx, g.Scope, set, six, "") })
		noRight(t, g, func(edit firewall.IPSetMemberEditor) error {
			return edit.ChangeIPSetMember(ctx, g.Scope, set, net.CIDR, firewall.IPSetMemberChange{NoMatch: ptr(true)})
		})
		noRight(t, g, func(edit firewall.IPSetMemberEditor) error {
			return edit.RemoveIPSetMember(ctx, g.Scope, set, net.CIDR, "")
		})
		if now := g.wantMembers(t, ctx, set, before, net, not); now != digest {
			t.Errorf("digest %q became %q", digest, now)
		}
	})
}

// wantMembers wants exactly these members, in any order, and another digest than before.
func (g ground) wantMembers(t *testing.T, ctx context.Context, set, before string, want ...firewall.IPSetMember) string {
	t.Helper()
	found, digest, err := reads[firewall.IPSetMemberEditor](t, g).IPSetMembers(ctx, g.Scope, set)
	must(t, "listing", err)
	want = slices.Clone(want)
	byCIDR := func(a, b firewall.IPSetMember) int { return strings.Compare(a.CIDR, b.CIDR) }
	slices.SortFunc(found, byCIDR)
	if slices.SortFunc(want, byCIDR); !slices.Equal(found, want) {
		t.Fatalf("members are\n%+v, want\n%+v", found, want)
	}
	if digest != "" && digest == before {
		t.Errorf("the digest stays %q", digest)
	}
	return digest
}
