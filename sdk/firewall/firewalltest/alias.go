package firewalltest

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/hostler/hostler/sdk/firewall"
	"github.com/hostler/hostler/sdk/plugin"
)

// aliases tests AliasManager on an empty scope of each kind. The rules are the
// same for aliases, IP sets, members and groups:
//
//   - Every change makes the digest change, and nothing else does.
//   - A change with a stale digest is a Conflict with the field "digest"
//     and changes nothing; an empty digest skips the check.
//   - A taken name is a Conflict, an unknown one NotFound, and an
//     impossible one Invalid, each with its field.
//   - A comment of one line is stored byte by byte; several lines and
//     control characters are Invalid, because backends write them into
//     configuration files.
func (s *suite) aliases(t *testing.T) {
	lacks[firewall.AliasManager](t, s)
	one := firewall.Alias{Name: "office", CIDR: "192.0.2.10", Comment: "für das Büro"}
	two := firewall.Alias{Name: "branch-2", CIDR: "2001:db8:1::/64"}
	eachScope[firewall.AliasManager](t, s, "made, changed and deleted", func(t *testing.T, ctx context.Context, g ground) {
		edit := changes[firewall.AliasManager](t, g)
		digest := g.wantAliases(t, ctx, "none")
		must(t, "creating", edit.CreateAlias(ctx, g.Scope, one, digest))
		digest = g.wantAliases(t, ctx, digest, one)
		must(t, "creating", edit.CreateAlias(ctx, g.Scope, two, digest))
		digest = g.wantAliases(t, ctx, digest, one, two)
		change := firewall.AliasChange{CIDR: "198.51.100.0/24", Comment: ptr("moved"), Digest: digest}
		must(t, "changing", edit.ChangeAlias(ctx, g.Scope, two.Name, change))
		now := firewall.Alias{Name: two.Name, CIDR: "198.51.100.0/24", Comment: "moved"}
		digest = g.wantAliases(t, ctx, digest, one, now)
		must(t, "changing the network", edit.ChangeAlias(ctx, g.Scope, two.Name, firewall.AliasChange{CIDR: "198.51.100.9"}))
		now.CIDR = "198.51.100.9"
		digest = g.wantAliases(t, ctx, digest, one, now)
		must(t, "renaming", edit.ChangeAlias(ctx, g.Scope, two.Name, firewall.AliasChange{Rename: "branch-3", Digest: digest}))
		now.Name = "branch-3"
		digest = g.wantAliases(t, ctx, digest, one, now)
		must(t, "taking the comment away", edit.ChangeAlias(ctx, g.Scope, now.Name, firewall.AliasChange{Comment: ptr("")}))
		now.Comment = ""
		digest = g.wantAliases(t, ctx, digest, one, now)
		must(t, "deleting", edit.DeleteAlias(ctx, g.Scope, one.Name, digest))
		g.wantAliases(t, ctx, digest, now)
		must(t, "deleting", edit.DeleteAlias(ctx, g.Scope, now.Name, ""))
		g.wantAliases(t, ctx, "none")
	})
	eachScope[firewall.AliasManager](t, s, "what does not do", func(t *testing.T, ctx context.Context, g ground) {
		edit := changes[firewall.AliasManager](t, g)
		must(t, "creating", edit.CreateAlias(ctx, g.Scope, one, ""))
		before := g.wantAliases(t, ctx, "none", one)
		must(t, "creating", edit.CreateAlias(ctx, g.Scope, two, ""))
		digest := g.wantAliases(t, ctx, before, one, two)
		err := edit.CreateAlias(ctx, g.Scope, firewall.Alias{Name: one.Name, CIDR: "192.0.2.1"}, "")
		wantField(t, "a name that is taken", err, plugin.Conflict, firewall.FieldName)
		wantField(t, "a new name that is taken", edit.ChangeAlias(ctx, g.Scope, two.Name, firewall.AliasChange{Rename: one.Name}),
			plugin.Conflict, firewall.FieldName)
		wantKind(t, edit.ChangeAlias(ctx, g.Scope, "no-such-alias", firewall.AliasChange{CIDR: "192.0.2.1"}), plugin.NotFound)
		wantKind(t, edit.DeleteAlias(ctx, g.Scope, "no-such-alias", ""), plugin.NotFound)
		for _, name := range hostileNames() {
			err := edit.CreateAlias(ctx, g.Scope, firewall.Alias{Name: name, CIDR: "192.0.2.1"}, "")
			wantField(t, "creating "+name, err, plugin.Invalid, firewall.FieldName)
			if name != "" {
				err = edit.ChangeAlias(ctx, g.Scope, one.Name, firewall.AliasChange{Rename: name})
				wantField(t, "renaming to "+name, err, plugin.Invalid, firewall.FieldRename)
			}
			wantNone(t, name, edit.ChangeAlias(ctx, g.Scope, name, firewall.AliasChange{CIDR: "192.0.2.1"}))
			wantNone(t, name, edit.DeleteAlias(ctx, g.Scope, name, ""))
		}
		for _, cidr := range hostileNetworks() {
			err := edit.CreateAlias(ctx, g.Scope, firewall.Alias{Name: "another", CIDR: cidr}, "")
			wantField(t, "creating with "+cidr, err, plugin.Invalid, firewall.FieldCIDR)
			if cidr != "" {
				err = edit.ChangeAlias(ctx, g.Scope, one.Name, firewall.AliasChange{CIDR: cidr})
				wantField(t, "changing to "+cidr, err, plugin.Invalid, firewall.FieldCIDR)
			}
		}
		for _, text := range hostileTexts() {
			err := edit.CreateAlias(ctx, g.Scope, firewall.Alias{Name: "another", CIDR: "192.0.2.1", Comment: text}, "")
			wantField(t, "creating", err, plugin.Invalid, firewall.FieldComment)
			err = edit.ChangeAlias(ctx, g.Scope, one.Name, firewall.AliasChange{Comment: &text})
			wantField(t, "changing", err, plugin.Invalid, firewall.FieldComment)
		}
		if before != "" {
			wantField(t, "stale", edit.ChangeAlias(ctx, g.Scope, one.Name, firewall.AliasChange{CIDR: "192.0.2.1", Digest: before}),
				plugin.Conflict, firewall.FieldDigest)
			wantField(t, "stale", edit.DeleteAlias(ctx, g.Scope, one.Name, before), plugin.Conflict, firewall.FieldDigest)
			wantField(t, "stale", edit.CreateAlias(ctx, g.Scope, firewall.Alias{Name: "another", CIDR: "192.0.2.1"}, before), plugin.Conflict,
				firewall.FieldDigest)
		}
		noRight(t, g, func(edit firewall.AliasManager) error {
			return edit.CreateAlias(ctx, g.Scope, firewall.Alias{Name: "another", CIDR: "192.0.2.1"}, "")
		})
		noRight(t, g, func(edit firewall.AliasManager) error {
			return edit.ChangeAlias(ctx, g.Scope, one.Name, firewall.AliasChange{CIDR: "192.0.2.1"})
		})
		noRight(t, g, func(edit firewall.AliasManager) error { return edit.DeleteAlias(ctx, g.Scope, one.Name, "") })
		if now := g.wantAliases(t, ctx, before, one, two); now != digest {
			t.Errorf("digest %q became %q", digest, now)
		}
	})
}

// wantAliases wants exactly these aliases, in any order, and another digest than before.
func (g ground) wantAliases(t *testing.T, ctx context.Context, before string, want ...firewall.Alias) string {
	t.Helper()
	found, digest, err := reads[firewall.AliasManager](t, g).Aliases(ctx, g.Scope)
	must(t, "listing", err)
	byName := func(a, b firewall.Alias) int { return strings.Compare(a.Name, b.Name) }
	slices.SortFunc(found, byName)
	if slices.SortFunc(want, byName); !slices.Equal(found, want) {
		t.Fatalf("aliases are\n%+v, want\n%+v", found, want)
	}
	if digest != "" && digest == before {
		t.Errorf("the digest stays %q", digest)
	}
	return digest
}
