package apitest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// NullsConfig configures Nulls.
type NullsConfig struct {
	// Bodies has a valid body for each operation. {} stands for those without
	// one.
	Bodies map[string]string
	// Values has the values of the path parameters by name.
	Values map[string]string
	// As is the caller that sends the requests; nil means an owner.
	As *Caller
}

// Nulls sends null in every place of every body. If the document declares that
// the place may be null, it must not be refused for that. Otherwise the answer
// must be a 422 that names the place. Nulls returns how many places of each
// kind it has tried.
func (a *API) Nulls(t *testing.T, config NullsConfig) (taken, refused int) {
	t.Helper()
	if config.As == nil {
		config.As = Owner
	}
	d := a.document(t)
	for _, o := range d.operations {
		if o.body() == nil {
			continue
		}
		for _, place := range d.places(o.body(), nil, 0) {
			if place.nullable {
				taken++
			} else {
				refused++
			}
			if complaint := a.null(t, d, o, place, config); complaint != "" {
				t.Errorf("%s with null at %v: %s", o.ID, place.keys, complaint)
			}
		}
	}
	return taken, refused
}

// place is a place in a body. An index of an array is 0.
type place struct {
	keys     []any
	nullable bool
}

// places returns the place of a body and of everything in it.
func (d *document) places(s *schema, keys []any, depth int) []place {
	all := []place{{keys, d.nullable(s)}}
	if s = d.resolve(s); s == nil || depth > 4 {
		return all
	}
	for name, property := range s.Properties {
		all = append(all, d.places(property, append(slices.Clone(keys), name), depth+1)...)
	}
	if s.Items != nil {
		all = append(all, d.places(s.Items, append(slices.Clone(keys), 0), depth+1)...)
	}
	return all
}

// nullable reports whether a schema declares that its value may be null.
func (d *document) nullable(s *schema) bool {
	if s.Ref != "" {
		return d.nullable(d.schemas[s.Ref[strings.LastIndex(s.Ref, "/")+1:]])
	}
	types, _ := s.Type.([]any)
	return s.Type == "null" || s.Type == nil && len(s.AnyOf) == 0 || slices.Contains(types, "null") ||
		slices.ContainsFunc(s.AnyOf, d.nullable)
}

// null sends one null, with everything that the places above it require.
func (a *API) null(t *testing.T, d *document, o *operation, at place, config NullsConfig) string {
	var body any = map[string]any{}
	if good := config.Bodies[o.ID]; good != "" {
		if err := json.Unmarshal([]byte(good), &body); err != nil {
			t.Fatalf("the body of %s: %v", o.ID, err)
		}
	}
	text, err := json.Marshal(with(body, at.keys))
	if err != nil {
		t.Fatal(err)
	}
	path := placeholder.ReplaceAllStringFunc(o.path, func(p string) string {
		if value, ok := config.Values[p[1:len(p)-1]]; ok {
			return value
		}
		return "1"
	})
	answer, err := a.Do(t.Context(), a.request(o.method, path, string(text), nil), config.As)
	if err != nil {
		return err.Error()
	}
	var faults struct {
		Detail []struct {
			Loc  []any
			Type string
		}
	}
	_ = json.Unmarshal(answer.Body, &faults) // of other answers detail is a text, and none of it a fault
	told := false
	for _, f := range faults.Detail {
		// A null that is taken is like nothing, which another field may ask for.
		told = told || locate(f.Loc) == locate(append([]any{"body"}, at.keys...)) && !(at.nullable && f.Type == "missing")
	}
	switch {
	case answer.Status == 0 || answer.Status == 401 || answer.Status == 403 || answer.Status == 404:
		return fmt.Sprintf("it did not come so far: %d %s", answer.Status, answer.Body)
	case at.nullable && told:
		return fmt.Sprintf("it is declared and refused: %s", answer.Body)
	case !at.nullable && !told:
		return fmt.Sprintf("it is not declared and taken: %d %s", answer.Status, answer.Body)
	}
	return ""
}

// with returns the value with null at the place, and with the objects and
// arrays that lead there.
func with(value any, keys []any) any {
	if len(keys) == 0 {
		return nil
	}
	switch key := keys[0].(type) {
	case int:
		list, _ := value.([]any)
		if len(list) == 0 {
			list = []any{nil}
		}
		list[key] = with(list[key], keys[1:])
		return list
	default:
		object, _ := value.(map[string]any)
		if object == nil {
			object = map[string]any{}
		}
		object[key.(string)] = with(object[key.(string)], keys[1:])
		return object
	}
}

// locate returns the place of a fault as text.
func locate(loc []any) string {
	parts := make([]string, len(loc))
	for i, part := range loc {
		switch part := part.(type) {
		case float64:
			parts[i] = strconv.Itoa(int(part))
		default:
			parts[i] = fmt.Sprint(part)
		}
	}
	return strings.Join(parts, "/")
}
