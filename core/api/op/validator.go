package op

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/validation"

	"github.com/hostler/hostler/core/problem"
)

// validator checks well-formed JSON against a schema while it reads the text,
// and stops at the last fault that is reported. The validation of huma needs
// the value as maps and slices and collects every fault. It is only used for
// single strings, numbers and booleans.
type validator struct {
	cursor
	registry huma.Registry
	location []any
	path     []place
	// keys are the keys of all open objects, the outermost first.
	keys         []string // of all open objects, the outermost first
	raw, misfits []problem.Fault
	// unbound is set if the body must not be bound.
	unbound bool
}

// place is one step of a path: a key, or an index if index is not -1.
type place struct {
	key   string
	index int
}

var (
	// errEnough ends the check when it has found maxFaults.
	errEnough = errors.New("enough faults")
	// errUnbound ends the check at a fault after which the body cannot be
	// bound.
	errUnbound = errors.New("cannot be bound")
)

// Thresholds of the validator.
const (
	// fewKeys is up to how many keys of an object are compared one by one.
	// Further keys are in a map.
	fewKeys = 16
	// longText is the length in bytes from which a string that is too long gets
	// no other fault.
	longText = 4096
)

// loc returns the place of the value that is being read.
func (v *validator) loc() []any {
	loc := slices.Clone(v.location)
	for _, p := range v.path {
		if p.index >= 0 {
			loc = append(loc, p.index)
		} else {
			loc = append(loc, shortKey(p.key))
		}
	}
	return loc
}

// rawFault records a fault of the text itself and returns an error when there
// are enough faults.
func (v *validator) rawFault(msg, kind string) error {
	v.raw = append(v.raw, problem.Fault{Loc: v.loc(), Msg: msg, Type: kind})
	return v.enoughFaults()
}

// schemaFault records a fault of the schema and returns an error when there are
// enough faults.
func (v *validator) schemaFault(msg, kind string) error {
	v.misfits = append(v.misfits, problem.Fault{Loc: v.loc(), Msg: msg, Type: kind})
	return v.enoughFaults()
}

// enoughFaults returns errEnough when no further faults are wanted.
func (v *validator) enoughFaults() error {
	if len(v.raw)+len(v.misfits) >= maxFaults {
		return errEnough
	}
	return nil
}

// value reads one value and checks it against the schema. A nil schema accepts
// every value.
func (v *validator) value(s *huma.Schema) error {
	if v.next() == 'n' && s != nil && s.Nullable { // said of a reference, it is not said of what it leads to
		v.bare()
		return nil
	}
	s = v.resolve(s)
	switch v.next() {
	case '{':
		return v.object(s)
	case '[':
		return v.array(s)
	case '"':
		return v.string(s)
	case 't', 'f':
		return v.validateScalar(s, v.bare() == "true")
	case 'n':
		v.bare()
		return v.validateScalar(s, nil)
	}
	return v.number(s, v.bare())
}

// resolve follows references and returns the schema itself.
func (v *validator) resolve(s *huma.Schema) *huma.Schema {
	for s != nil && s.Ref != "" {
		s = v.registry.SchemaFromRef(s.Ref)
	}
	return s
}

// validateScalar has huma check a string, a number, a boolean or null. It also
// takes an empty object or array, to get huma's fault for a value of the wrong
// type.
func (v *validator) validateScalar(s *huma.Schema, value any) error {
	if s == nil {
		return nil
	}
	var result huma.ValidateResult
	huma.Validate(v.registry, s, huma.NewPathBuffer(nil, 0), huma.ModeWriteToServer, value, &result)
	for _, err := range result.Errors {
		fault := translate(err)
		if err := v.schemaFault(fault.Msg, fault.Type); err != nil {
			return err
		}
	}
	return nil
}

