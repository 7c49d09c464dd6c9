package firewall

import "context"

// PlaceKind is the kind of a place that refers to an object.
type PlaceKind string

// The kinds of places.
const (
	// RulePlace is a rule. Place.Position is set.
	RulePlace PlaceKind = "rule"
	// MemberPlace is a member of the set Place.IPSet.
	MemberPlace PlaceKind = "ipset_member"
	// OtherPlace is something else, such as a network interface. Place.Text says
	// what.
	OtherPlace PlaceKind = "other"
)

// Place is one place that refers to an object.
type Place struct {
	Scope Scope
	Kind  PlaceKind
	// Position is that of the rule.
	Position int
	// IPSet is the name of the set.
	IPSet string
	// Text is the reference on one line, such as "+web".
	Text string
}

// Usage lists the places that refer to an object.
type Usage struct {
	Places []Place
	// Incomplete explains to people why there may be more places. It is empty if
	// everything was searched.
	Incomplete string
}

// UsageFinder is implemented by firewalls that can find the references to an
// object, so that nobody deletes what rules refer to. It needs the Monitoring
// capability.
type UsageFinder interface {
	// Usage finds the references to the alias, set or group at a scope. Groups are
	// at the cluster scope. An object that does not exist is not an error, because
	// rules may refer to a missing object. A name that no object can have is
	// Invalid with the field "name", an unknown kind is Invalid with the field
	// "kind".
	//
	// The backend bounds the cost for the hypervisor and documents the bound. If it
	// stops at the bound, or the credential does not see everything, Incomplete
	// says so.
	Usage(ctx context.Context, scope Scope, kind ObjectKind, name string) (Usage, error)
}
