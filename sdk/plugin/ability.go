package plugin

import (
	"reflect"
	"slices"
	"sync/atomic"

	"google.golang.org/grpc"
)

// Ability is one optional interface of a kind of plugin: its name, the value that
// may implement it, and the gRPC service that carries it. S is the type from which
// the kind's gRPC services are created.
type Ability[S any] struct {
	name     string
	optional reflect.Type
	holder   func(S) any
	register func(grpc.ServiceRegistrar, S)
}

// AbilityOf declares an ability. The function holder returns the value whose type
// decides whether the plugin has the ability; it may return a typed nil. The
// function register adds the gRPC service to a server. It is called only if the
// plugin has the ability.
func AbilityOf[Optional, S any](name string, holder func(S) any, register func(grpc.ServiceRegistrar, S)) Ability[S] {
	return Ability[S]{name: name, optional: reflect.TypeFor[Optional](), holder: holder, register: register}
}

// AbilityReporter is implemented by values that represent a plugin in the service. Such a
// value has the methods of every optional interface. Can reports which of them the
// plugin really answers.
type AbilityReporter interface {
	Can(ability string) bool
}

// has reports whether v has the ability. If v represents a plugin, its methods
// prove nothing, so has also asks what the plugin claims.
func (a Ability[S]) has(v any) bool {
	if v == nil || !reflect.TypeOf(v).Implements(a.optional) {
		return false
	}
	claimer, ok := v.(AbilityReporter)
	return !ok || claimer.Can(a.name)
}

// Abilities is the table of a kind's abilities. A Description lists them in this
// order.
type Abilities[S any] []Ability[S]

// Names returns the names of the abilities that s has.
func (all Abilities[S]) Names(s S) []string {
	var names []string
	for _, a := range all {
		if a.has(a.holder(s)) {
			names = append(names, a.name)
		}
	}
	return names
}

// Register registers the gRPC services of the abilities that s has.
func (all Abilities[S]) Register(registrar grpc.ServiceRegistrar, s S) {
	for _, a := range all {
		if a.has(a.holder(s)) {
			a.register(registrar, s)
		}
	}
}

// As returns v as one of the table's optional interfaces, and true if v has that
// ability, in this process or behind a plugin. It panics if the interface is not in
// the table, because that is a mistake of the programmer.
func As[Optional, S any](table Abilities[S], v any) (Optional, bool) {
	if !abilityOf[Optional](table).has(v) {
		var none Optional
		return none, false
	}
	return v.(Optional), true
}

// NameOf returns the name of an optional interface in the table. It panics if the
// interface is not in the table.
func NameOf[Optional, S any](table Abilities[S]) string { return abilityOf[Optional](table).name }

// abilityOf returns the table's entry of an optional interface, or panics.
func abilityOf[Optional, S any](table Abilities[S]) Ability[S] {
	i := slices.IndexFunc(table, func(a Ability[S]) bool { return a.optional == reflect.TypeFor[Optional]() })
	if i < 0 {
		panic("plugin: " + reflect.TypeFor[Optional]().String() + " is not an ability of this kind")
	}
	return table[i]
}

// ReportedAbilities is what a kind's client knows of its plugin. Client types embed it. Until
// a description is set, every ability counts as claimed, and a call that the plugin
// does not answer is Unsupported. Claims is safe for concurrent use.
type ReportedAbilities struct {
	description atomic.Pointer[Description]
}

// SetDescription stores the description of the plugin and replaces an earlier one.
func (c *ReportedAbilities) SetDescription(d Description) { c.description.Store(&d) }

// Described reports whether the plugin's description is known.
func (c *ReportedAbilities) Described() bool { return c.description.Load() != nil }

// Can implements AbilityReporter.
func (c *ReportedAbilities) Can(ability string) bool {
	d := c.description.Load()
	return d == nil || slices.Contains(d.Abilities, ability)
}

// CanAt reports whether the plugin has an ability at a kind of scope. A description
// without scopes has each ability at all of them.
func (c *ReportedAbilities) CanAt(scope, ability string) bool {
	d := c.description.Load()
	if d == nil || d.Scopes == nil {
		return d == nil || slices.Contains(d.Abilities, ability)
	}
	return slices.ContainsFunc(d.Scopes, func(s ScopeAbilities) bool { return s.Kind == scope && slices.Contains(s.Abilities, ability) })
}
