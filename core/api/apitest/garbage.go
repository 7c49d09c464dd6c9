package apitest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// GarbageConfig configures a run of Garbage.
type GarbageConfig struct {
	// Seed makes a run repeatable.
	Seed uint64
	// PerOperation is the number of requests to each operation; 0 means 60. The
	// short tier sends one twentieth of them.
	PerOperation int
	// As is the caller that sends them; nil means an owner.
	As *Caller
	// Skip has the IDs of operations to leave out, such as those that log the
	// caller out.
	Skip []string
	// Values has valid values by name, for parameters and for string and
	// integer fields of bodies, such as an existing host_id. With them some
	// requests get past the first checks.
	Values map[string]string
}

func (c *GarbageConfig) requests() int { return cmp.Or(c.PerOperation, 60) }

// garbageCanary is in invalid values. A 422 must not repeat it.
const garbageCanary = "gArBaGe7"

// Garbage sends invalid requests to every operation, generated from the OpenAPI
// document: wrong types, missing and unknown fields, huge and negative numbers,
// NUL, "..", deep nesting, and bodies that are not JSON. No answer may be a
// 500, take forever, repeat a rejected value, or be an error without a problem
// document.
func (a *API) Garbage(t *testing.T, config GarbageConfig) {
	t.Helper()
	if testing.Short() {
		config.PerOperation = max(1, config.requests()/20)
	}
	d := a.document(t)
	statuses := map[int]int{}
	for i, o := range d.operations {
		if !slices.Contains(config.Skip, o.ID) {
			t.Run(o.ID, func(t *testing.T) {
				for _, complaint := range a.garbage(t, d, i, config, statuses) {
					t.Error(complaint)
				}
			})
		}
	}
	t.Logf("%d operations, answers by status: %v", len(d.operations), statuses)
}

// garbage sends invalid requests to one operation and returns the complaints.
func (a *API) garbage(t testing.TB, d *document, i int, config GarbageConfig, statuses map[int]int) (complaints []string) {
	if config.As == nil {
		config.As = Owner
	}
	g := &generator{rand.New(rand.NewPCG(config.Seed, uint64(i))), d, config.Values}
	for range config.requests() {
		r, what := g.request(a.URL, d.operations[i])
		answer, err := a.Do(t.Context(), r, config.As)
		if err != nil {
			complaints = append(complaints, fmt.Sprintf("%s: %v", what, err))
			continue
		}
		statuses[answer.Status]++
		switch {
		case answer.Status == http.StatusInternalServerError:
			complaints = append(complaints, fmt.Sprintf("%s: %s", what, answer.Body))
		case answer.Status == http.StatusRequestHeaderFieldsTooLarge: // net/http's own answer, before any handler
		case answer.Status >= 400 && answer.Problem() == "":
			complaints = append(complaints,
				fmt.Sprintf("%s: %d is no problem document: %s %.200s", what, answer.Status, answer.Header.Get("Content-Type"), answer.Body))
		// What stands in the database may be told, and earlier requests may have named it so.
		case answer.Status == http.StatusUnprocessableEntity && sends(r, garbageCanary) && bytes.Contains(answer.Body, []byte(garbageCanary)):
			complaints = append(complaints, fmt.Sprintf("%s: the answer repeats the value: %s", what, answer.Body))
		}
	}
	return complaints
}

// sends reports whether a request has a word in its address, headers or body.
func sends(r *http.Request, word string) bool {
	if strings.Contains(r.URL.String(), word) || strings.Contains(fmt.Sprint(r.Header), word) {
		return true
	}
	if r.GetBody == nil {
		return false
	}
	body, err := r.GetBody()
	if err != nil {
		return true
	}
	sent, _ := io.ReadAll(body)
	return bytes.Contains(sent, []byte(word))
}

// generator generates requests for one operation.
type generator struct {
	*rand.Rand
	document *document
	values   map[string]string
}

func pick[T any](g *generator, from []T) T { return from[g.IntN(len(from))] }

