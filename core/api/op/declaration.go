package op

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// checkInput panics on fields of an input type that would not do what they say.
func checkInput(id string, t reflect.Type) { walkFields(id, t, map[reflect.Type]bool{}) }

func walkFields(id string, t reflect.Type, seen map[reflect.Type]bool) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Array || t.Kind() == reflect.Map {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || seen[t] {
		return
	}
	seen[t] = true
	for i := range t.NumField() {
		f := t.Field(i)
		where := fmt.Sprintf("op: field %s of %s in the input of %s ", f.Name, t, id)
		inBody := f.Tag.Get("path")+f.Tag.Get("query")+f.Tag.Get("header") == ""
		isOptional := f.IsExported() && isOptionalType(f.Type)
		switch {
		case f.Anonymous && !f.IsExported():
			panic(where + "embeds a type that is not exported, which huma does not look into")
		case isOptional && !strings.Contains(f.Tag.Get("json"), "omitzero"):
			panic(where + "is Optional and needs omitzero in its json tag")
		case f.Tag.Get("uniqueItems") != "":
			panic(where + "has uniqueItems, on which huma panics for items that are objects; check it in the handler")
		case inBody && mustBeGivenOrNull(f):
			panic(where + "is an object that must be given and may be null, which huma does not take; make it omitempty or Optional")
		case inBody && zeroIsValid(f):
			panic(where + "has a default that would also replace a given zero value; make it a pointer")
		}
		if f.IsExported() {
			walkFields(id, f.Type, seen)
		}
	}
}

func isOptionalType(t reflect.Type) bool {
	_, ok := reflect.Zero(t).Interface().(interface{ given() bool })
	return ok
}

// zeroIsValid reports whether a caller may send the zero value of a field whose default is another: huma sets defaults
// on every field that is zero after decoding.
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
