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

// fault returns the fault of a field in an error of the SDK; nil if there is
// none.
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

// invalid returns the problem invalid if there are faults.
func invalid(faults []problem.Fault) error {
	if len(faults) == 0 {
		return nil
	}
	return problem.Invalid(faults...)
}

// texts returns the text fields of a rule by their names in bodies.
func texts(r *sdk.Rule) []struct{ field, text string } {
	return []struct{ field, text string }{
		{sdk.FieldMacro, r.Macro}, {sdk.FieldProtocol, r.Protocol}, {sdk.FieldSource, r.Source}, {sdk.FieldDestination, r.Destination},
		{sdk.FieldSourcePort, r.SourcePort}, {sdk.FieldDestinationPort, r.DestinationPort}, {sdk.FieldInterface, r.Interface},
		{sdk.FieldLog, r.Log}, {sdk.FieldICMPType, r.ICMPType},
	}
}

// ruleFaults returns the faults of a rule for every hypervisor.
func ruleFaults(kind sdk.ScopeKind, r *sdk.Rule) (faults []problem.Fault) {
	switch {
	case !slices.Contains(sdk.Directions(), r.Direction):
		faults = append(faults, bodyFault(sdk.FieldDirection, "must be one of "+strings.Join(sdk.Directions(), ", "))...)
	case r.Direction == sdk.DirectionGroup && kind == sdk.GroupScope:
		faults = append(faults, bodyFault(sdk.FieldDirection, "a group cannot contain another group")...)
	case r.Direction == sdk.DirectionGroup:
		faults = append(faults, fault(sdk.CheckName(sdk.FieldAction, r.Action))...)
	}
	if r.Action == "" && r.Direction != sdk.DirectionGroup {
		faults = append(faults, bodyFault(sdk.FieldAction, "is required")...)
	}
	if r.Direction != sdk.DirectionGroup {
		faults = append(faults, fault(sdk.CheckText(sdk.FieldAction, r.Action, sdk.MaxText))...)
	}
	for _, t := range texts(r) {
		faults = append(faults, fault(sdk.CheckText(t.field, t.text, sdk.MaxText))...)
	}
	return append(faults, fault(sdk.CheckText(sdk.FieldComment, r.Comment, sdk.MaxComment))...)
}

// clearable are the optional fields of a rule.
var clearable = []string{sdk.FieldMacro, sdk.FieldProtocol, sdk.FieldSource, sdk.FieldDestination, sdk.FieldSourcePort,
	sdk.FieldDestinationPort, sdk.FieldInterface, sdk.FieldLog, sdk.FieldICMPType, sdk.FieldComment}

// change returns the change of a patch. All faults are one problem invalid.
func (p *RulePatch) change(kind sdk.ScopeKind) (sdk.RuleChange, error) {
	c := sdk.RuleChange{Set: p.Set, Digest: p.Digest}
	var faults []problem.Fault
	for _, name := range slices.Concat(p.Clear, listed(p.Delete)) {
		switch {
		case slices.Contains(c.Clear, name):
		case name == sdk.FieldEnabled && p.Set.Enabled != nil:
			faults = append(faults, bodyFault(name, "cannot be set and removed at the same time")...)
		case name == sdk.FieldEnabled:
			c.Set.Enabled = new(bool) // what is not set is off
		case slices.Contains(clearable, name):
			c.Clear = append(c.Clear, name)
		default:
			faults = append(faults, bodyFault("delete", "contains a field that cannot be removed; allowed are "+
				strings.Join(append(slices.Clone(clearable), sdk.FieldEnabled), ", "))...)
		}
	}
	if c.Set == (sdk.RuleFields{}) && len(c.Clear) == 0 && len(faults) == 0 {
		return c, guest.NothingToChange()
	}
	// Fields that the patch does not set have the values of a valid rule.
	probe := sdk.Rule{Direction: sdk.DirectionIn, Action: "ACCEPT"}
	if p.Set.Direction != nil && *p.Set.Direction == sdk.DirectionGroup && p.Set.Action == nil {
		probe.Action = "group"
	}
	after, err := sdk.RuleChange{Set: c.Set, Clear: c.Clear}.Apply(probe)
	if e, ok := errors.AsType[*plugin.Error](err); ok && slices.Contains(c.Clear, e.Field) {
		faults = append(faults, bodyFault(e.Field, "cannot be set and removed at the same time")...)
	} else {
		faults = append(faults, ruleFaults(kind, &after)...)
	}
	return c, invalid(faults)
}

// listed splits a list with commas.
func listed(text string) (names []string) {
	for name := range strings.SplitSeq(text, ",") {
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	return names
}
