package op

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/hostler/hostler/core/problem"
)

// What may be null follows from the Go types, in answers and bodies alike:
//
//   - a pointer that is always there may be null; with omitempty or omitzero it may be absent, and not null
//   - an Optional may be both
//   - a tag nullable:"true" or nullable:"false" says otherwise
//
// huma knows this of pointers to scalars only, writes no null for a reference, and lets null pass for every key that is not
// required. The three functions here make the rule hold in the schemas, in the document and for bodies.

// declareNulls marks what may be null in the components that are new since the last call; done holds those that are not.
func declareNulls(registry huma.Registry, prefix string, done map[string]bool) {
	for name, s := range registry.Map() {
		if !done[name] {
			done[name] = true
			declareNullsOf(s, registry.TypeFromRef(prefix+name))
		}
	}
}

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

// admitsAll reports whether a schema says nothing of types, and so admits null as well.
func admitsAll(s *huma.Schema) bool { return s.Type == "" && s.Ref == "" }

// spellNulls rewrites what huma has written of schemas that may be null and refer to another one or have an enum. JSON
// Schema wants null among an enum's values, of which client generators make one more name; a reference has no type at all.
// Both become anyOf with null, which openapi-typescript, oapi-codegen and openapi-python-client take for what it is.
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

// undeclaredNulls are the faults of a body that is null where its schema does not say so. Well-formed JSON is expected.
func undeclaredNulls(registry huma.Registry, s *huma.Schema, body []byte, loc ...any) []problem.Fault {
	if s == nil || !bytes.Contains(body, []byte("null")) {
		return nil
	}
	n := &nullFinder{registry: registry, decoder: json.NewDecoder(bytes.NewReader(body))}
	n.decoder.UseNumber()
	n.value(s, true, loc)
	return n.faults
}

type nullFinder struct {
	registry huma.Registry
	decoder  *json.Decoder
	faults   []problem.Fault
}

// value reads one value of which the schema is s, nil for one that is not known. told says that huma tells of a null here
// itself. It stops at what is no JSON.
func (n *nullFinder) value(s *huma.Schema, told bool, loc []any) {
	token, err := n.decoder.Token()
	if err != nil {
		return
	}
	nullable := s == nil || s.Nullable || admitsAll(s)
	for s != nil && s.Ref != "" {
		s = n.registry.SchemaFromRef(s.Ref)
	}
	if s == nil {
		s = &huma.Schema{}
	}
	switch token {
	case nil:
		if !nullable && !told && len(n.faults) < maxFaults {
			n.faults = append(n.faults, problem.Fault{Loc: slices.Clone(loc), Msg: "must not be null", Type: "null_forbidden"})
		}
	case json.Delim('{'):
		for n.decoder.More() {
			key, err := n.decoder.Token()
			name, _ := key.(string)
			if err != nil {
				return
			}
			property := s.Properties[name]
			if property == nil {
				property, _ = s.AdditionalProperties.(*huma.Schema)
			}
			n.value(property, slices.Contains(s.Required, name), append(loc, shortKey(name)))
		}
		_, _ = n.decoder.Token() // the closing bracket; without it there is no next token either
	case json.Delim('['):
		for i := 0; n.decoder.More(); i++ {
			n.value(s.Items, true, append(loc, i))
		}
		_, _ = n.decoder.Token()
	}
}
