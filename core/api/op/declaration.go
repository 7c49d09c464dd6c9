package op

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// checkInput panics on fields of an input type whose tags would not have the
// effect that they suggest.
func checkInput(id string, t reflect.Type) { walkFields(id, t, false, map[walkedType]bool{}) }

// walkedType is a type that was checked. named says that it is the type of a
// named field and not embedded.
type walkedType struct {
	t     reflect.Type
	named bool
}

// walkFields checks the Go type of an input or output, and all types that it
// contains, for fields that the API cannot describe. It visits each type once,
// because types may be recursive.
func walkFields(id string, t reflect.Type, named bool, seen map[walkedType]bool) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Array || t.Kind() == reflect.Map {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || seen[walkedType{t, named}] {
		return
	}
	seen[walkedType{t, named}] = true
	for i := range t.NumField() {
		f := t.Field(i)
		where := fmt.Sprintf("op: field %s of %s in the input of %s ", f.Name, t, id)
		inBody := f.Tag.Get("path")+f.Tag.Get("query")+f.Tag.Get("header") == ""
		isOptional := f.IsExported() && isOptionalType(f.Type)
		switch {
		case named && !inBody:
			panic(where + "is a parameter inside a named field, which huma does not inspect; embed its type")
		case f.Anonymous && !f.IsExported():
			panic(where + "embeds an unexported type, which huma does not inspect")
		case inBody && f.IsExported() && anyValue(f.Type):
			panic(where + "would be decoded without a limit on its type and size; make it an Object, or Ignored")
		case isOptional && !strings.Contains(f.Tag.Get("json"), "omitzero"):
			panic(where + "is Optional and needs omitzero in its json tag")
		case f.Tag.Get("uniqueItems") != "":
			panic(where + "has uniqueItems, on which huma panics for items that are objects; check it in the handler")
		case inBody && mustBeGivenOrNull(f):
			panic(where + "is a required object that may be null, which huma does not support; make it omitempty or Optional")
		case inBody && zeroIsValid(f):
			panic(where + "has a default that would also replace a given zero value; make it a pointer")
		}
		if f.IsExported() {
			walkFields(id, f.Type, named || !f.Anonymous, seen)
		}
	}
}

// checkSchema panics on a schema of a body that says more than inspect
// understands. It reports whether every list in the body has a limit.
func checkSchema(id string, registry huma.Registry, s *huma.Schema) (limited bool) {
	return walkSchema(id, registry, s, map[*huma.Schema]bool{})
}

// walkSchema reports whether the fast validator supports a schema and
// everything below it. An operation with another schema is validated by the
// library.
func walkSchema(id string, registry huma.Registry, s *huma.Schema, seen map[*huma.Schema]bool) bool {
	for s != nil && s.Ref != "" {
		s = registry.SchemaFromRef(s.Ref)
	}
	if s == nil || seen[s] {
		return true
	}
	seen[s] = true
	if s.OneOf != nil || s.AnyOf != nil || s.AllOf != nil || s.Not != nil || s.Discriminator != nil || len(s.DependentRequired) > 0 ||
		s.MinProperties != nil || s.MaxProperties != nil || s.UniqueItems {
		panic("op: the body of " + id + " has a schema that the validator does not fully support")
	}
	limited := (s.Type != huma.TypeArray || s.MaxItems != nil) && walkSchema(id, registry, s.Items, seen)
	if further, ok := s.AdditionalProperties.(*huma.Schema); ok {
		limited = walkSchema(id, registry, further, seen) && limited
	}
	for _, property := range s.Properties {
		limited = walkSchema(id, registry, property, seen) && limited
	}
	return limited
}

// anyValue reports whether encoding/json chooses the Go type of the values
// itself.
func anyValue(t reflect.Type) bool {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Array || t.Kind() == reflect.Map {
		t = t.Elem()
	}
	return t.Kind() == reflect.Interface
}

// isOptionalType reports whether t is an Optional.
func isOptionalType(t reflect.Type) bool {
	_, ok := reflect.Zero(t).Interface().(interface{ given() bool })
	return ok
}

// zeroIsValid reports whether a caller may send the zero value of a field whose
// default is another: huma sets defaults on every field that is zero after
// decoding.
func zeroIsValid(f reflect.StructField) bool {
	def, ok := f.Tag.Lookup("default")
	if !ok {
		return false
	}
	switch f.Type.Kind() {
	case reflect.Bool:
		return def != "false"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Float32, reflect.Float64:
		least, err := strconv.ParseFloat(f.Tag.Get("minimum"), 64)
		return def != "0" && (err != nil || least <= 0)
	}
	return false
}
