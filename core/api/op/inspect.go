package op

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/hostler/hostler/core/problem"
)

const (
	// maxDepth of nested objects and arrays in a body.
	maxDepth = 32
	// maxFaults told in one answer, so that a hostile body does not make a larger answer.
	maxFaults = 100
	// maxKey is how much of an unknown key is repeated in a fault's loc, in bytes.
	maxKey = 64
)

// inspect looks for what encoding/json lets pass: text that is not UTF-8, the same key twice, depth, NUL, numbers out
// of range, a second value. whole is false when the body cannot be bound at all.
func inspect(body []byte) (faults []problem.Fault, whole bool) {
	if !utf8.Valid(body) {
		return []problem.Fault{{Loc: []any{"body"}, Msg: "not valid UTF-8", Type: "json_invalid"}}, false
	}
	in := &inspector{decoder: json.NewDecoder(bytes.NewReader(body))}
	in.decoder.UseNumber()
	err := in.value([]any{"body"})
	if err == nil {
		if _, err = in.decoder.Token(); err == io.EOF {
			return in.faults, true
		}
		err = errNotJSON
	}
	var fault *problem.Fault
	if f, ok := errors.AsType[*hopeless](err); ok {
		fault = &f.Fault
	} else {
		fault = &problem.Fault{Loc: []any{"body"}, Msg: "not well-formed JSON, near byte " + strconv.FormatInt(in.decoder.InputOffset(), 10), Type: "json_invalid"}
	}
	return append(in.faults, *fault), false
}

var errNotJSON = errors.New("something follows the value")

// hopeless is a fault that keeps the rest from being read.
type hopeless struct{ problem.Fault }

func (h *hopeless) Error() string { return h.Msg }

type inspector struct {
	decoder *json.Decoder
	faults  []problem.Fault
}

func (in *inspector) add(f problem.Fault) {
	if len(in.faults) < maxFaults {
		f.Loc = slices.Clone(f.Loc)
		in.faults = append(in.faults, f)
	}
}

// value reads one value; loc is where it stands.
func (in *inspector) value(loc []any) error {
	token, err := in.decoder.Token()
	if err != nil {
		return err
	}
	switch t := token.(type) {
	case string:
		if fault, bad := unfit(t, loc...); bad {
			in.add(fault)
		}
	case json.Number:
		return in.number(t, loc)
	case json.Delim:
		if len(loc) > maxDepth {
			return &hopeless{problem.Fault{Loc: []any{"body"}, Msg: "nested deeper than " + strconv.Itoa(maxDepth), Type: "too_deep"}}
		}
		if t == '{' {
			err = in.object(loc)
		} else {
			err = in.array(loc)
		}
		if err == nil {
			_, err = in.decoder.Token() // the closing bracket
		}
		return err
	}
	return nil
}

func (in *inspector) object(loc []any) error {
	seen := map[string]bool{}
	for in.decoder.More() {
		token, err := in.decoder.Token()
		if err != nil {
			return err
		}
		key, _ := token.(string) // the decoder refuses every other kind of key
		at := append(loc, shortKey(key))
		if _, bad := unfit(key); bad {
			in.add(problem.Fault{Loc: loc, Msg: "a key must not contain the character NUL", Type: "string_nul"})
		}
		if seen[key] {
			in.add(problem.Fault{Loc: at, Msg: "given twice", Type: "duplicate_key"})
		}
		seen[key] = true
		if err := in.value(at); err != nil {
			return err
		}
	}
	return nil
}

func (in *inspector) array(loc []any) error {
	for i := 0; in.decoder.More(); i++ {
		if err := in.value(append(loc, i)); err != nil {
			return err
		}
	}
	return nil
}

// number refuses what no field could hold.
func (in *inspector) number(n json.Number, loc []any) error {
	if strings.ContainsAny(n.String(), ".eE") {
		if _, err := n.Float64(); err != nil {
			return &hopeless{problem.Fault{Loc: slices.Clone(loc), Msg: "number out of range", Type: "number_out_of_range"}}
		}
		return nil
	}
	if _, err := n.Int64(); err != nil {
		return &hopeless{problem.Fault{Loc: slices.Clone(loc), Msg: "integer out of range", Type: "int_out_of_range"}}
	}
	return nil
}

// shortKey is a caller's key as a fault's loc repeats it.
func shortKey(key string) string {
	if len(key) > maxKey {
		key = strings.ToValidUTF8(key[:maxKey], "") + "…"
	}
	return strings.ReplaceAll(key, "\x00", "\uFFFD")
}
