package plugin

import (
	"reflect"
	"slices"
	"sync/atomic"

	"google.golang.org/grpc"
)

// Ability is one optional interface of a kind: its name, who may satisfy it, and the gRPC service that carries it. S is what
// the kind's gRPC services are made of.
type Ability[S any] struct {
	name     string
	optional reflect.Type
	holder   func(S) any
	register func(grpc.ServiceRegistrar, S)
}

// AbilityOf makes an ability of an optional interface. holder gives the value, which may be a typed nil, whose type is asked
// whether it satisfies the interface; register adds the gRPC service to a server and is called only when it does.
func AbilityOf[Optional, S any](name string, holder func(S) any, register func(grpc.ServiceRegistrar, S)) Ability[S] {
	return Ability[S]{name: name, optional: reflect.TypeFor[Optional](), holder: holder, register: register}
}

// Claimer is satisfied by what stands for a plugin in the service. It has the methods of every optional interface in Go;
// Can tells which of them the plugin claims to answer.
type Claimer interface {
	Can(ability string) bool
}

// has reports whether v satisfies the ability, and claims it where its methods prove nothing.
func (a Ability[S]) has(v any) bool {
	if v == nil || !reflect.TypeOf(v).Implements(a.optional) {
		return false
	}
	claimer, ok := v.(Claimer)
	return !ok || claimer.Can(a.name)
}

// Abilities is the table of a kind's abilities, in the order in which a Description names them.
type Abilities[S any] []Ability[S]

// Names are the abilities that are there in s.
func (all Abilities[S]) Names(s S) []string {
	var names []string
	for _, a := range all {
		if a.has(a.holder(s)) {
			names = append(names, a.name)
		}
	}
	return names
}

// Register adds the gRPC services of the abilities that are there in s.
func (all Abilities[S]) Register(registrar grpc.ServiceRegistrar, s S) {
	for _, a := range all {
		if a.has(a.holder(s)) {
			a.register(registrar, s)
		}
	}
}

// As gives v as one of the table's optional interfaces when v has that ability, in this process or behind a plugin. It
// panics when the interface is none of the table's.
func As[Optional, S any](table Abilities[S], v any) (Optional, bool) {
	if !abilityOf[Optional](table).has(v) {
		var none Optional
		return none, false
	}
	return v.(Optional), true
}

// NameOf is the name that the table has for one of its optional interfaces. It panics when the interface is none of the table's.
func NameOf[Optional, S any](table Abilities[S]) string { return abilityOf[Optional](table).name }

func abilityOf[Optional, S any](table Abilities[S]) Ability[S] {
	i := slices.IndexFunc(table, func(a Ability[S]) bool { return a.optional == reflect.TypeFor[Optional]() })
	if i < 0 {
		panic("plugin: " + reflect.TypeFor[Optional]().String() + " is no ability of this kind")
	}
	return table[i]
}

// Claims is what a kind's client knows of its plugin: embed it. Until a description is set, everything is taken to be
// claimed, and a call that the plugin does not answer is Unsupported. Its methods may be called at the same time.
type Claims struct {
	description atomic.Pointer[Description]
}

// SetDescription records what the plugin said of itself, and replaces what was known before.
func (c *Claims) SetDescription(d Description) { c.description.Store(&d) }

// Described reports whether the plugin's description is known.
func (c *Claims) Described() bool { return c.description.Load() != nil }

// Can implements Claimer.
func (c *Claims) Can(ability string) bool {
	d := c.description.Load()
	return d == nil || slices.Contains(d.Abilities, ability)
}

// CanAt reports whether the plugin claims an ability at a kind of scope. A description without scopes claims each at all of them.
func (c *Claims) CanAt(scope, ability string) bool {
	d := c.description.Load()
	if d == nil || d.Scopes == nil {
		return d == nil || slices.Contains(d.Abilities, ability)
	}
	return slices.ContainsFunc(d.Scopes, func(s ScopeAbilities) bool { return s.Kind == scope && slices.Contains(s.Abilities, ability) })
}
