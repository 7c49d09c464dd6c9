package schedules

import (
	"encoding/json"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/core/schedule"
)

// shapes has the shape of the parameters for each kind of job.
type shapes map[string]*op.Shape

func newShapes(kinds []schedule.Kind) shapes {
	all := shapes{}
	for _, kind := range kinds {
		all[kind.Name] = op.NewShape(kind.Name, kind.Params)
	}
	return all
}

func (s shapes) check(kind schedule.Kind, params json.RawMessage) []problem.Fault {
	return s[kind.Name].Faults(params, "body.params")
}

// createFaults returns the faults that the schema cannot express.
func (h handlers) createFaults(body []byte) []problem.Fault {
	given := parse(body)
	if _, ok := given["timezone"]; !ok {
		given["timezone"] = schedule.DefaultZone
	}
	if given["params"] == nil {
		given["params"] = json.RawMessage("{}")
	}
	return h.faults(given)
}

// updateFaults does the same for a body in which every field is optional.
func (h handlers) updateFaults(body []byte) []problem.Fault {
	return h.faults(parse(body))
}

// faults checks the fields that are present and have the right type; the schema
// reports the others. It checks the parameters against the shape of the kind if
// the kind is present, too.
func (h handlers) faults(given map[string]any) []problem.Fault {
	draft, looked := schedule.Input{Params: json.RawMessage("{}")}, map[string]bool{}
	for key, field := range map[string]*string{"name": &draft.Name, "cron": &draft.Cron, "timezone": &draft.Timezone,
		"job_kind": &draft.JobKind} {
		if text, ok := given[key].(string); ok && text != "" {
			*field, looked[key] = text, true
		}
	}
	if object, ok := given["params"].(json.RawMessage); ok {
		draft.Params, looked["params"] = object, true
	}
	var faults []problem.Fault
	for _, fault := range h.schedules.Faults(draft, h.shapes.check) {
		if key, ok := fault.Loc[1].(string); ok && looked[key] {
			faults = append(faults, fault)
		}
	}
	return faults
}

// parse returns the members of a body: strings as such, objects as their JSON,
// and null as nil.
func parse(body []byte) map[string]any {
	var members map[string]json.RawMessage
	given := map[string]any{}
	if json.Unmarshal(body, &members) != nil {
		return given // the schema says what it is instead
	}
	for key, raw := range members {
		var text string
		switch {
		case string(raw) == "null":
			given[key] = nil
		case raw[0] == '{':
			given[key] = raw
		case json.Unmarshal(raw, &text) == nil:
			given[key] = text
		default:
			given[key] = false
		}
	}
	return given
}
