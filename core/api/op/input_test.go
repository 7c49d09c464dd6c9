package op_test

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/hostler/hostler/core/api/op"
)

// faults are the faults of a 422 as "loc.loc type".
func faults(t *testing.T, w *httptest.ResponseRecorder) []string {
	t.Helper()
	var answer struct {
		Detail []struct {
			Loc  []any
			Msg  string
			Type string
		}
	}
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil {
		t.Fatalf("%d %s: %v", w.Code, w.Body, err)
	}
	var all []string
	for _, f := range answer.Detail {
		if f.Msg == "" || f.Type == "value_error" || strings.Contains(f.Msg, "e+") {
			t.Errorf("a fault without a proper message or type: %+v", f)
		}
		loc := make([]string, len(f.Loc))
		for i := range f.Loc {
			loc[i] = fmt.Sprint(f.Loc[i])
		}
		all = append(all, strings.Join(loc, "/")+" "+f.Type)
	}
	return all
}

func TestFaults(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat(`{"a":`, 40) + "1" + strings.Repeat("}", 40)
	tests := []struct {
		name, method, path, body string
		want                     []string
	}{
		{"no body", "POST", "/api/v1/hosts", "", []string{"body missing"}},
		{"blank body", "POST", "/api/v1/hosts", "  \n", []string{"body missing"}},
		{"null for a required body", "POST", "/api/v1/hosts", "null", []string{"body dict_type"}},
		{"array for an object", "POST", "/api/v1/hosts", `[1]`, []string{"body dict_type"}},
		{"missing key", "POST", "/api/v1/hosts", `{}`, []string{"body/name missing"}},
		{"wrong types", "POST", "/api/v1/hosts", `{"name":7,"cores":"x","verify":1,"items":{},"options":[]}`,
			[]string{"body/cores int_type", "body/items list_type", "body/name string_type", "body/options dict_type", "body/verify bool_type"}},
		{"null for a required key", "POST", "/api/v1/hosts", `{"name":null}`, []string{"body/name string_type"}},
		{"limits", "POST", "/api/v1/hosts",
			`{"name":"","cores":65,"secret":"A1","kind":"zfs","items":[{"size":1},{"size":2},{"size":3},{"size":4}],"mail":"x"}`,
			[]string{"body/cores less_than_equal", "body/items too_long", "body/kind enum", "body/mail email", "body/name too_short",
				"body/secret string_pattern_mismatch"}},
		{"negative", "POST", "/api/v1/hosts", `{"name":"a","cores":-1}`, []string{"body/cores greater_than_equal"}},
		{"fraction for an integer", "POST", "/api/v1/hosts", `{"name":"a","cores":1.5}`, []string{"body/cores int_type"}},
		{"whole number with a point", "POST", "/api/v1/hosts", `{"name":"a","cores":2.0}`, []string{"body/cores int_type"}},
		{"unknown keys, sorted and last", "POST", "/api/v1/hosts", `{"z":1,"b":2,"name":""}`,
			[]string{"body/name too_short", "body/b extra_forbidden", "body/z extra_forbidden"}},
		{"keys are case-sensitive", "POST", "/api/v1/hosts", `{"Name":"a"}`, []string{"body/name missing", "body/Name extra_forbidden"}},
		{"keys with dots and brackets", "POST", "/api/v1/hosts", `{"name":"a","items":[{"size":1,"a.b[0]":1},{}]}`,
			[]string{"body/items/1/size missing", "body/items/0/a.b[0] extra_forbidden"}},
		{"dotted keys where any are allowed", "POST", "/api/v1/hosts", `{"options":{"a.b":1,"c[":{"d.e":null}},"kind":"x"}`,
			[]string{"body/kind enum", "body/name missing"}},
		{"empty key", "POST", "/api/v1/hosts", `{"name":"a","":1}`, []string{"body/ extra_forbidden"}},
		{"the same key twice", "POST", "/api/v1/hosts", `{"name":"a","items":[{"size":1,"size":2}],"name":"b"}`,
			[]string{"body/items/0/size duplicate_key", "body/name duplicate_key"}},
		{"NUL in a text", "POST", "/api/v1/hosts", `{"name":"a\u0000"}`, []string{"body/name string_nul"}},
		{"half a surrogate pair", "POST", "/api/v1/hosts", `{"name":"\ud800"}`, []string{"body/name string_unicode"}},
		{"the other half", "POST", "/api/v1/hosts", `{"name":"a\udc00b"}`, []string{"body/name string_unicode"}},
		{"the halves changed over", "POST", "/api/v1/hosts", `{"name":"\udc00\ud800"}`, []string{"body/name string_unicode"}},
		{"half a pair and another character", "POST", "/api/v1/hosts", `{"name":"\ud800\u0041"}`, []string{"body/name string_unicode"}},
		{"half a pair after a whole one", "POST", "/api/v1/hosts", `{"name":"\ud83d\ude00\\\ud83d"}`, []string{"body/name string_unicode"}},
		{"half a pair deep within", "POST", "/api/v1/hosts", `{"name":"a","options":{"a":[{"b":"\uDFFF"}]}}`,
			[]string{"body/options/a/0/b string_unicode"}},
		{"half a pair in a key", "POST", "/api/v1/hosts", `{"name":"a","options":{"\ud800":1}}`, []string{"body/options string_unicode"}},
		{"a name of no width", "POST", "/api/v1/hosts", `{"name":"\u200b\u200d\ufeff"}`, []string{"body/name string_invisible"}},
		{"a name of direction marks", "POST", "/api/v1/hosts", `{"name":"\u202e\u2066"}`, []string{"body/name string_invisible"}},
		{"a name of control characters", "POST", "/api/v1/hosts", `{"name":"\u0007\u0085\u0008"}`, []string{"body/name string_invisible"}},
		{"a name of fillers", "POST", "/api/v1/hosts", `{"name":"\u3164\u115f\u1160\uffa0"}`, []string{"body/name string_invisible"}},
		{"a name of blank braille", "POST", "/api/v1/hosts", `{"name":" \u2800 "}`, []string{"body/name string_invisible"}},
		{"a name of variation selectors", "POST", "/api/v1/hosts", `{"name":"\ufe0f\udb40\udd00\u034f\u17b5"}`,
			[]string{"body/name string_invisible"}},
		{"a name of tags", "POST", "/api/v1/hosts", `{"name":"\udb40\udc41\u00ad"}`, []string{"body/name string_invisible"}},
		{"a name of nobody's characters", "POST", "/api/v1/hosts", `{"name":"\ue000\uffff"}`, []string{"body/name string_invisible"}},
		{"an invisible name in a patch", "PATCH", "/api/v1/hosts/7", `{"name":"\u200b"}`, []string{"body/name string_invisible"}},
		{"query keys without a value", "GET", "/api/v1/hosts?page=&q&per_page=5&per_page=&other=", "",
			[]string{"query/page empty", "query/per_page empty", "query/q empty"}},
		{"a whole number with a point in a list", "POST", "/api/v1/hosts", `{"name":"a","items":[{"size":1},{"size":1.0}]}`,
			[]string{"body/items/1/size int_type"}},
		{"NUL in a key", "POST", "/api/v1/hosts", `{"name":"a","options":{"\u0000":1}}`, []string{"body/options string_nul"}},
		{"not UTF-8", "POST", "/api/v1/hosts", "{\"name\":\"\xff\"}", []string{"body json_invalid"}},
		{"huge integer", "POST", "/api/v1/hosts", `{"name":"a","items":[{"size":99999999999999999999}]}`,
			[]string{"body/items/0/size int_out_of_range"}},
		{"huge exponent", "POST", "/api/v1/hosts", `{"name":"a","options":{"x":1e999}}`, []string{"body/options/x number_out_of_range"}},
		{"too deep", "POST", "/api/v1/hosts", deep, []string{"body too_deep"}},
		{"far too deep", "POST", "/api/v1/hosts", strings.Repeat("[", 1<<19), []string{"body too_deep"}},
		{"cut off", "POST", "/api/v1/hosts", `{"name":"a"`, []string{"body json_invalid"}},
		{"trailing", "POST", "/api/v1/hosts", `{"name":"a"} {}`, []string{"body json_invalid"}},
		{"comment", "POST", "/api/v1/hosts", `{"name":"a"/**/}`, []string{"body json_invalid"}},
		{"not JSON", "POST", "/api/v1/hosts", `name=a`, []string{"body json_invalid"}},
		{"path and body together", "PATCH", "/api/v1/hosts/x", `{"port":0,"name":"123456789"}`,
			[]string{"path/host_id int_parsing", "body/name too_long", "body/port greater_than_equal"}},
		{"path and no JSON together", "PATCH", "/api/v1/hosts/0", `{`, []string{"body json_invalid", "path/host_id greater_than_equal"}},
		{"patch that changes nothing", "PATCH", "/api/v1/hosts/7", `{}`, []string{"body nothing_to_change"}},
		{"patch that changes nothing on a missing thing", "PATCH", "/api/v1/hosts/99", `{}`, []string{"body nothing_to_change"}},
		{"a number that is none", "GET", "/api/v1/hosts?rate=NaN", "", []string{"query/rate finite_number"}},
		{"infinity", "GET", "/api/v1/hosts?rate=-Inf", "", []string{"query/rate finite_number"}},
		{"negative id", "GET", "/api/v1/hosts/-1", "", []string{"path/host_id greater_than_equal"}},
		{"huge id", "GET", "/api/v1/hosts/9223372036854775808", "", []string{"path/host_id int_parsing"}},
		{"optional body not JSON", "DELETE", "/api/v1/hosts/7", `{`, []string{"body json_invalid"}},
		{"optional body with an unknown key", "DELETE", "/api/v1/hosts/7", `{"confrim":"yes"}`, []string{"body/confrim extra_forbidden"}},
		{"page and per_page", "GET", "/api/v1/hosts?page=0&per_page=501", "",
			[]string{"query/page greater_than_equal", "query/per_page less_than_equal"}},
		{"page that would overflow", "GET", "/api/v1/hosts?page=9223372036854775807", "", []string{"query/page less_than_equal"}},
		{"page that is no number", "GET", "/api/v1/hosts?page=1e3", "", []string{"query/page int_parsing"}},
		{"NUL in the query", "GET", "/api/v1/hosts?q=%00", "", []string{"query/q string_nul"}},
		{"query that is not UTF-8", "GET", "/api/v1/hosts?q=%ff", "", []string{"query/q string_unicode"}},
		{"malformed query", "GET", "/api/v1/hosts?q=%zz", "", []string{"query query_invalid"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newSample(t, sampleConfig{})
			w := s.call(tt.method, tt.path, tt.body, as("owner")...)
			if got := faults(t, w); w.Code != 422 || !slices.Equal(got, tt.want) {
				t.Errorf("%d\n got %q\nwant %q", w.Code, got, tt.want)
			}
		})
	}
}

