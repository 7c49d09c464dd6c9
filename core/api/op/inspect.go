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
	// maxDepth of nested objects and arrays in a body.
	maxDepth = 32
	// maxFaults told in one answer. A body is not looked at any further once it has so many.
	maxFaults = 20
	// maxKey is how much of an unknown key is repeated in a fault's loc, in bytes.
	maxKey = 64
)

// findings is what is wrong with a body.
type findings struct {
	// raw is what encoding/json lets pass or stumbles over: text that is not
	// UTF-8, the same key twice, depth, NUL, numbers out of range, a second
	// value. misfits is what does not fit the schema.
	raw, misfits []problem.Fault
	// whole is false when the body cannot be bound, or when the rest of it was not looked at.
	whole bool
}

// inspect looks at a body that stands at location, once from its beginning to
// its end or to the last fault that is told. A nil schema is that of anything.
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

// depth is how deep arrays and objects are nested, in text that need not be JSON.
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

// invalidOffset is the offset of the first byte at which the body is no JSON any more.
func invalidOffset(body []byte) int64 {
	var nothing struct{}
	if syntax, ok := errors.AsType[*json.SyntaxError](json.Unmarshal(body, &nothing)); ok {
		return syntax.Offset
	}
	return int64(len(body))
}

// compareLocs orders places as they stand in a document whose keys are sorted.
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

// shortKey is a caller's key as a fault's loc repeats it.
func shortKey(key string) string {
	if len(key) > maxKey {
		key = strings.ToValidUTF8(key[:maxKey], "") + "…"
	}
	return strings.ReplaceAll(key, "\x00", "\uFFFD")
}
