package firewalltest

import (
	"context"
	"slices"
	"testing"

	"github.com/hostler/hostler/sdk/firewall"
	"github.com/hostler/hostler/sdk/plugin"
)

// references tests ReferenceLister: the text of a reference can be used as the
// source of a rule.
func (s *suite) references(t *testing.T) {
	lacks[firewall.ReferenceLister](t, s)
	eachScope[firewall.ReferenceLister](t, s, "what rules may name", func(t *testing.T, ctx context.Context, g ground) {
		if before, err := reads[firewall.ReferenceLister](t, g).References(ctx, g.Scope); err != nil || len(before) > 0 {
			t.Errorf("references of an empty scope are %+v, %v", before, err)
		}
		for kind, name := range g.makeObjects(t, ctx) {
			ref := g.reference(t, ctx, kind, name)
			if ref.Text == "" || ref.Scope != g.Scope.Kind || ref.Comment != "for a rule" {
				t.Errorf("the reference is %+v", ref)
			}
			if !has[firewall.RuleEditor](s, g.Scope.Kind) {
				continue
			}
			rule := s.Rules[0]
			rule.Source = ref.Text
			_, _, err := changes[firewall.RuleEditor](t, g).CreateRule(ctx, g.Scope, rule, "")
			must(t, "a rule that names "+ref.Text, err)
		}
	})
}

// makeObjects makes an alias and a set in the scope, those that it can have, and gives their names.
func (g ground) makeObjects(t *testing.T, ctx context.Context) map[firewall.ObjectKind]string {
	t.Helper()
	made := map[firewall.ObjectKind]string{}
	if has[firewall.AliasManager](g.s, g.Scope.Kind) {
		alias := firewall.Alias{Name: "named-one", CIDR: "192.0.2.77", Comment: "for a rule"}
		must(t, "creating an alias", changes[firewall.AliasManager](t, g).CreateAlias(ctx, g.Scope, alias, ""))
		made[firewall.AliasObject] = alias.Name
	}
	if has[firewall.IPSetManager](g.s, g.Scope.Kind) {
		set := firewall.IPSet{Name: "named-all", Comment: "for a rule"}
		must(t, "creating a set", changes[firewall.IPSetManager](t, g).CreateIPSet(ctx, g.Scope, set, ""))
		made[firewall.IPSetObject] = set.Name
	}
	return made
}

// reference returns the reference to an object of the scope.
func (g ground) reference(t *testing.T, ctx context.Context, kind firewall.ObjectKind, name string) firewall.Reference {
	t.Helper()
	all, err := reads[firewall.ReferenceLister](t, g).References(ctx, g.Scope)
	must(t, "listing references", err)
	i := slices.IndexFunc(all, func(r firewall.Reference) bool { return r.Kind == kind && r.Name == name && r.Scope == g.Scope.Kind })
	if i < 0 {
		t.Fatalf("the %s %s is not among the references %+v", kind, name, all)
	}
	return all[i]
}