func TestFaultsNeverEchoTheValue(t *testing.T) {
	t.Parallel()
	const canary = "CANARY99"
	s := newSample(t, sampleConfig{})
	for _, body := range []string{
		`{"name":{"x":"CANARY99"}}`, `{"name":["CANARY99"]}`, `{"cores":"CANARY99","verify":"CANARY99","items":"CANARY99","options":"CANARY99"}`,
		`{"secret":"CANARY99","kind":"CANARY99","mail":"CANARY99"}`, `{"name":"CANARY99CANARY99CANARY99"}`, `{"nam":"CANARY99"}`,
		`{"name":"CANARY99`, `"CANARY99"`, `CANARY99`, `{"name":"CANARY99"}CANARY99`, `{"mail":"<CANARY99"}`, `{"items":[{"size":"CANARY99"}]}`,
	} {
		if w := s.call("POST", "/api/v1/hosts", body, as("owner")...); w.Code != 422 || strings.Contains(w.Body.String(), canary) {
			t.Errorf("%s: %d %s", body, w.Code, w.Body)
		}
	}
	for _, path := range []string{"/api/v1/hosts/CANARY99", "/api/v1/hosts?page=CANARY99", "/api/v1/hosts?q=CANARY99CANARY99"} {
		if w := s.call("GET", path, "", as("owner")...); w.Code != 422 || strings.Contains(w.Body.String(), canary) {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
}

func TestAnswerToManyFaultsIsBounded(t *testing.T) {
	t.Parallel()
	s := newSample(t, sampleConfig{})
	var b strings.Builder
	b.WriteString(`{"name":"a"`)
	for i := range 20000 {
		fmt.Fprintf(&b, `,"%s%d":1`, strings.Repeat("k", 30), i)
	}
	b.WriteString("}")
	if w := s.call("POST", "/api/v1/hosts", b.String(), as("owner")...); w.Code != 422 || w.Body.Len() > 32<<10 {
		t.Errorf("%d, %d bytes", w.Code, w.Body.Len())
	}
}

func TestBodies(t *testing.T) {
	t.Parallel()
	const ok = `{"name":"a"}`
	tests := []struct {
		name, method, path, body, media string
		headers                         []string
		status                          int
	}{
		{"JSON with a charset", "POST", "/api/v1/hosts", ok, "application/json; charset=UTF-8", nil, 201},
		{"text smuggled", "POST", "/api/v1/hosts", ok, "text/plain", nil, 415},
		{"form", "POST", "/api/v1/hosts", ok, "application/x-www-form-urlencoded", nil, 415},
		{"no type", "POST", "/api/v1/hosts", ok, "", nil, 415},
		{"malformed type", "POST", "/api/v1/hosts", ok, "application/json;;", nil, 415},
		{"JSON in a parameter of text", "POST", "/api/v1/hosts", ok, "text/plain; a=application/json", nil, 415},
		{"other charset", "POST", "/api/v1/hosts", ok, "application/json; charset=utf-16", nil, 415},
		{"compressed", "POST", "/api/v1/hosts", ok, "application/json", []string{"Content-Encoding", "gzip"}, 415},
		{"too large", "POST", "/api/v1/hosts", `{"name":"` + strings.Repeat("a", 1<<20) + `"}`, "application/json", nil, 413},
		{"too large where none is declared", "POST", "/api/v1/hosts/7/start", strings.Repeat("a", 1<<20+1), "text/plain", nil, 413},
		{"something where none is taken", "POST", "/api/v1/hosts/7/start", `{"confirm":"x"}`, "application/json", nil, 422},
		{"anything where none is taken", "POST", "/api/v1/hosts/7/start", "whatever", "text/plain", nil, 422},
		{"an empty object where none is taken", "POST", "/api/v1/hosts/7/start", " {} ", "application/json", nil, 202},
		{"nothing with a type where none is taken", "POST", "/api/v1/hosts/7/start", "", "application/x-www-form-urlencoded", nil, 202},
		{"optional, none", "DELETE", "/api/v1/hosts/7", "", "", nil, 409},
		{"optional, empty with a type", "DELETE", "/api/v1/hosts/7", "", "application/json", nil, 409},
		{"optional, null", "DELETE", "/api/v1/hosts/7", "null", "application/json", nil, 409},
		{"optional, empty object", "DELETE", "/api/v1/hosts/7", "{}", "application/json", nil, 409},
		{"optional, given", "DELETE", "/api/v1/hosts/7", `{"confirm":"yes"}`, "application/json", nil, 204},
		{"the client asks for XML", "POST", "/api/v1/hosts", ok, "application/json", []string{"Accept", "text/xml"}, 201},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newSample(t, sampleConfig{})
			headers := append(as("owner"), tt.headers...)
			w := s.call(tt.method, tt.path, tt.body, append(headers, "Content-Type", tt.media)...)
			if w.Code != tt.status {
				t.Errorf("%d %s", w.Code, w.Body)
			}
			if w.Code == 201 && w.Header().Get("Content-Type") != "application/json" {
				t.Errorf("Content-Type %q", w.Header().Get("Content-Type"))
			}
			if w.Code == 204 && w.Body.Len() > 0 {
				t.Errorf("a 204 with %q", w.Body)
			}
		})
	}
}

