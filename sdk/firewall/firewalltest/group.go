package firewalltest

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/firewall"
	"github.com/hostler/hostler/sdk/plugin"
)

// groups tests GroupManager. Groups belong to the cluster. A group with rules
// cannot be deleted, and renaming it keeps its rules.
func (s *suite) groups(t *testing.T) {
	lacks[firewall.GroupManager](t, s)
	one, two := firewall.Group{Name: "web", Comment: "für das Netz"}, firewall.Group{Name: "mail-2"}
	onCluster := func(name string, body func(t *testing.T, ctx context.Context, g ground)) {
		s.run(t, name, func(t *testing.T, ctx context.Context) {
			if s.Empty == nil {
				t.Skip("no hook Empty")
			}
			body(t, ctx, ground{s.Empty(t, firewall.ClusterScope), s})
		})
	}
	onCluster("made, changed and deleted", func(t *testing.T, ctx context.Context, g ground) {
		edit := changes[firewall.GroupManager](t, g)
		digest := g.wantGroups(t, ctx, "none")
		must(t, "creating", edit.CreateGroup(ctx, one, digest))
		digest = g.wantGroups(t, ctx, digest, one)
		must(t, "creating", edit.CreateGroup(ctx, two, digest))
		digest = g.wantGroups(t, ctx, digest, one, two)
		must(t, "changing", edit.ChangeGroup(ctx, two.Name, firewall.GroupChange{Comment: ptr("for mail"), Digest: digest}))
		now := firewall.Group{Name: two.Name, Comment: "for mail"}
		digest = g.wantGroups(t, ctx, digest, one, now)
		must(t, "renaming", edit.ChangeGroup(ctx, two.Name, firewall.GroupChange{Rename: "mail-3", Digest: digest}))
		now.Name = "mail-3"
		digest = g.wantGroups(t, ctx, digest, one, now)
		must(t, "taking the comment away", edit.ChangeGroup(ctx, now.Name, firewall.GroupChange{Comment: ptr("")}))
		now.Comment = ""
		digest = g.wantGroups(t, ctx, digest, one, now)
		must(t, "deleting", edit.DeleteGroup(ctx, one.Name, digest))
		g.wantGroups(t, ctx, digest, now)
	})
	onCluster("with rules", func(t *testing.T, ctx context.Context, g ground) {
		if !has[firewall.RuleEditor](s, firewall.GroupScope) {
			t.Skip("groups have no rules that can be changed")
		}
		edit := changes[firewall.GroupManager](t, g)
		must(t, "creating", edit.CreateGroup(ctx, one, ""))
		in := ground{EmptyScope{firewall.Scope{Kind: firewall.GroupScope, Group: one.Name}, g.Target}, s}
		rules := in.makeRules(t, ctx)
		wantField(t, "deleting one with rules", edit.DeleteGroup(ctx, one.Name, ""), plugin.Conflict, firewall.FieldRules)
		must(t, "renaming", edit.ChangeGroup(ctx, one.Name, firewall.GroupChange{Rename: "renamed"}))
		_, _, err := reads[firewall.RuleLister](t, in).Rules(ctx, in.Scope)
		wantKind(t, err, plugin.NotFound)
		in.Scope.Group = "renamed"
		in.listRules(t, ctx, rules)
		for range rules {
			must(t, "deleting a rule", changes[firewall.RuleEditor](t, in).DeleteRule(ctx, in.Scope, 0, ""))
		}
		must(t, "deleting", edit.DeleteGroup(ctx, "renamed", ""))
		g.wantGroups(t, ctx, "none")
	})
	onCluster("what does not do", func(t *testing.T, ctx context.Context, g ground) {
		edit := changes[firewall.GroupManager](t, g)
		must(t, "creating", edit.CreateGroup(ctx, one, ""))
		before := g.wantGroups(t, ctx, "none", one)
		must(t, "creating", edit.CreateGroup(ctx, two, ""))
		digest := g.wantGroups(t, ctx, before, one, two)
		wantField(t, "a name that is taken", edit.CreateGroup(ctx, firewall.Group{Name: one.Name}, ""), plugin.Conflict, firewall.FieldName)
		wantField(t, "a new name that is taken", edit.ChangeGroup(ctx, two.Name, firewall.GroupChange{Rename: one.Name}), plugin.Conflict,
			firewall.FieldName)
		wantKind(t, edit.ChangeGroup(ctx, "no-such-group", firewall.GroupChange{Comment: ptr("c")}), plugin.NotFound)
		wantKind(t, edit.DeleteGroup(ctx, "no-such-group", ""), plugin.NotFound)
		for _, name := range hostileNames() {
			wantField(t, "creating "+name, edit.CreateGroup(ctx, firewall.Group{Name: name}, ""), plugin.Invalid, firewall.FieldName)
			if name != "" {
				wantField(t, "renaming to "+name, edit.ChangeGroup(ctx, one.Name, firewall.GroupChange{Rename: name}), plugin.Invalid,
					firewall.FieldRename)
			}
			wantNone(t, name, edit.ChangeGroup(ctx, name, firewall.GroupChange{Comment: ptr("c")}))
			wantNone(t, name, edit.DeleteGroup(ctx, name, ""))
		}
		for _, text := range hostileTexts() {
			wantField(t, "creating", edit.CreateGroup(ctx, firewall.Group{Name: "another", Comment: text}, ""), plugin.Invalid,
				firewall.FieldComment)
			wantField(t, "changing", edit.ChangeGroup(ctx, one.Name, firewall.GroupChange{Comment: &text}), plugin.Invalid, firewall.FieldComment)
		}
		if before != "" {
			wantField(t, "stale", edit.CreateGroup(ctx, firewall.Group{Name: "another"}, before), plugin.Conflict, firewall.FieldDigest)
			wantField(t, "stale", edit.ChangeGroup(ctx, one.Name, firewall.GroupChange{Comment: ptr("c"), Digest: before}), plugin.Conflict,
				firewall.FieldDigest)
			wantField(t, "stale", edit.DeleteGroup(ctx, one.Name, before), plugin.Conflict, firewall.FieldDigest)
		}
		noRight(t, g, func(edit firewall.GroupManager) error {
			return edit.CreateGroup(ctx, firewall.Group{Name: "another"}, "")
		})
		noRight(t, g, func(edit firewall.GroupManager) error {
			return edit.ChangeGroup(ctx, one.Name, firewall.GroupChange{Comment: ptr("c")})
		})
		noRight(t, g, func(edit firewall.GroupManager) error { return edit.DeleteGroup(ctx, one.Name, "") })
		if now := g.wantGroups(t, ctx, before, one, two); now != digest {
			t.Errorf("digest %q became %q", digest, now)
		}
	})
}

