package firewall

import "context"

// PlaceKind is what names an object.
type PlaceKind string

// The kinds of places.
const (
	// RulePlace is a rule, which has a Position.
	RulePlace PlaceKind = "rule"
	// MemberPlace is a member of the set that IPSet names.
	MemberPlace PlaceKind = "ipset_member"
	// OtherPlace is something else, such as a network interface; Text says what.
	OtherPlace PlaceKind = "other"
)

// Place is where an object is used.
type Place struct {
	Scope Scope
	Kind  PlaceKind
	// Position is that of the rule.
	Position int
	// IPSet is the name of the set.
	IPSet string
	// Text is what stands there, such as "+web", on one line.
	Text string
}

// Usage is where an object is used.
type Usage struct {
	Places []Place
	// Incomplete says why there may be more places, for people; empty when everything was looked at.
	Incomplete string
}

// UsageFinder is satisfied by firewalls that can tell where an object is used, so that nobody deletes what rules name. Needs the
// Monitoring capability.
type UsageFinder interface {
	// Usage looks for what names the alias, set or group that is kept at a scope; a group is one of the cluster's scope. That there is no
	// such object is no error: rules may name what is not there. What no object can be called is Invalid with the field "name", an unknown
	// kind with the field "kind". What an asking costs the hypervisor is bounded by the backend, which says
	// so in its documentation; where the bound ends it, or the credential is not shown all, the answer says so in Incomplete.
	Usage(ctx context.Context, scope Scope, kind ObjectKind, name string) (Usage, error)
}
