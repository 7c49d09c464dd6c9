package op

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"github.com/hostler/hostler/core/problem"
)

// Limits of a JSON body.
const (
	// maxDepth is the maximum depth of nested objects and arrays in a body.
	maxDepth = 32
	// maxFaults is the maximum number of faults in one answer. The check of a
	// body ends when it has found so many.
	maxFaults = 20
	// maxKey is how many bytes of an unknown key are repeated in the loc of a
	// fault.
	maxKey = 64
)

// findings has everything that is wrong with a body.
type findings struct {
	// raw has the faults that encoding/json either accepts or reports badly:
	// invalid UTF-8, a key given twice, too much depth, NUL, numbers out of
	// range, a second value. misfits has the faults against the schema.
	raw, misfits []problem.Fault
	// whole is false if the body cannot be bound, or if its rest was not
	// checked.
	whole bool
}

// inspect checks a body in one pass, up to its end or to the last fault that is
// reported. location is the place of the body in the faults. A nil schema
// accepts every value. It runs before huma binds the body, so that one answer
// can list all faults with their places.
func inspect(body []byte, location []any, registry huma.Registry, schema *huma.Schema) findings {
	hopeless := func(msg, kind string) findings {
		return findings{raw: []problem.Fault{{Loc: location, Msg: msg, Type: kind}}}
	}
	text := string(body) // its keys are parts of it
	switch {
	case !utf8.ValidString(text):
		return hopeless("not valid UTF-8", "json_invalid")
	case depth(text) > maxDepth:
		return hopeless("nested deeper than "+strconv.Itoa(maxDepth), "too_deep")
	case !json.Valid(body):
		return hopeless("not well-formed JSON, near byte "+strconv.FormatInt(invalidOffset(body), 10), "json_invalid")
	}
	v := &validator{cursor: cursor{text: text}, registry: registry, location: location}
	err := v.value(schema)
	slices.SortStableFunc(v.misfits, func(a, b problem.Fault) int { return compareLocs(a.Loc, b.Loc) })
	return findings{raw: v.raw, misfits: v.misfits, whole: err == nil && !v.unbound}
}

// depth returns how deep arrays and objects are nested. The text need not be
// valid JSON.
func depth(text string) (most int) {
	now, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			quoted = !quoted
		case quoted && c == '\\':
			i++
		case quoted:
		case c == '[' || c == '{':
			now++
			most = max(most, now)
		case c == ']' || c == '}':
			now--
		}
	}
	return most
}

// invalidOffset returns the offset of the first byte at which the body stops
// being JSON.
func invalidOffset(body []byte) int64 {
	var nothing struct{}
	if syntax, ok := errors.AsType[*json.SyntaxError](json.Unmarshal(body, &nothing)); ok {
		return syntax.Offset
	}
	return int64(len(body))
}

// compareLocs compares two places in the order of a document with sorted keys.
func compareLocs(a, b []any) int {
	return slices.CompareFunc(a, b, func(x, y any) int {
		i, isIndex := x.(int)
		j, isToo := y.(int)
		if isIndex && isToo {
			return i - j
		}
		s, _ := x.(string)
		t, _ := y.(string)
		return strings.Compare(s, t)
	})
}

// shortKey returns a key of the caller in the form in which the loc of a fault
// repeats it: shortened, and without NUL.
func shortKey(key string) string {
	if len(key) > maxKey {
		key = strings.ToValidUTF8(key[:maxKey], "") + "…"
	}
	return strings.ReplaceAll(key, "\x00", "\uFFFD")
}
