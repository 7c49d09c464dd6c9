package pvesim_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

func jsonEqual(a, b any) bool {
	x, _ := json.Marshal(a)
	y, _ := json.Marshal(b)
	return bytes.Equal(x, y)
}

// shape is the types of a value: for a list, those of all its elements together.
type shape struct {
	kinds   map[string]bool // object, array, number, text, null, truth
	members map[string]*shape
	element *shape
}

func shapeOf(v any) *shape {
	s := &shape{kinds: map[string]bool{}, members: map[string]*shape{}}
	s.add(v)
	return s
}

func (s *shape) add(v any) {
	switch x := v.(type) {
	case nil:
		s.kinds["null"] = true
	case string:
		s.kinds["text"] = true
	case bool:
		s.kinds["truth"] = true
	case float64:
		s.kinds["number"] = true
	case []any:
		s.kinds["array"] = true
		for _, e := range x {
			if s.element == nil {
				s.element = shapeOf(e)
			} else {
				s.element.add(e)
			}
		}
	case map[string]any:
		s.kinds["object"] = true
		for k, e := range x {
			if s.members[k] == nil {
				s.members[k] = shapeOf(e)
			} else {
				s.members[k].add(e)
			}
		}
	}
}

// compareShapes names the members that only one side has and those whose types differ.
func compareShapes(at string, have, want *shape) []string {
	if have == nil || want == nil {
		if have != want {
			return []string{fmt.Sprintf("%s: one list is empty", at)}
		}
		return nil
	}
	var faults []string
	if !maps.Equal(have.kinds, want.kinds) && !toleratedKinds(at, have, want) {
		faults = append(faults, fmt.Sprintf("%s is %v, recorded %v", at, slices.Sorted(maps.Keys(have.kinds)),
			slices.Sorted(maps.Keys(want.kinds))))
	}
	for name, m := range have.members {
		if want.members[name] == nil {
			faults = append(faults, fmt.Sprintf("%s.%s was not recorded", at, name))
		} else {
			faults = append(faults, compareShapes(at+"."+name, m, want.members[name])...)
		}
	}
	for name := range want.members {
		if have.members[name] == nil {
			faults = append(faults, fmt.Sprintf("%s.%s is missing", at, name))
		}
	}
	if want.element != nil || have.element != nil {
		faults = append(faults, compareShapes(at+"[]", have.element, want.element)...)
	}
	slices.Sort(faults)
	return faults
}

// toleratedKinds are differences that the recordings' README calls artefacts, or that vary there from row to row.
func toleratedKinds(at string, have, want *shape) bool {
	name := at[strings.LastIndexByte(at, '.')+1:]
	switch {
	case strings.HasPrefix(name, "pressure"):
		return true
	case name == "saved": // "1" or 1
		return want.kinds["text"] && have.kinds["text"]
	}
	return false
}