// object checks a JSON object while it reads it, without building a tree:
// duplicate keys, unknown keys, each member and the required keys.
func (v *validator) object(s *huma.Schema) error {
	v.at++
	if s != nil && s.Type != huma.TypeObject {
		if err := v.validateScalar(s, map[string]any{}); err != nil {
			return err
		}
		s = nil
	}
	first := len(v.keys)
	defer func() { v.keys = v.keys[:first] }()
	// more has the keys beyond fewKeys.
	var more map[string]bool // beyond fewKeys
	given := func(key string) bool { return more[key] || slices.Contains(v.keys[first:], key) }
	for !v.ends() {
		written := v.key()
		key := written.text()
		if msg, kind := written.unfit(); kind != "" {
			if err := v.rawFault("a key "+msg, kind); err != nil {
				return err
			}
		}
		twice := given(key)
		switch {
		case len(v.keys)-first < fewKeys:
			v.keys = append(v.keys, key)
		case more == nil:
			more = map[string]bool{key: true}
		default:
			more[key] = true
		}
		v.path = append(v.path, place{key, -1})
		if err := v.member(s, key, twice); err != nil {
			return err
		}
		v.path = v.path[:len(v.path)-1]
	}
	if s == nil {
		return nil
	}
	for _, name := range s.Required {
		if property := s.Properties[name]; given(name) || property != nil && property.ReadOnly {
			continue
		}
		v.path = append(v.path, place{name, -1})
		if err := v.schemaFault("required", "missing"); err != nil {
			return err
		}
		v.path = v.path[:len(v.path)-1]
	}
	return nil
}

// member reads and checks the value of one key. s is the schema of the object
// that contains the key.
func (v *validator) member(s *huma.Schema, key string, twice bool) error {
	if twice {
		if err := v.rawFault("given twice", "duplicate_key"); err != nil {
			return err
		}
	}
	if s == nil {
		return v.value(nil)
	}
	property, known := s.Properties[key]
	if !known {
		switch further := s.AdditionalProperties.(type) {
		case *huma.Schema:
			property = further
		case bool:
			if !further {
				if err := v.schemaFault("unknown key", "extra_forbidden"); err != nil {
					return err
				}
			}
		}
		return v.value(property)
	}
	if v.next() == 'n' && !slices.Contains(s.Required, key) && !property.Nullable && !admitsAll(property) {
		v.bare()
		return v.schemaFault("must not be null", "null_forbidden")
	}
	if isName(key) && v.next() == '"' {
		if err := v.seen(); err != nil {
			return err
		}
	}
	return v.value(property)
}

// array validates a JSON array, element by element.
func (v *validator) array(s *huma.Schema) error {
	v.at++
	if s != nil && s.Type != huma.TypeArray {
		if err := v.validateScalar(s, []any{}); err != nil {
			return err
		}
		s = nil
	}
	var items *huma.Schema
	most := -1
	if s != nil {
		items = s.Items
		if s.MaxItems != nil {
			most = *s.MaxItems
		}
	}
	n := 0
	for ; !v.ends(); n++ {
		if n == most {
			v.leave()
			v.unbound = true // nobody needs so many values to say more of them
			return v.schemaFault(plain(fmt.Sprintf(validation.MsgExpectedMaxItems, most)))
		}
		v.path = append(v.path, place{"", n})
		if err := v.value(items); err != nil {
			return err
		}
		v.path = v.path[:len(v.path)-1]
	}
	if s != nil && s.MinItems != nil && n < *s.MinItems {
		return v.schemaFault(plain(fmt.Sprintf(validation.MsgExpectedMinItems, *s.MinItems)))
	}
	return nil
}

// string validates a JSON string.
func (v *validator) string(s *huma.Schema) error {
	written := v.quoted()
	if msg, kind := written.unfit(); kind != "" {
		if err := v.rawFault(msg, kind); err != nil {
			return err
		}
	}
	if s == nil {
		return nil
	}
	text := written.text()
	if s.MaxLength != nil && len(text) > longText && utf8.RuneCountInString(text) > *s.MaxLength {
		return v.schemaFault(plain(fmt.Sprintf(validation.MsgExpectedMaxLength, *s.MaxLength)))
	}
	return v.validateScalar(s, text)
}

// number checks a number. It refuses integers outside of int64 and floats
// outside of float64, which no field can hold.
func (v *validator) number(s *huma.Schema, written string) error {
	whole := !strings.ContainsAny(written, ".eE")
	if whole {
		if _, err := strconv.ParseInt(written, 10, 64); err != nil {
			v.raw = append(v.raw, problem.Fault{Loc: v.loc(), Msg: "integer out of range", Type: "int_out_of_range"})
			return errUnbound
		}
		if s == nil {
			return nil
		}
	}
	value, err := strconv.ParseFloat(written, 64)
	switch {
	case err != nil:
		v.raw = append(v.raw, problem.Fault{Loc: v.loc(), Msg: "number out of range", Type: "number_out_of_range"})
		return errUnbound
	case s != nil && s.Type == huma.TypeInteger && !whole: // encoding/json binds 2.0 to no integer
		return v.schemaFault(wholeNumber, "int_type")
	}
	return v.validateScalar(s, value)
}
