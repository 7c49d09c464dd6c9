package plugintest

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
)

// RoundTrip checks that a conversion between a struct and its protobuf message
// loses nothing. It fills every field of the struct, nested ones too, with a
// different value, converts it to the message, sends that through the wire format
// and back, and compares. It also checks that every field of the message is set,
// except those named in except, which the conversion leaves to its caller. It is
// not suited for texts that must be in a closed list.
//
// A field that is added to the struct and forgotten in the conversion fails the
// test.
func RoundTrip[T any, M proto.Message](t *testing.T, to func(T) M, from func(M) T, except ...string) {
	t.Helper()
	t.Run(reflect.TypeFor[T]().Name(), func(t *testing.T) {
		t.Helper()
		var want T
		n := 0
		fill(reflect.ValueOf(&want).Elem(), &n)
		message := to(want)
		unset(t, message, except)
		raw, err := proto.Marshal(message)
		if err != nil {
			t.Fatal("marshalling:", err)
		}
		arrived := message.ProtoReflect().New().Interface().(M)
		if err := proto.Unmarshal(raw, arrived); err != nil {
			t.Fatal("unmarshalling:", err)
		}
		if got := from(arrived); !reflect.DeepEqual(got, want) {
			t.Errorf("got\n%+v, want\n%+v", got, want)
		}
		var zero T
		if got := from(to(zero)); !reflect.DeepEqual(got, zero) {
			t.Errorf("nothing became\n%+v", got)
		}
	})
}

// unset reports each field of a message without value as a failure.
func unset(t *testing.T, message proto.Message, except []string) {
	t.Helper()
	m := message.ProtoReflect()
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		f := fields.Get(i)
		excused := false
		for _, name := range except {
			excused = excused || name == string(f.Name())
		}
		if !excused && !m.Has(f) {
			t.Errorf("%s.%s has no value", m.Descriptor().Name(), f.Name())
		}
	}
}

// fill sets every field to a value that no other field has, so that swapped fields
// are found too.
func fill(v reflect.Value, n *int) {
	*n++
	if v.Type() == reflect.TypeFor[time.Time]() {
		v.Set(reflect.ValueOf(time.Date(2026, 1, 2, 3, 4, *n, 6_000_000, time.UTC)))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(fmt.Sprintf("text %d ä", *n))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(int64(*n))
	case reflect.Uint32:
		v.SetUint(uint64(*n))
	case reflect.Uint8:
		v.SetUint(uint64(*n % 256))
	case reflect.Float64:
		v.SetFloat(float64(*n) + 0.5)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), n)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			fill(v.Index(i), n)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for range 2 {
			key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			fill(key, n)
			fill(value, n)
			v.SetMapIndex(key, value)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), n)
		}
	default:
		panic("plugintest: no value for " + v.Type().String())
	}
}