// wantGroups wants exactly these groups, in any order, and another digest than before.
func (g ground) wantGroups(t *testing.T, ctx context.Context, before string, want ...firewall.Group) string {
	t.Helper()
	found, digest, err := reads[firewall.GroupManager](t, g).Groups(ctx)
	must(t, "listing", err)
	byName := func(a, b firewall.Group) int { return strings.Compare(a.Name, b.Name) }
	slices.SortFunc(found, byName)
	if slices.SortFunc(want, byName); !slices.Equal(found, want) {
		t.Fatalf("groups are\n%+v, want\n%+v", found, want)
	}
	if digest != "" && digest == before {
		t.Errorf("the digest stays %q", digest)
	}
	return digest
}

// macros tests MacroLister: names are unique, and a wrong token is rejected
// even though the list may be the same for everyone.
func (s *suite) macros(t *testing.T) {
	lacks[firewall.MacroLister](t, s)
	s.run(t, "each once, with what it is", func(t *testing.T, ctx context.Context) {
		all, err := open[firewall.MacroLister](t, s, s.Target(t, endpoint.Monitoring)).Macros(ctx)
		if err != nil || len(all) == 0 {
			t.Fatalf("%d macros, %v", len(all), err)
		}
		seen := map[string]bool{}
		for _, m := range all {
			if m.Name == "" || seen[m.Name] {
				t.Errorf("macro %+v has no name or occurs twice", m)
			}
			seen[m.Name] = true
		}
	})
	s.run(t, "wrong token", func(t *testing.T, ctx context.Context) {
		target := s.Target(t, endpoint.Monitoring)
		target.Credential.Secret = "00000000-dead-beef-0000-000000000000"
		_, err := open[firewall.MacroLister](t, s, target).Macros(ctx)
		wantKind(t, err, plugin.TokenRejected)
	})
}
