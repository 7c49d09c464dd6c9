package firewall

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/hostler/hostler/sdk/plugin"
)

// Describe reads the Info of a backend, fills in abilities and scopes for the
// firewall type (which may be a typed nil) and validates the result.
func Describe(ctx context.Context, backend Backend, firewallType Firewall) (Info, error) {
	if backend == nil || firewallType == nil {
		return Info{}, errors.New("a firewall service needs a backend and the type of its firewall")
	}
	info, err := backend.Info(ctx)
	if err != nil {
		return Info{}, fmt.Errorf("cannot get the info of the backend: %w", err)
	}
	info.Abilities = abilities.Names(&server{service: Service{FirewallType: firewallType}})
	if info.Scopes == nil {
		info.Scopes = usualScopes(info.Abilities)
	}
	if err := info.check(); err != nil {
		return Info{}, fmt.Errorf("the info of the backend %.40q is invalid: %w", info.Name, err)
	}
	return info, nil
}

// usualScopes returns the scopes of a backend that reports none.
func usualScopes(abilities []string) []ScopeAbilities {
	return []ScopeAbilities{{ClusterScope, abilities}, {NodeScope, abilities}, {GuestScope, abilities}}
}

// Has reports whether a kind of scope has an ability. The Info must be complete,
// from Describe or from a Client.
func (info Info) Has(kind ScopeKind, ability string) bool {
	return slices.ContainsFunc(info.Scopes, func(s ScopeAbilities) bool { return s.Kind == kind && slices.Contains(s.Abilities, ability) })
}

// clusterOnly lists the abilities whose calls have no scope.
var clusterOnly = []string{"groups", "macros", "evaluate"}

// check validates a completed Info: every ability must exist at some scope, and no
// scope may name an ability that the type does not implement.
func (info Info) check() error {
	for i, s := range info.Scopes {
		same := func(other ScopeAbilities) bool { return other.Kind == s.Kind }
		if !slices.Contains(ScopeKinds(), s.Kind) || slices.ContainsFunc(info.Scopes[:i], same) {
			return fmt.Errorf("%.40q is not a kind of scope, or occurs twice", s.Kind)
		}
		for _, ability := range s.Abilities {
			if !slices.Contains(info.Abilities, ability) {
				return fmt.Errorf("the scope %s has the ability %.40q, which the firewall's type does not implement", s.Kind, ability)
			}
		}
	}
	for _, ability := range info.Abilities {
		has := func(s ScopeAbilities) bool {
			return info.Has(s.Kind, ability) && (s.Kind == ClusterScope || !slices.Contains(clusterOnly, ability))
		}
		if !slices.ContainsFunc(info.Scopes, has) {
			return fmt.Errorf("no scope has the ability %s", ability)
		}
	}
	return nil
}

// description returns the Info in the form that all kinds of plugins have.
func (info Info) description() plugin.Description {
	d := plugin.Description{Kind: plugin.KindFirewall, Name: info.Name, Version: info.Version, Abilities: info.Abilities}
	for _, s := range info.Scopes {
		d.Scopes = append(d.Scopes, plugin.ScopeAbilities{Kind: string(s.Kind), Abilities: s.Abilities})
	}
	return d
}

// infoOf is the inverse of Info.description.
func infoOf(d plugin.Description) Info {
	info := Info{Name: d.Name, Version: d.Version, Abilities: d.Abilities}
	for _, s := range d.Scopes {
		info.Scopes = append(info.Scopes, ScopeAbilities{ScopeKind(s.Kind), s.Abilities})
	}
	if info.Scopes == nil { // of a plugin from before there were scopes
		info.Scopes = usualScopes(info.Abilities)
	}
	return info
}
