package op

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"github.com/hostler/hostler/core/problem"
)

// Object is any JSON object, kept as it was sent. What must be in it depends on another field, and a Shape checks it.
type Object json.RawMessage

// Schema is that of any object.
func (Object) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}
}

// UnmarshalJSON keeps the text.
func (o *Object) UnmarshalJSON(data []byte) error {
	*o = append((*o)[:0], data...)
	return nil
}

// MarshalJSON gives the text back.
func (o Object) MarshalJSON() ([]byte, error) { return json.RawMessage(o).MarshalJSON() }

// IgnoredValue is a value of any kind that is taken and not looked at.
type IgnoredValue struct{}

// Schema is that of anything.
func (IgnoredValue) Schema(huma.Registry) *huma.Schema { return &huma.Schema{} }

// UnmarshalJSON keeps nothing.
func (*IgnoredValue) UnmarshalJSON([]byte) error { return nil }

// MarshalJSON is null.
func (IgnoredValue) MarshalJSON() ([]byte, error) { return []byte("null"), nil }

// Shape is what an Object must look like: a struct with the tags of any request body.
type Shape struct {
	of       reflect.Type
	registry huma.Registry
	schema   *huma.Schema
}

// NewShape makes the shape of a struct, given as any value of its type. It panics on fields that would not do what they
// say, as a declaration does.
func NewShape(name string, zero any) *Shape {
	s := &Shape{of: reflect.TypeOf(zero), registry: huma.NewMapRegistry("#/$defs/", huma.DefaultSchemaNamer)}
	if s.of == nil || s.of.Kind() != reflect.Struct {
		panic(fmt.Sprintf("op: the shape %s is of %v and not of a struct", name, s.of))
	}
	checkInput(name, s.of)
	s.schema = s.registry.Schema(s.of, false, name)
	declareNulls(s.registry, "#/$defs/", map[string]bool{})
	checkSchema(name, s.registry, s.schema)
	return s
}

// Document is the shape as a JSON schema.
func (s *Shape) Document() json.RawMessage {
	definitions := maps.Clone(s.registry.Map())
	maps.DeleteFunc(definitions, func(_ string, one *huma.Schema) bool { return one == s.schema })
	document, err := json.Marshal(s.schema)
	if err == nil && len(definitions) > 0 {
		var whole map[string]any
		if err = json.Unmarshal(document, &whole); err == nil {
			whole["$defs"] = definitions
			document, err = json.Marshal(whole)
		}
	}
	if err != nil {
		panic(fmt.Sprintf("op: the schema of %s: %v", s.of, err))
	}
	decoder := json.NewDecoder(bytes.NewReader(document))
	decoder.UseNumber()
	tree := readOrdered(decoder)
	spellNulls(tree)
	dropKeyword(tree, "patternDescription")
	if document, err = json.Marshal(tree); err != nil {
		panic(fmt.Sprintf("op: the schema of %s: %v", s.of, err))
	}
	return document
}

// Faults is all that is wrong with the object, by the machinery that checks request bodies; location is where it stands,
// in dots, such as "body.params". The value itself is in no fault.
func (s *Shape) Faults(object []byte, location string) []problem.Fault {
	found := inspect(object, split(location), s.registry, s.schema)
	faults := slices.Concat(found.raw, found.misfits)
	if len(faults) == 0 {
		if err := unmarshal(object, reflect.New(s.of).Interface()); err != nil {
			faults = append(faults, translate(&huma.ErrorDetail{Location: location, Message: err.Error()}))
		}
	}
	return limitFaults(faults)
}
