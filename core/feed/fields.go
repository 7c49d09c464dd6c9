package feed

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
)

// fields are the JSON fields of a struct of the API, by name.
type fields map[string][]int

// fieldsOf finds the fields by their tags.
func fieldsOf[T any]() fields {
	f := fields{}
	for _, field := range reflect.VisibleFields(reflect.TypeFor[T]()) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if field.IsExported() && !field.Anonymous && name != "" && name != "-" {
			f[name] = field.Index
		}
	}
	return f
}

// encode returns some fields of a value as JSON; all if names is nil.
func (f fields) encode(value any, names []string) (map[string]json.RawMessage, error) {
	v := reflect.ValueOf(value)
	out := make(map[string]json.RawMessage, len(names))
	add := func(name string, index []int) error {
		raw, err := json.Marshal(v.FieldByIndex(index).Interface())
		if err != nil {
			return fmt.Errorf("encoding %s: %w", name, err)
		}
		out[name] = raw
		return nil
	}
	if names == nil {
		for name, index := range f {
			if err := add(name, index); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	for _, name := range names {
		if err := add(name, f[name]); err != nil {
			return nil, err
		}
	}
	return out, nil
}
