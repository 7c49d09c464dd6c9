package op

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"

	"github.com/hostler/hostler/core/problem"
)

type part struct {
	Size  int64    `json:"size" minimum:"1"`
	Parts []part   `json:"parts,omitempty" maxItems:"3"`
	Tags  []string `json:"tags,omitempty" minItems:"1" maxItems:"2"`
}

type whole struct {
	Label  string           `json:"label" minLength:"1" maxLength:"5"`
	Kind   string           `json:"kind,omitempty" enum:"lxc,qemu"`
	Code   string           `json:"code,omitempty" pattern:"^[a-z]+$"`
	Rate   float64          `json:"rate,omitempty" maximum:"1"`
	On     *bool            `json:"on,omitempty"`
	Part   *part            `json:"part,omitempty"`
	Parts  []part           `json:"parts,omitempty" maxItems:"3"`
	Others map[string]part  `json:"others,omitempty"`
	Any    Object           `json:"any,omitempty"`
	Void   IgnoredValue     `json:"void,omitzero"`
	Word   Optional[string] `json:"word,omitzero" maxLength:"3"`
}

// FuzzValidator holds the validator against huma's own validation: what is no fault to the one is none to the other.
func FuzzValidator(f *testing.F) {
	for _, seed := range []string{
		`{"label":"a"}`, `{"label":"a","kind":"lxc","code":"x","rate":0.5,"on":true,"part":{"size":1},"parts":[{"size":2,` +
			`"parts":[{"size":3}]}],"others":{"x":{"size":4}}}`,
		`{"label":null}`, `{"label":"a","on":null,"part":null,"parts":null,"word":null,"any":null}`, `{"label":"a","parts":[null]}`,
		`{"label":"a","parts":[{},{},{},{}]}`,
		`{"label":"a","parts":[{"size":1,"tags":[]},{"size":1,"tags":["a","b","c"]},{"size":0,"x":1}]}`,
		`{"label":"a","others":{"":{},"b":{"size":0}},"any":{"a":[[{}]]},"void":[1]}`,
		`{"label":"abcdef","kind":"x","code":"A","rate":2,"on":0,"word":"abcd"}`, `[{"label":"a"}]`, `"label"`, `null`, ` 7 `,
		`{"label":{},"kind":[],"rate":"1","on":"true","any":[],"parts":{}}`,
		`{"label" : "\u00e9\\\"" , "part" : {"size":9223372036854775807} }`, `{"label":"a","others":{"a":null}}`,
		`{"label":"a","any":{"k":"\ud83d\ude00"}}`,
	} {
		f.Add([]byte(seed))
	}
	registry := huma.NewMapRegistry("#/$defs/", huma.DefaultSchemaNamer)
	schema := registry.Schema(reflect.TypeFor[whole](), true, "Whole")
	checkSchema("whole", registry, schema)
	f.Fuzz(func(t *testing.T, body []byte) {
		found := inspect(body, []any{"body"}, registry, schema)
		if n := len(found.raw) + len(found.misfits); n > maxFaults {
			t.Fatalf("%d faults of %q", n, body)
		}
		var parsed any
		if err := json.Unmarshal(body, &parsed); err != nil {
			if found.whole {
				t.Fatalf("%q is no JSON: %v", body, err)
			}
			return
		}
		if len(found.raw) > 0 {
			return // huma does not see those
		}
		var result huma.ValidateResult
		huma.Validate(registry, schema, huma.NewPathBuffer(nil, 0), huma.ModeWriteToServer, parsed, &result)
		ours := slices.DeleteFunc(slices.Clone(found.misfits), func(fault problem.Fault) bool {
			// 1.0, which encoding/json refuses later; huma lets null pass for every key that is not required.
			return fault.Type == "null_forbidden" || fault.Type == "int_type" && len(result.Errors) == 0
		})
		if (len(ours) == 0) != (len(result.Errors) == 0) {
			t.Fatalf("%q: %v here, %v by huma", body, ours, result.Errors)
		}
		if err := json.Unmarshal(body, new(whole)); err != nil && len(found.misfits) == 0 {
			t.Fatalf("%q fits and cannot be bound: %v", body, err)
		}
	})
}