// usage tests UsageFinder, which finds the rules and IP sets that name an
// object, so that a plan can warn before it is deleted. An object without uses,
// or that does not exist, has no places.
func (s *suite) usage(t *testing.T) {
	lacks[firewall.UsageFinder](t, s)
	eachScope[firewall.UsageFinder](t, s, "of what rules and sets name", func(t *testing.T, ctx context.Context, g ground) {
		if !has[firewall.ReferenceLister](s, g.Scope.Kind) || !has[firewall.RuleEditor](s, g.Scope.Kind) {
			t.Skip("the scope has no references or no rules")
		}
		edit, names := changes[firewall.RuleEditor](t, g), g.makeObjects(t, ctx)
		_, _, err := edit.CreateRule(ctx, g.Scope, s.Rules[0], "")
		must(t, "creating a rule that names nothing", err)
		for kind, name := range names {
			g.wantPlaces(t, ctx, kind, name)
			rule := s.Rules[1]
			rule.Direction, rule.Source, rule.Destination = firewall.DirectionIn, g.reference(t, ctx, kind, name).Text, ""
			at, _, err := edit.CreateRule(ctx, g.Scope, rule, "")
			must(t, "creating a rule that names "+name, err)
			want := []firewall.Place{{Scope: g.Scope, Kind: firewall.RulePlace, Position: at}}
			g.wantPlaces(t, ctx, kind, name, want...)
			if set := names[firewall.IPSetObject]; kind == firewall.AliasObject && set != "" && has[firewall.IPSetMemberEditor](s, g.Scope.Kind) {
				member := firewall.IPSetMember{CIDR: rule.Source}
				must(t, "adding the alias to a set", changes[firewall.IPSetMemberEditor](t, g).AddIPSetMember(ctx, g.Scope, set, member, ""))
				g.wantPlaces(t, ctx, kind, name, append(want, firewall.Place{Scope: g.Scope, Kind: firewall.MemberPlace, IPSet: set})...)
			}
			must(t, "deleting the rule", edit.DeleteRule(ctx, g.Scope, at, ""))
		}
	})
	eachScope[firewall.UsageFinder](t, s, "of groups", func(t *testing.T, ctx context.Context, g ground) {
		if g.Scope.Kind != firewall.ClusterScope || !has[firewall.GroupManager](s, firewall.ClusterScope) {
			t.Skip("the scope has no groups")
		}
		must(t, "creating a group", changes[firewall.GroupManager](t, g).CreateGroup(ctx, firewall.Group{Name: "web"}, ""))
		g.wantPlaces(t, ctx, firewall.GroupObject, "web")
		rule := firewall.Rule{Direction: firewall.DirectionGroup, Action: "web", Enabled: true}
		at, _, err := changes[firewall.RuleEditor](t, g).CreateRule(ctx, g.Scope, rule, "")
		must(t, "creating a rule that stands for it", err)
		g.wantPlaces(t, ctx, firewall.GroupObject, "web", firewall.Place{Scope: g.Scope, Kind: firewall.RulePlace, Position: at})
	})
	eachScope[firewall.UsageFinder](t, s, "of what is not there", func(t *testing.T, ctx context.Context, g ground) {
		g.wantPlaces(t, ctx, firewall.AliasObject, "no-such-alias")
		for _, name := range hostileNames() {
			_, err := reads[firewall.UsageFinder](t, g).Usage(ctx, g.Scope, firewall.IPSetObject, name)
			wantField(t, name, err, plugin.Invalid, firewall.FieldName)
		}
		_, err := reads[firewall.UsageFinder](t, g).Usage(ctx, g.Scope, "planet", "web")
		wantField(t, "planet", err, plugin.Invalid, firewall.FieldKind)
	})
}

// wantPlaces wants exactly these places, in any order; texts, and what of a
// guest is no id, are the backend's.
func (g ground) wantPlaces(t *testing.T, ctx context.Context, kind firewall.ObjectKind, name string, want ...firewall.Place) {
	t.Helper()
	usage, err := reads[firewall.UsageFinder](t, g).Usage(ctx, g.Scope, kind, name)
	must(t, "asking for the usage", err)
	if usage.Incomplete != "" {
		t.Errorf("%s %s: the search was incomplete: %s", kind, name, usage.Incomplete)
	}
	ok := len(usage.Places) == len(want)
	for _, place := range usage.Places {
		ok = ok && place.Text != "" && slices.ContainsFunc(want, func(w firewall.Place) bool {
			return w.Kind == place.Kind && w.Position == place.Position && w.IPSet == place.IPSet && sameScope(w.Scope, place.Scope)
		})
	}
	if !ok {
		t.Errorf("%s %s: places are\n%+v, want\n%+v", kind, name, usage.Places, want)
	}
}

// sameScope compares two scopes, guests only by kind and ID: a backend may
// leave out the node.
func sameScope(a, b firewall.Scope) bool {
	if a.Guest != nil && b.Guest != nil && (a.Guest.Kind != b.Guest.Kind || a.Guest.ID != b.Guest.ID) {
		return false
	}
	return a.Kind == b.Kind && a.Node == b.Node && a.Group == b.Group && (a.Guest == nil) == (b.Guest == nil)
}