// hostileTexts are unescaped; those that must not be in a URL are escaped before they are sent.
var hostileTexts = []string{
	"", " ", "0", "-1", "1", "999999999", "9223372036854775807", "9223372036854775808", "-9223372036854775809", "1e999", "1.5", "NaN", "0x10",
	"\x00", "a\x00b", "\xff\xfe", "..", "../../etc/passwd", ".", "/", "a/b", "%2e%2e", "%", "%00", "'; DROP TABLE hosts; --", "\" OR 1=1",
	"$(id)", "`id`", "\n\r", "a\r\nX: y",
	"<script>", "{{7*7}}", "null", "true", "[]", "{}", "\u202e", "\ufeff", "\U0001F4A5", garbageCanary, strings.Repeat("A", 70000),
	strings.Repeat("é", 300), "current", "self", "pve1",
}

func (g *generator) text() string {
	if g.IntN(4) == 0 {
		return garbageCanary + strings.Repeat("x", g.IntN(40))
	}
	return pick(g, hostileTexts)
}

// request generates one request and returns a short description of what is
// invalid in it.
func (g *generator) request(base string, o *operation) (*http.Request, string) {
	path := o.path
	query := url.Values{}
	header := http.Header{}
	for _, p := range o.Parameters {
		value, good := g.values[p.Name]
		if !good || g.IntN(3) == 0 {
			value = g.text()
			if p.In != "path" && g.IntN(3) == 0 {
				continue
			}
		}
		switch p.In {
		case "path":
			if len(value) > 3000 {
				value = value[:3000]
			}
			path = strings.ReplaceAll(path, "{"+p.Name+"}", url.PathEscape(value))
		case "query":
			query.Add(p.Name, value)
		case "header":
			header.Set(p.Name, headerText(value))
		}
	}
	path = placeholder.ReplaceAllString(path, "1")
	target := base + path
	if encoded := query.Encode(); encoded != "" {
		target += "?" + encoded[:min(len(encoded), 60000)]
	} else if g.IntN(8) == 0 {
		target += "?" + pick(g, []string{"%zz", "a;b", "&&&", "=", "page=%00", "x[]=1&x[a]=2", "?"})
	}
	body, what := g.body(o)
	r, err := http.NewRequest(o.method, target, bytes.NewReader(body))
	if err != nil { // net/url refuses what a real client could not send either
		r, _ = http.NewRequest(o.method, base+placeholder.ReplaceAllString(o.path, "1"), bytes.NewReader(body))
	}
	if len(body) == 0 {
		r.Body, r.ContentLength = http.NoBody, 0
	} else {
		r.Header.Set("Content-Type", "application/json")
		if g.IntN(15) == 0 {
			r.Header.Set("Content-Type",
				pick(g, []string{"text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x",
					"application/json; charset=utf-7", ";;"}))
		}
	}
	for name := range header {
		r.Header.Set(name, header.Get(name))
	}
	return r, fmt.Sprintf("%s %.300s %s %.300q", o.method, r.URL.RequestURI(), what, body)
}

// headerText removes what an HTTP client cannot send.
func headerText(value string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r > 0x10ffff || r == '\uFFFD' {
			return -1
		}
		return r
	}, value[:min(len(value), 4000)])
}

// rawBodies are no JSON, or are no object, or are too much of one.
var rawBodies = []string{
	"{", "null", "[]", "0", `""`, "true", `{"a":`, `{"a":1}}`, `{"a":1}{"b":2}`, "\xff\xfe{}", "\ufeff{}", "{'a':1}", `{"a":1,}`, "<x/>",
	"a=1&b=2",
	strings.Repeat("[", 100000), strings.Repeat(`{"a":`, 20000), `{"a":` + strings.Repeat("[", 31) + strings.Repeat("]", 31) + "}",
	`{"a":1e99999}`, `{"a":` + strings.Repeat("9", 5000) + `}`, `{"a":-0}`, `{"\u0000":1}`, `{"a":"\ud800"}`, `{"__proto__":{"a":1}}`,
	strings.Repeat(" ", 2<<20),
}

// body generates a body. Usually it is a valid one with one or two changes,
// sometimes it is not JSON.
func (g *generator) body(o *operation) ([]byte, string) {
	s := o.body()
	switch {
	case s == nil && g.IntN(3) > 0, g.IntN(12) == 0:
		return nil, "no body"
	case g.IntN(8) == 0:
		return []byte(pick(g, rawBodies)), "raw"
	case s == nil:
		return []byte(`{"confirm":"` + garbageCanary + `"}`), "undeclared body"
	}
	value := g.good(s, 0)
	what := "good"
	for range g.IntN(3) {
		value, what = g.spoil(value), "spoilt"
	}
	body, err := json.Marshal(value)
	if err != nil {
		return []byte("{}"), "empty"
	}
	if g.IntN(10) == 0 { // NUL cannot come from a Go string's JSON in the raw
		body = bytes.Replace(body, []byte(`":"`), []byte(`":"\u0000`), 1)
	}
	return body, what
}