// What looks like one of the above and is none.
func TestTextsThatAreTaken(t *testing.T) {
	t.Parallel()
	s := newSample(t, sampleConfig{})
	for _, name := range []string{`\ud83d\ude00`, `\\ud800`, `\\\\udc00`, `a\u200b`, `\u200ba`, `\u0301`, `\u202e.`, `\u2801`, `가`, `.`,
		`\ud83d\udc69\u200d\ud83d\udcbb`} {
		if w := s.call("POST", "/api/v1/hosts", `{"name":"`+name+`"}`, as("owner")...); w.Code != 201 {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
	}
	if w := s.call("POST", "/api/v1/hosts", `{"name":"a","options":{"title":"\u200b"}}`, as("owner")...); w.Code != 201 {
		t.Errorf("a text that is no name: %d %s", w.Code, w.Body)
	}
	if w := s.call("GET", "/api/v1/hosts?nothing=&nor", "", as("viewer")...); w.Code != 200 {
		t.Errorf("unknown query keys without a value: %d %s", w.Code, w.Body)
	}
}

func TestDefaultsDoNotReplaceWhatWasGiven(t *testing.T) {
	t.Parallel()
	s := newSample(t, sampleConfig{})
	verify := func(body string) (bool, int) {
		t.Helper()
		if w := s.call("POST", "/api/v1/hosts", body, as("admin")...); w.Code != 201 {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		v := reflect.ValueOf(s.got)
		return v.FieldByName("Verify").Elem().Bool(), int(v.FieldByName("Cores").Int())
	}
	if on, cores := verify(`{"name":"a"}`); !on || cores != 2 {
		t.Errorf("defaults: %v, %d", on, cores)
	}
	if on, cores := verify(`{"name":"a","verify":false,"cores":5}`); on || cores != 5 {
		t.Errorf("given: %v, %d", on, cores)
	}
}

func TestOptional(t *testing.T) {
	t.Parallel()
	type body = struct {
		Name op.Optional[string] `json:"name,omitzero" maxLength:"8"`
		Port op.Optional[int]    `json:"port,omitzero" minimum:"1"`
	}
	for input, want := range map[string]body{
		`{"name":null}`:            {Name: op.Optional[string]{Set: true, Null: true}},
		`{"name":"a","port":null}`: {Name: op.Optional[string]{Set: true, Value: "a"}, Port: op.Optional[int]{Set: true, Null: true}},
		`{"port":8006}`:            {Port: op.Optional[int]{Set: true, Value: 8006}},
	} {
		s := newSample(t, sampleConfig{})
		if w := s.call("PATCH", "/api/v1/hosts/7", input, as("admin")...); w.Code != 200 || s.got != want {
			t.Errorf("%s: %d, %+v, want %+v", input, w.Code, s.got, want)
		}
		if out, err := json.Marshal(want); err != nil || string(out) != input {
			t.Errorf("marshals as %s, %v; want %s", out, err, input)
		}
	}
}

func TestPage(t *testing.T) {
	t.Parallel()
	s := newSample(t, sampleConfig{})
	w := s.call("GET", "/api/v1/hosts?page=3&unknown=1", "", as("viewer")...)
	if in := s.got.(listIn); w.Code != 200 || in.Offset() != 100 || in.Limit() != 50 {
		t.Errorf("%d %+v", w.Code, s.got)
	}
	if w.Body.String() != "[]\n" || w.Header().Get("X-Total-Count") != "0" {
		t.Errorf("an empty list is %q, total %q", w.Body, w.Header().Get("X-Total-Count"))
	}
}

// FuzzBody sends any bytes as a body: the answer is a success or a problem, never a 500.
func FuzzBody(f *testing.F) {
	for _, seed := range []string{
		`{"name":"a"}`, `{"name":"a","items":[{"size":1},{"x.y[":2}],"options":{"a":{"b":[null,1.0]}}}`, `{"name":null,"cores":1e2}`,
		`[[[[]]]]`, `"\ud800"`,
		`{"name":"a","kind":{"lxc":1},"verify":null,"mail":"a@b","secret":"abc"}`, `{"":{"":""},"\u0000":0,"a":-0}`, "\xff", `{"name":"a"}{`,
	} {
		f.Add([]byte(seed))
	}
	s := newSample(f, sampleConfig{})
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, target := range []string{"POST /api/v1/hosts", "PATCH /api/v1/hosts/7", "DELETE /api/v1/hosts/7"} {
			method, path, _ := strings.Cut(target, " ")
			w := s.call(method, path, string(body), as("owner")...)
			if w.Code >= 500 || (w.Code >= 400 && !json.Valid(w.Body.Bytes())) {
				t.Errorf("%s: %d %s", target, w.Code, w.Body)
			}
		}
		s.entries = nil
	})
}
