package op

import (
	"encoding/json"
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"
)

// Optional is a field of a PATCH body that tells three things apart: absent
// keeps, null clears, a value sets. Its JSON tag must say omitzero:
//
//	Name op.Optional[string] `json:"name,omitzero" maxLength:"64"`
//
// Where null has no meaning a tag nullable:"false" refuses it. A PATCH whose
// body has Optional fields and is given none of them is refused with 422 before
// the handler.
type Optional[T any] struct {
	// Set: the key was given, as a value or as null.
	Set bool
	// Null: the key was given as null.
	Null  bool
	Value T
}

// Pointer is the value as a pointer, nil for null and for absent.
func (o Optional[T]) Pointer() *T {
	if !o.Set || o.Null {
		return nil
	}
	return &o.Value
}

// UnmarshalJSON is called only when the key is there.
func (o *Optional[T]) UnmarshalJSON(data []byte) error {
	o.Set = true
	if string(data) == "null" {
		o.Null = true
		return nil
	}
	return json.Unmarshal(data, &o.Value)
}

// MarshalJSON writes the value, or null.
func (o Optional[T]) MarshalJSON() ([]byte, error) { return json.Marshal(o.Pointer()) }

// Schema is the value's own schema, null allowed.
func (o Optional[T]) Schema(r huma.Registry) *huma.Schema {
	s := *r.Schema(reflect.TypeFor[T](), true, reflect.TypeFor[T]().Name())
	s.Nullable = s.Ref == "" // huma panics on a reference that may be null; declareNulls marks it later
	return &s
}

// given reports whether the field was present in the body.
func (o Optional[T]) given() bool { return o.Set }

// changesNothing reports whether a PATCH body has Optional fields and neither
// these nor others were given.
func changesNothing(body reflect.Value) bool {
	for body.IsValid() && body.Kind() == reflect.Pointer {
		body = body.Elem()
	}
	if !body.IsValid() || body.Kind() != reflect.Struct {
		return false
	}
	optionals := false
	for i := range body.NumField() {
		field := body.Field(i)
		if !body.Type().Field(i).IsExported() {
			continue
		}
		if o, ok := field.Interface().(interface{ given() bool }); ok {
			optionals = true
			if o.given() {
				return false
			}
		} else if body.Type().Field(i).Anonymous && changesNothing(field) {
			optionals = true
		} else if !field.IsZero() {
			return false
		}
	}
	return optionals
}

// wantChange says in the document that the body of a PATCH changes something.
// huma is not told: the request's own fault says more.
func (a *API) wantChange(o *Operation) {
	body := o.body
	if body.Ref != "" {
		body = a.huma.OpenAPI().Components.Schemas.SchemaFromRef(body.Ref)
	}
	if o.Method == http.MethodPatch && body.Type == huma.TypeObject && len(body.Required) == 0 {
		body.Extensions = map[string]any{"minProperties": 1}
	}
}

var _ huma.SchemaProvider = Optional[string]{}
