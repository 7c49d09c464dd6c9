package guest

import "github.com/hostler/hostler/core/problem"

// NamedTarget is a target in a request body. Exactly one field is set.
type NamedTarget struct {
	VM  *int64 `json:"vm,omitempty" minimum:"1" example:"3" doc:"ID of a VM; give either this or app"`
	App *int64 `json:"app,omitempty" minimum:"1" doc:"ID of an app; give either this or vm"`
}

// Targets returns invalid for targets that name nothing or two things, and for
// targets that occur twice.
func Targets(given []NamedTarget) ([]BulkTarget, error) {
	var faults []problem.Fault
	seen := map[[2]int64]bool{}
	all := make([]BulkTarget, len(given))
	for i, t := range given {
		loc := []any{"body", "targets", i}
		all[i] = BulkTarget(t)
		if (t.VM == nil) == (t.App == nil) {
			faults = append(faults, problem.Fault{Loc: loc, Msg: "must name either a vm or an app", Type: "value_error"})
			continue
		}
		key := [2]int64{}
		if t.VM != nil {
			key[0] = *t.VM
		} else {
			key[1] = *t.App
		}
		if seen[key] {
			faults = append(faults, problem.Fault{Loc: loc, Msg: "listed twice", Type: "duplicate"})
		}
		seen[key] = true
	}
	if len(faults) > 0 {
		return nil, problem.Invalid(faults[:min(len(faults), 20)]...)
	}
	return all, nil
}
