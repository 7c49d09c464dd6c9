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

// Object is any JSON object, kept as it was sent. Use it for a field whose
// content depends on another field, such as the settings of a channel, and
// check the content with a Shape.
type Object json.RawMessage

// Schema implements huma.SchemaProvider. Every object is valid.
func (Object) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}
}

// UnmarshalJSON implements json.Unmarshaler. It keeps the text.
func (o *Object) UnmarshalJSON(data []byte) error {
	*o = append((*o)[:0], data...)
	return nil
}

// MarshalJSON implements json.Marshaler. It returns the text.
func (o Object) MarshalJSON() ([]byte, error) { return json.RawMessage(o).MarshalJSON() }

// IgnoredValue is a value of any type that is accepted and ignored.
type IgnoredValue struct{}

// Schema implements huma.SchemaProvider. Every value is valid.
func (IgnoredValue) Schema(huma.Registry) *huma.Schema { return &huma.Schema{} }

// UnmarshalJSON implements json.Unmarshaler. It keeps nothing.
func (*IgnoredValue) UnmarshalJSON([]byte) error { return nil }

// MarshalJSON implements json.Marshaler. It returns null.
func (IgnoredValue) MarshalJSON() ([]byte, error) { return []byte("null"), nil }

// Shape is the form that an Object must have. It is a struct with the same tags
// as any request body, and the same code checks it.
type Shape struct {
	of       reflect.Type
	registry huma.Registry
	schema   *huma.Schema
}

// NewShape returns the shape of a struct; zero is any value of that type. It
// panics if a field has tags that would have no effect, as the declaration of
// an operation does.
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

// Document returns the shape as a JSON schema. Schemas that it refers to are in
// $defs.
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

// Faults returns everything that is wrong with the object, or nil. It makes the
// checks of a request body. location is the place of the object, with dots,
// such as "body.params". No fault contains the rejected value.
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
