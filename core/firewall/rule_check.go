package firewall

import (
	"errors"
	"slices"
	"strings"

	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/problem"
	sdk "github.com/hostler/hostler/sdk/firewall"
	"github.com/hostler/hostler/sdk/plugin"
)

// RulePatch is a change of a rule.
type RulePatch struct {
	// Set has the new values.
	Set sdk.RuleFields
	// Clear names fields that the rule shall not have any more, and Delete does
	// so too, with commas between them.
	Clear  []string
	Delete string
	// Digest is that of the list that the position was taken from; empty is not checked.
	Digest string
}

// fault is what the sdk says is wrong with a field of a body; nil for nothing.
func fault(err error) []problem.Fault {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*plugin.Error](err); ok {
		return bodyFault(e.Field, e.Message)
	}
	return bodyFault("", err.Error())
}

// bodyFault returns a fault of a field of the body.
func bodyFault(field, text string) []problem.Fault {
	f := problem.Fault{Loc: []any{"body"}, Msg: text, Type: "value_error"}
	if field != "" {
		f.Loc = append(f.Loc, field)
	}
	return []problem.Fault{f}
}

// invalid is problem invalid where there are faults.
func invalid(faults []problem.Fault) error {
	if len(faults) == 0 {
		return nil
	}
	return problem.Invalid(faults...)
}

// texts are the fields of a rule that are texts, in the words of bodies.
func texts(r *sdk.Rule) []struct{ field, text string } {
	return []struct{ field, text string }{
		{sdk.FieldMacro, r.Macro}, {sdk.FieldProtocol, r.Protocol}, {sdk.FieldSource, r.Source}, {sdk.FieldDestination, r.Destination},
		{sdk.FieldSourcePort, r.SourcePort}, {sdk.FieldDestinationPort, r.DestinationPort}, {sdk.FieldInterface, r.Interface},
		{sdk.FieldLog, r.Log}, {sdk.FieldICMPType, r.ICMPType},
	}
}

// ruleFaults is all that is wrong with a rule whatever its hypervisor.
func ruleFaults(kind sdk.ScopeKind, r *sdk.Rule) (faults []problem.Fault) {
	switch {
	case !slices.Contains(sdk.Directions(), r.Direction):
		faults = append(faults, bodyFault(sdk.FieldDirection, "must be one of "+strings.Join(sdk.Directions(), ", "))...)
	case r.Direction == sdk.DirectionGroup && kind == sdk.GroupScope:
		faults = append(faults, bodyFault(sdk.FieldDirection, "a group cannot stand in a group")...)
	case r.Direction == sdk.DirectionGroup:
		faults = append(faults, fault(sdk.CheckName(sdk.FieldAction, r.Action))...)
	}
	if r.Action == "" && r.Direction != sdk.DirectionGroup {
		faults = append(faults, bodyFault(sdk.FieldAction, "it is missing")...)
	}
	if r.Direction != sdk.DirectionGroup {
		faults = append(faults, fault(sdk.CheckText(sdk.FieldAction, r.Action, sdk.MaxText))...)
	}
	for _, t := range texts(r) {
		faults = append(faults, fault(sdk.CheckText(t.field, t.text, sdk.MaxText))...)
	}
	return append(faults, fault(sdk.CheckText(sdk.FieldComment, r.Comment, sdk.MaxComment))...)
}

// clearable are the fields that a rule need not have.
var clearable = []string{sdk.FieldMacro, sdk.FieldProtocol, sdk.FieldSource, sdk.FieldDestination, sdk.FieldSourcePort,
	sdk.FieldDestinationPort, sdk.FieldInterface, sdk.FieldLog, sdk.FieldICMPType, sdk.FieldComment}

// change is the change that a patch asks for. All that is wrong with it by
// itself is one problem invalid.
func (p *RulePatch) change(kind sdk.ScopeKind) (sdk.RuleChange, error) {
	c := sdk.RuleChange{Set: p.Set, Digest: p.Digest}
	var faults []problem.Fault
	for _, name := range slices.Concat(p.Clear, listed(p.Delete)) {
		switch {
		case slices.Contains(c.Clear, name):
		case name == sdk.FieldEnabled && p.Set.Enabled != nil:
			faults = append(faults, bodyFault(name, "it is set and taken away at once")...)
		case name == sdk.FieldEnabled:
			c.Set.Enabled = new(bool) // what is not set is off
		case slices.Contains(clearable, name):
			c.Clear = append(c.Clear, name)
		default:
			faults = append(faults, bodyFault("delete", "names what a rule cannot be without; it may name "+
				strings.Join(append(slices.Clone(clearable), sdk.FieldEnabled), ", "))...)
		}
	}
	if c.Set == (sdk.RuleFields{}) && len(c.Clear) == 0 && len(faults) == 0 {
		return c, guest.NothingToChange()
	}
	// What is not set is as in a rule with which nothing is wrong.
	probe := sdk.Rule{Direction: sdk.DirectionIn, Action: "ACCEPT"}
	if p.Set.Direction != nil && *p.Set.Direction == sdk.DirectionGroup && p.Set.Action == nil {
		probe.Action = "group"
	}
	after, err := sdk.RuleChange{Set: c.Set, Clear: c.Clear}.Apply(probe)
	if e, ok := errors.AsType[*plugin.Error](err); ok && slices.Contains(c.Clear, e.Field) {
		faults = append(faults, bodyFault(e.Field, "it is set and taken away at once")...)
	} else {
		faults = append(faults, ruleFaults(kind, &after)...)
	}
	return c, invalid(faults)
}

// listed are the names of a list with commas between them.
func listed(text string) (names []string) {
	for name := range strings.SplitSeq(text, ",") {
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	return names
}
