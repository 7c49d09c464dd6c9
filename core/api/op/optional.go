package op

import (
	"encoding/json"
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"
)

// Optional is a field of a PATCH body with three states: an absent field keeps
// the stored value, null clears it, and a value replaces it. Its JSON tag must
// have omitzero:
//
//	Name op.Optional[string] `json:"name,omitzero" maxLength:"64"`
//
// If null makes no sense, the tag nullable:"false" refuses it. A PATCH whose
// body has Optional fields and sets no field at all is refused with 422 before
// the handler runs.
type Optional[T any] struct {
	// Set is true if the body has the key, with a value or with null.
	Set bool
	// Null is true if the body has the key with null.
	Null  bool
	Value T
}

// Pointer returns the value as a pointer. It is nil for null and for an absent
// field.
func (o Optional[T]) Pointer() *T {
	if !o.Set || o.Null {
		return nil
	}
	return &o.Value
}

// UnmarshalJSON implements json.Unmarshaler. It is only called if the key is
// present.
func (o *Optional[T]) UnmarshalJSON(data []byte) error {
	o.Set = true
	if string(data) == "null" {
		o.Null = true
		return nil
	}
	return json.Unmarshal(data, &o.Value)
}

// MarshalJSON implements json.Marshaler. It writes the value, or null.
func (o Optional[T]) MarshalJSON() ([]byte, error) { return json.Marshal(o.Pointer()) }

// Schema implements huma.SchemaProvider. It returns the schema of the value,
// which may also be null.
func (o Optional[T]) Schema(r huma.Registry) *huma.Schema {
	s := *r.Schema(reflect.TypeFor[T](), true, reflect.TypeFor[T]().Name())
	s.Nullable = s.Ref == "" // huma panics on a reference that may be null; declareNulls marks it later
	return &s
}

// given reports whether the body has the field.
func (o Optional[T]) given() bool { return o.Set }

// changesNothing reports whether a PATCH body has Optional fields but sets no
// field.
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

// wantChange documents that the body of a PATCH must have at least one member.
// huma does not check it, because the fault that run reports says more.
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