// good generates a value that fits the schema, as far as the schema tells.
func (g *generator) good(s *schema, depth int) any {
	s = g.document.resolve(s)
	switch {
	case s == nil || depth > 6:
		return nil
	case len(s.Enum) > 0:
		return pick(g, s.Enum)
	case len(s.Examples) > 0 && g.IntN(2) == 0:
		return s.Examples[0]
	}
	switch s.kind() {
	case "object":
		o := map[string]any{}
		for _, name := range slices.Sorted(maps.Keys(s.Properties)) { // a map's own order would make each run another one
			if slices.Contains(s.Required, name) || g.IntN(2) == 0 {
				o[name] = g.field(name, s.Properties[name], depth+1)
			}
		}
		return o
	case "array":
		list := []any{}
		for range g.IntN(3) {
			list = append(list, g.good(s.Items, depth+1))
		}
		return list
	case "integer", "number":
		least, most := 0.0, 1000.0
		if s.Minimum != nil {
			least = *s.Minimum
		}
		if s.Maximum != nil {
			most = *s.Maximum
		}
		return int64(least + g.Float64()*(most-least))
	case "boolean":
		return g.IntN(2) == 0
	case "string":
		return g.goodText(s)
	}
	return garbageCanary
}

// field returns a valid value for a field of a body: the configured one, if
// there is one.
func (g *generator) field(name string, s *schema, depth int) any {
	if value, given := g.values[name]; given {
		switch n, err := strconv.ParseInt(value, 10, 64); g.document.resolve(s).kind() {
		case "string":
			return value
		case "integer":
			if err == nil {
				return n
			}
		}
	}
	return g.good(s, depth)
}

func (g *generator) goodText(s *schema) string {
	switch s.Format {
	case "email":
		return "ada@example.org"
	case "date-time":
		return "2026-01-31T08:15:00Z"
	}
	text := pick(g, []string{"web", garbageCanary, "..", "192.0.2.7", "root@pam!x", strings.Repeat("long ", 100)})
	if s.MaxLength != nil {
		text = text[:min(len(text), *s.MaxLength)]
	}
	if s.MinLength != nil {
		text += strings.Repeat("x", max(0, *s.MinLength-len(text)))
	}
	return text
}

// spoil changes one place in the value.
func (g *generator) spoil(value any) any {
	switch v := value.(type) {
	case map[string]any:
		keys := slices.Sorted(maps.Keys(v))
		switch n := g.IntN(10); {
		case n == 0 || len(keys) == 0:
			v[pick(g, []string{"extra", "a.b", "a[0]", "", "__proto__", "confirm ", "NAME", "\u0000", strings.Repeat("k", 500)})] = g.hostile()
		case n == 1:
			delete(v, pick(g, keys))
		default:
			key := pick(g, keys)
			v[key] = g.spoil(v[key])
		}
		return v
	case []any:
		if len(v) > 0 && g.IntN(3) > 0 {
			i := g.IntN(len(v))
			v[i] = g.spoil(v[i])
			return v
		}
		if g.IntN(3) == 0 {
			// Written once: two thousand nested values would take longer to write than all that is done with them.
			one, err := json.Marshal(g.hostile())
			if err != nil {
				return []any{}
			}
			return slices.Repeat([]any{json.RawMessage(one)}, 2000)
		}
	}
	return g.hostile()
}

// hostile returns a value of any type.
func (g *generator) hostile() any {
	switch g.IntN(8) {
	case 0:
		return nil
	case 1:
		return g.IntN(2) == 0
	case 2:
		return pick(g, []any{0, -1, -9223372036854775808, 9223372036854775807, 2147483648, 1.5, 1e300, -1e-300,
			json.Number("99999999999999999999"), json.Number("1e400"), json.Number("3.0")})
	case 3:
		return []any{garbageCanary, 1, nil}
	case 4:
		return map[string]any{"a": garbageCanary, "b.c": []any{}}
	case 5:
		var deep any = garbageCanary
		for range g.IntN(60) {
			deep = map[string]any{"d": deep}
		}
		return deep
	}
	return g.text()
}