// The validator stops at the last fault that is told, wherever it stands.
func TestValidatorStops(t *testing.T) {
	t.Parallel()
	registry := huma.NewMapRegistry("#/$defs/", huma.DefaultSchemaNamer)
	schema := registry.Schema(reflect.TypeFor[whole](), true, "Whole")
	list := func(format string) string {
		var b strings.Builder
		for i := range 1000 {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	for name, body := range map[string]string{
		"unknown keys":             `{"label":"a"` + list(`,"k%d":0`) + `}`,
		"unknown keys of a part":   `{"label":"a","part":{"size":1` + list(`,"k%d":0`) + `}}`,
		"bad values":               `{"label":"a","others":{"":{"size":1}` + list(`,"k%d":{"size":0}`) + `}}`,
		"missing keys":             `{"label":"a","others":{"":{"size":1}` + list(`,"k%d":{}`) + `}}`,
		"bad types":                `{"label":"a","others":{"":{"size":1}` + list(`,"k%d":[]`) + `}}`,
		"texts for objects":        `{"label":"a","others":{"":{"size":1}` + list(`,"k%d":""`) + `}}`,
		"short lists":              `{"label":"a","others":{"":{"size":1}` + list(`,"k%d":{"size":1,"tags":[]}`) + `}}`,
		"fractions":                `{"label":"a","others":{"":{"size":1}` + list(`,"k%d":{"size":1.0}`) + `}}`,
		"the same key":             `{"label":"a","any":{"k0":0` + list(`,"k0":%d`) + `}}`,
		"NULs":                     `{"label":"a","any":{"":0` + list(`,"k%d":"\u0000"`) + `}}`,
		"NULs in keys":             `{"label":"a","any":{"":0` + list(`,"k%d\u0000":0`) + `}}`,
		"half surrogates, in part": `{"label":"a","any":{"":[0` + list(`,"%d\ud800"`) + `]}}`,
	} {
		found := inspect([]byte(body), []any{"body"}, registry, schema)
		if n := len(found.raw) + len(found.misfits); n != maxFaults || found.whole {
			t.Errorf("%s: %d faults, whole: %v", name, n, found.whole)
		}
		// One fault less is read to the end.
		found = inspect([]byte(`{"label":"a","kind":"x"}`), []any{"body"}, registry, schema)
		if len(found.misfits) != 1 || !found.whole {
			t.Errorf("%+v", found)
		}
	}
	found := inspect([]byte(`{"label":"a","parts":[`+strings.Repeat(`{},`, 1000)+`{}],"kind":"x"}`), []any{"body"}, registry, schema)
	if len(found.misfits) != 5 || found.whole {
		t.Errorf("a long list: %+v", found)
	}
}

// Many keys are told apart by a map and few are not; both see what is given twice and what is missing.
func TestValidatorKnowsKeys(t *testing.T) {
	t.Parallel()
	registry := huma.NewMapRegistry("#/$defs/", huma.DefaultSchemaNamer)
	schema := registry.Schema(reflect.TypeFor[whole](), true, "Whole")
	for n := range 3 * fewKeys {
		keys := make([]string, n+1)
		for i := range keys {
			keys[i] = fmt.Sprintf(`"k%d":{"k%d":0}`, i, i)
		}
		body := `{"label":"a","any":{` + strings.Join(keys, ",") + `}}`
		if found := inspect([]byte(body), nil, registry, schema); len(found.raw)+len(found.misfits) != 0 {
			t.Errorf("%d keys: %+v", n+1, found)
		}
		for i := range keys {
			body := `{"label":"a","any":{` + strings.Join(keys, ",") + fmt.Sprintf(`,"k%d":1}}`, i)
			if found := inspect([]byte(body), nil, registry, schema); len(found.raw) != 1 || found.raw[0].Type != "duplicate_key" {
				t.Errorf("key %d of %d twice: %+v", i, n+1, found)
			}
		}
	}
	found := inspect([]byte(`{"any":{"label":1}}`), nil, registry, schema)
	if len(found.misfits) != 1 || found.misfits[0].Type != "missing" {
		t.Errorf("a key of an object within: %+v", found)
	}
}

func TestValidatorCountsDepth(t *testing.T) {
	t.Parallel()
	for n, whole := range map[int]bool{1: true, maxDepth: true, maxDepth + 1: false, 5 * maxDepth: false} {
		for _, brackets := range []string{"[]", "{}"} {
			body := strings.Repeat("[", n-1) + brackets + strings.Repeat("]", n-1)
			if found := inspect([]byte(body), nil, nil, nil); found.whole != whole || !whole && found.raw[0].Type != "too_deep" {
				t.Errorf("%d nested: %+v", n, found)
			}
		}
	}
	if found := inspect([]byte(`"\\\"`+strings.Repeat("[", 100)+`"`), nil, nil, nil); !found.whole {
		t.Errorf("brackets in a text: %+v", found)
	}
}
