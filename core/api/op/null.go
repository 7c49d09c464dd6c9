package op

import (
	"reflect"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
)

// What may be null follows from the Go types, in answers and bodies alike:
//
//   - a pointer that is always there may be null; with omitempty or omitzero it may be absent, and not null
//   - an Optional may be both
//   - a tag nullable:"true" or nullable:"false" says otherwise
//
// huma knows this of pointers to scalars only, writes no null for a reference,
// and lets null pass for every key that is not required. The functions here
// make the rule hold in the schemas and in the document; the validator does for
// bodies.

// declareNulls marks what may be null in the components that are new since the
// last call. done has those that were handled.
func declareNulls(registry huma.Registry, prefix string, done map[string]bool) {
	for name, s := range registry.Map() {
		if !done[name] {
			done[name] = true
			declareNullsOf(s, registry.TypeFromRef(prefix+name))
		}
	}
}

// declareNullsOf marks the properties of a struct's schema that may be null, by
// the struct's Go types.
func declareNullsOf(s *huma.Schema, t reflect.Type) {
	if t == nil || t.Kind() != reflect.Struct {
		return
	}
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		property := s.Properties[name]
		if property == nil || !f.IsExported() {
			continue
		}
		mayBeAbsent := strings.Contains(options, "omitempty") || strings.Contains(options, "omitzero")
		switch tag := f.Tag.Get("nullable"); {
		case tag != "":
			property.Nullable = tag == "true"
		case isOptionalType(f.Type):
			property.Nullable = true
		case f.Type.Kind() == reflect.Pointer:
			property.Nullable = !mayBeAbsent
		}
		property.Nullable = property.Nullable && !admitsAll(property)
	}
}

// admitsAll reports whether a schema has no type and therefore already allows
// null.
func admitsAll(s *huma.Schema) bool { return s.Type == "" && s.Ref == "" }

// spellNulls rewrites schemas that may be null and are references or have an
// enum, as huma writes them. For an enum, JSON Schema requires null among the
// values, of which client generators make another name; a reference has no type
// at all. Both become anyOf with null, which openapi-typescript, oapi-codegen
// and openapi-python-client handle correctly.
func spellNulls(tree any) {
	switch v := tree.(type) {
	case []any:
		for _, item := range v {
			spellNulls(item)
		}
	case *object:
		for _, m := range *v {
			if m.key != "example" && m.key != "examples" && m.key != "default" && m.key != "enum" {
				spellNulls(m.value)
			}
		}
		kind, _ := v.get("type").([]any)
		_, refers := v.get("$ref").(string)
		if len(kind) != 2 || kind[1] != "null" || !refers && v.get("enum") == nil {
			return
		}
		one := object{}
		if kind[0] != "" {
			one = append(one, member{"type", kind[0]})
		}
		rest := object{}
		for _, m := range *v {
			switch m.key {
			case "type":
				rest = append(rest, member{"anyOf", []any{&one, &object{{"type", "null"}}}})
			case "$ref", "enum", "format":
				one = append(one, m)
			default:
				rest = append(rest, m)
			}
		}
		*v = rest
	}
}

// mustBeGivenOrNull reports whether a field of a body is a pointer to an object and always there.
func mustBeGivenOrNull(f reflect.StructField) bool {
	name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
	pointer := f.Type.Kind() == reflect.Pointer && f.Type.Elem().Kind() == reflect.Struct && f.Type.Elem() != reflect.TypeFor[time.Time]()
	return pointer && name != "" && options == ""
}

// get is the value of a key; nil when there is none.
func (o object) get(key string) any {
	for _, m := range o {
		if m.key == key {
			return m.value
		}
	}
	return nil
}
