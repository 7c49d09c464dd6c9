package plugintest

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
)

// RoundTrip checks that nothing is lost between a struct and its protobuf message: it fills every field of the struct with a
// value of its own, nested ones too, brings it to the message, over the wire and back, and wants the same. It also wants
// every field of the message set, but for those named in except, which the conversion leaves to its caller. Texts that must
// be of a closed list are none of its cases.
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

// unset reports the fields of a message that have no value.
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

// fill gives every field a value that no other has.
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
