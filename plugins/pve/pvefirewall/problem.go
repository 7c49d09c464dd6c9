package pvefirewall

import (
	"fmt"
	"strings"
)

// ScopeKind says whose rules a Scope means.
type ScopeKind uint8

// The kinds of scopes.
const (
	ScopeCluster ScopeKind = iota + 1
	ScopeNode
	ScopeGuest
	ScopeGroup
)

// Scope is the place of rules, aliases and IP sets.
type Scope struct {
	Kind  ScopeKind
	Node  string // of ScopeNode
	Guest int    // of ScopeGuest
	Group string // of ScopeGroup
}

// String is cluster, node:NAME, guest:ID or group:NAME.
func (s Scope) String() string {
	switch s.Kind {
	case ScopeCluster:
		return "cluster"
	case ScopeNode:
		return "node:" + s.Node
	case ScopeGuest:
		return fmt.Sprintf("guest:%d", s.Guest)
	case ScopeGroup:
		return "group:" + s.Group
	}
	return "nowhere"
}

// Section is a part of a scope.
type Section uint8

// The sections of a configuration.
const (
	SectionOptions Section = iota + 1
	SectionAliases
	SectionIPSet
	SectionGroup
	SectionRules
	SectionNICs
)

// sectionNames are the names of sections in texts.
var sectionNames = [...]string{"", "options", "aliases", "ipset", "group", "rules", "nics"}

// String returns the name of the section.
func (s Section) String() string { return nameOf(sectionNames[:], int(s)) }

// Place is a place in a configuration. Fields that do not apply are zero,
// except Position, which is -1 then.
type Place struct {
	Scope    Scope
	Section  Section
	Name     string // of the alias, IP set or NIC
	Position int    // of the rule or member
	Line     int    // of the text, from 1
}

// String returns the place for people.
func (p Place) String() string {
	var b strings.Builder
	b.WriteString(p.Scope.String())
	if p.Section != 0 {
		b.WriteString(" " + p.Section.String())
	}
	if p.Name != "" {
		fmt.Fprintf(&b, " %.64q", p.Name)
	}
	if p.Position >= 0 {
		fmt.Fprintf(&b, " %d", p.Position)
	}
	if p.Line > 0 {
		fmt.Fprintf(&b, " line %d", p.Line)
	}
	return b.String()
}

// Problem is a part of a configuration that Proxmox VE skips. The rest counts.
type Problem struct {
	Place Place
	Field string // of the rule, as the API names it; empty when it is about the whole
	Text  string // in the words of Proxmox where it has some
}

// String returns the problem with its place.
func (p Problem) String() string {
	if p.Field == "" {
		return p.Place.String() + ": " + p.Text
	}
	return p.Place.String() + ": " + p.Field + ": " + p.Text
}

// Step is a part of what a node loads. The steps follow each other, and a
// failed one ends the loading.
type Step uint8

// The steps in which the rules of a node are loaded.
const (
	StepIPSets Step = iota + 1
	StepIPv4
	StepIPv6
	// StepCompile is not loading: Proxmox would stop while it makes the rules of a guest or a node.
	StepCompile
	// StepNFTables is a node whose rules another program makes.
	StepNFTables
)

// stepNames are the names of steps in texts.
var stepNames = [...]string{"", "IP sets", "IPv4 rules", "IPv6 rules", "compiling rules", "nftables"}

// String returns the name of the step.
func (s Step) String() string { return nameOf(stepNames[:], int(s)) }

// UndecidedError says why there is no verdict: on that node the configuration
// is not what is in force.
type UndecidedError struct {
	Node  string
	Step  Step
	Place Place
	Text  string
}

// Error says which node is not judged, and why.
func (e *UndecidedError) Error() string {
	return fmt.Sprintf("node %s: %s: %s: %s", e.Node, e.Step, e.Place, e.Text)
}

// TextError is a text without the required form.
type TextError struct {
	What string
	Text string
}

// Error quotes the text that was not accepted.
func (e *TextError) Error() string { return fmt.Sprintf("%.80q is not a valid %s", e.Text, e.What) }

// LimitError is a configuration, a text or a question above a limit.
type LimitError struct {
	What  string
	Limit int
}

// Error says which limit was exceeded.
func (e *LimitError) Error() string { return fmt.Sprintf("more than %d %s", e.Limit, e.What) }

// ConfigError is a configuration that cannot exist: two guests with one id, or
// a NIC without a name.
type ConfigError struct {
	Place Place
	Text  string
}

// Error says where the configuration is wrong.
func (e *ConfigError) Error() string { return e.Place.String() + ": " + e.Text }

// nameOf returns a name of an enumeration, also for a value outside of it.
func nameOf(names []string, i int) string {
	if i < len(names) && names[i] != "" {
		return names[i]
	}
	return fmt.Sprintf("unknown (%d)", i)
}
