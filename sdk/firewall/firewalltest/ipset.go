package firewalltest

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/hostler/hostler/sdk/firewall"
	"github.com/hostler/hostler/sdk/plugin"
)

// ipSets tests IPSetManager: sets are created and deleted, with and without
// members.
func (s *suite) ipSets(t *testing.T) {
	lacks[firewall.IPSetManager](t, s)
	one, two := firewall.IPSet{Name: "web", Comment: "für das Netz"}, firewall.IPSet{Name: "mail-2"}
	eachScope[firewall.IPSetManager](t, s, "made and deleted", func(t *testing.T, ctx context.Context, g ground) {
		edit := changes[firewall.IPSetManager](t, g)
		digest := g.wantSets(t, ctx, "none")
		must(t, "creating", edit.CreateIPSet(ctx, g.Scope, one, digest))
		digest = g.wantSets(t, ctx, digest, one)
		must(t, "creating", edit.CreateIPSet(ctx, g.Scope, two, digest))
		digest = g.wantSets(t, ctx, digest, one, two)
		must(t, "deleting", edit.DeleteIPSet(ctx, g.Scope, one.Name, false, digest))
		g.wantSets(t, ctx, digest, two)
		must(t, "deleting with what is in it", edit.DeleteIPSet(ctx, g.Scope, two.Name, true, ""))
		g.wantSets(t, ctx, "none")
	})
	eachScope[firewall.IPSetManager](t, s, "what does not do", func(t *testing.T, ctx context.Context, g ground) {
		edit := changes[firewall.IPSetManager](t, g)
		must(t, "creating", edit.CreateIPSet(ctx, g.Scope, one, ""))
		before := g.wantSets(t, ctx, "none", one)
		must(t, "creating", edit.CreateIPSet(ctx, g.Scope, two, ""))
		digest := g.wantSets(t, ctx, before, one, two)
		wantField(t, "a name that is taken", edit.CreateIPSet(ctx, g.Scope, firewall.IPSet{Name: one.Name}, ""), plugin.Conflict,
			firewall.FieldName)
		wantKind(t, edit.DeleteIPSet(ctx, g.Scope, "no-such-set", true, ""), plugin.NotFound)
		for _, name := range hostileNames() {
			err := edit.CreateIPSet(ctx, g.Scope, firewall.IPSet{Name: name}, "")
			wantField(t, "creating "+name, err, plugin.Invalid, firewall.FieldName)
			wantNone(t, name, edit.DeleteIPSet(ctx, g.Scope, name, true, ""))
		}
		for _, text := range hostileTexts() {
			err := edit.CreateIPSet(ctx, g.Scope, firewall.IPSet{Name: "another", Comment: text}, "")
			wantField(t, "creating", err, plugin.Invalid, firewall.FieldComment)
		}
		if before != "" {
			wantField(t, "stale", edit.CreateIPSet(ctx, g.Scope, firewall.IPSet{Name: "another"}, before), plugin.Conflict, firewall.FieldDigest)
			wantField(t, "stale", edit.DeleteIPSet(ctx, g.Scope, one.Name, true, before), plugin.Conflict, firewall.FieldDigest)
		}
		noRight(t, g, func(edit firewall.IPSetManager) error {
			return edit.CreateIPSet(ctx, g.Scope, firewall.IPSet{Name: "another"}, "")
		})
		noRight(t, g, func(edit firewall.IPSetManager) error { return edit.DeleteIPSet(ctx, g.Scope, one.Name, true, "") })
		if now := g.wantSets(t, ctx, before, one, two); now != digest {
			t.Errorf("digest %q became %q", digest, now)
		}
	})
}

// wantSets wants exactly these sets, in any order, and another digest than before.
func (g ground) wantSets(t *testing.T, ctx context.Context, before string, want ...firewall.IPSet) string {
	t.Helper()
	found, digest, err := reads[firewall.IPSetManager](t, g).IPSets(ctx, g.Scope)
	must(t, "listing", err)
	byName := func(a, b firewall.IPSet) int { return strings.Compare(a.Name, b.Name) }
	slices.SortFunc(found, byName)
	if slices.SortFunc(want, byName); !slices.Equal(found, want) {
		t.Fatalf("sets are\n%+v, want\n%+v", found, want)
	}
	if digest != "" && digest == before {
		t.Errorf("the digest stays %q", digest)
	}
	return digest
}
