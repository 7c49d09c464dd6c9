package membackend

import (
	"context"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/hostler/hostler/sdk/firewall"
)

var (
	_ firewall.ReferenceLister = (*Firewall)(nil)
	_ firewall.UsageFinder     = (*Firewall)(nil)
)

// References implements firewall.ReferenceLister: the names of the scope, and those of the cluster.
func (f *Firewall) References(ctx context.Context, scope firewall.Scope) (all []firewall.Reference, err error) {
	err = f.read(ctx, "References", func(e *Endpoint) error {
		s, err := f.at(e, scope, "references")
		if err != nil {
			return err
		}
		all = s.references()
		if scope.Kind != firewall.ClusterScope {
			all = append(all, e.scopes[key(clusterScope)].references()...)
		}
		return nil
	})
	return all, err
}

// references returns the names that rules can use: aliases by their name, sets
// with "+".
func (s *state) references() (all []firewall.Reference) {
	for _, a := range s.aliases {
		all = append(all, firewall.Reference{
			Kind: firewall.AliasObject, Name: a.Name, Text: a.Name, Scope: s.scope.Kind, Comment: a.Comment,
		})
	}
	for _, set := range s.sets {
		all = append(all, firewall.Reference{
			Kind: firewall.IPSetObject, Name: set.Name, Text: "+" + set.Name, Scope: s.scope.Kind, Comment: set.Comment,
		})
	}
	return all
}

// SetIncomplete makes Usage report that its search was incomplete, and why. An
// empty text ends that.
func (e *Endpoint) SetIncomplete(why string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.incomplete = why
}

// Usage implements firewall.UsageFinder. It looks at everything: nothing here costs anything.
func (f *Firewall) Usage(ctx context.Context, scope firewall.Scope, kind firewall.ObjectKind, name string) (
	usage firewall.Usage, err error) {
	err = f.read(ctx, "Usage", func(e *Endpoint) error {
		if _, err := f.at(e, scope, "usage"); err != nil {
			return err
		}
		if !slices.Contains(firewall.ObjectKinds(), kind) {
			return firewall.Invalid(firewall.FieldKind, "unknown kind of object")
		}
		if err := firewall.CheckName(firewall.FieldName, name); err != nil {
			return err
		}
		usage.Incomplete = e.incomplete
		for _, at := range slices.Sorted(maps.Keys(e.scopes)) {
			if s := e.scopes[at]; scope.Kind == firewall.ClusterScope || reflect.DeepEqual(s.scope, scope) {
				usage.Places = append(usage.Places, s.places(kind, name)...)
			}
		}
		return nil
	})
	return usage, err
}

// places returns the rules and sets of a scope that name an object.
func (s *state) places(kind firewall.ObjectKind, name string) (places []firewall.Place) {
	text := name
	if kind == firewall.IPSetObject {
		text = "+" + name
	}
	for _, r := range s.rules {
		names := strings.EqualFold(r.Source, text) || strings.EqualFold(r.Destination, text)
		if kind == firewall.GroupObject {
			names = r.Direction == firewall.DirectionGroup && r.Action == name
		}
		if names {
			places = append(places, firewall.Place{Scope: s.scope, Kind: firewall.RulePlace, Position: r.Position, Text: text})
		}
	}
	for _, set := range s.sets {
		if kind == firewall.AliasObject && slices.ContainsFunc(set.members, func(m firewall.IPSetMember) bool {
			return strings.EqualFold(m.CIDR, name)
		}) {
			places = append(places, firewall.Place{Scope: s.scope, Kind: firewall.MemberPlace, IPSet: set.Name, Text: text})
		}
	}
	return places
}
