package pvetest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// Schema is the documented API of Proxmox VE: every method with its parameters and its answer.
type Schema struct {
	methods map[string][]*Method // by HTTP method
}

// Method is one documented method of the API.
type Method struct {
	Method     string               `json:"method"`
	Path       string               `json:"path"`
	Parameters map[string]*Property `json:"parameters"`
	Returns    *Property            `json:"returns"`
	Protected  flexibleBool         `json:"protected"`
	ProxyTo    string               `json:"proxyto"`

	segments []string
}

// Property is a parameter or a part of an answer.
type Property struct {
	Type       string               `json:"type"`
	Optional   flexibleBool         `json:"optional"`
	Enum       []string             `json:"enum"`
	Pattern    string               `json:"pattern"`
	Minimum    *json.Number         `json:"minimum"`
	Maximum    *json.Number         `json:"maximum"`
	MinLength  int                  `json:"minLength"`
	MaxLength  int                  `json:"maxLength"`
	NotIn      []string             `json:"not_in"` // releases that do not have it
	Items      *Property            `json:"items"`
	Properties map[string]*Property `json:"properties"`
}

// flexibleBool is 1, true, 0, false or a condition in words, which counts as true.
type flexibleBool bool

func (b *flexibleBool) UnmarshalJSON(raw []byte) error {
	switch strings.Trim(string(raw), `"`) {
	case "0", "false", "null", "":
		*b = false
	default:
		*b = true
	}
	return nil
}

var (
	schemaMutex sync.Mutex
	schemas     = map[string]*Schema{}
)

// LoadSchema reads the schema from the reference data, or skips the test without it.
func LoadSchema(t testing.TB) *Schema {
	t.Helper()
	dir := Reference(t)
	schemaMutex.Lock()
	defer schemaMutex.Unlock()
	if s := schemas[dir]; s != nil {
		return s
	}
	raw, err := os.ReadFile(filepath.Join(dir, "api-schema.json"))
	if err != nil {
		t.Fatalf("reading API schema: %v", err)
	}
	var list []*Method
	if err := json.Unmarshal(raw, &list); err != nil {
		t.Fatalf("decoding API schema: %v", err)
	}
	s := &Schema{methods: map[string][]*Method{}}
	for _, m := range list {
		m.segments = segments(m.Path)
		s.methods[m.Method] = append(s.methods[m.Method], m)
	}
	schemas[dir] = s
	return s
}

// Methods returns all documented methods, ordered by path and HTTP method.
func (s *Schema) Methods() []*Method {
	var all []*Method
	for _, list := range s.methods {
		all = append(all, list...)
	}
	slices.SortFunc(all, func(a, b *Method) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), strings.Compare(a.Method, b.Method))
	})
	return all
}

func segments(p string) []string {
	return strings.FieldsFunc(p, func(r rune) bool { return r == '/' })
}

// Find returns the method that a path below /api2/json leads to, literals before parameters, with the values of its path parameters.
func (s *Schema) Find(method, path string) (*Method, map[string]string) {
	segs := segments(path)
	var best *Method
	for _, m := range s.methods[method] {
		if m.fits(segs) && (best == nil || strings.Count(m.Path, "{") < strings.Count(best.Path, "{")) {
			best = m
		}
	}
	if best == nil {
		return nil, nil
	}
	vals := map[string]string{}
	for i, seg := range best.segments {
		if strings.HasPrefix(seg, "{") {
			vals[seg[1:len(seg)-1]] = segs[i]
		}
	}
	if name := best.rest(); name != "" {
		vals[name] = strings.Join(segs[len(best.segments)-1:], "/")
	}
	return best, vals
}

// rest is the parameter that takes all that is left of a path: the name of a volume, or a network, which have slashes.
func (m *Method) rest() string {
	for _, name := range []string{"volume", "cidr"} {
		if strings.HasSuffix(m.Path, "/{"+name+"}") {
			return name
		}
	}
	return ""
}

func (m *Method) fits(segs []string) bool {
	if len(segs) != len(m.segments) && (m.rest() == "" || len(segs) < len(m.segments)) {
		return false
	}
	for i, seg := range m.segments {
		if !strings.HasPrefix(seg, "{") && seg != segs[i] {
			return false
		}
	}
	return true
}

var indexed = regexp.MustCompile(`^([a-zA-Z-]+)\d+$`)

// declared finds a declaration by name; net0 is declared as net[n].
func declared(all map[string]*Property, name string) *Property {
	if p := all[name]; p != nil {
		return p
	}
	if sub := indexed.FindStringSubmatch(name); sub != nil {
		return all[sub[1]+"[n]"]
	}
	return nil
}

// CheckRequest says what is wrong with a request: an unknown method or path, an unknown or missing parameter, a value out of
// type, range or enumeration. params are those of query and body, as text. The result is empty for a good request.
func (s *Schema) CheckRequest(method, path string, params map[string]string) []string {
	m, inPath := s.Find(method, path)
	if m == nil {
		return []string{fmt.Sprintf("%s %s is not in the schema", method, path)}
	}
	var faults []string
	all := map[string]string{}
	for k, v := range inPath {
		all[k] = v
	}
	for k, v := range params {
		all[k] = v
	}
	for name, value := range all {
		p := declared(m.Parameters, name)
		if p == nil {
			faults = append(faults, fmt.Sprintf("%s %s: parameter %q is not in the schema", method, m.Path, name))
			continue
		}
		if text := p.checkText(value); text != "" {
			faults = append(faults, fmt.Sprintf("%s %s: parameter %q: %s", method, m.Path, name, text))
		}
	}
	for name, p := range m.Parameters {
		if _, sent := all[name]; !sent && !bool(p.Optional) {
			faults = append(faults, fmt.Sprintf("%s %s: parameter %q is missing", method, m.Path, name))
		}
	}
	slices.Sort(faults)
	return faults
}

// checkText holds a parameter's text against its type.
func (p *Property) checkText(v string) string {
	switch p.Type {
	case "integer", "number":
		n, err := strconv.ParseFloat(v, 64)
		if err != nil || p.Type == "integer" && strings.ContainsAny(v, ".eE") {
			return fmt.Sprintf("%q is no %s", v, p.Type)
		}
		if lo, ok := number(p.Minimum); ok && n < lo {
			return fmt.Sprintf("%v is below %v", n, lo)
		}
		if hi, ok := number(p.Maximum); ok && n > hi {
			return fmt.Sprintf("%v is above %v", n, hi)
		}
	case "boolean":
		if v != "0" && v != "1" {
			return fmt.Sprintf("%q is neither 0 nor 1", v)
		}
	}
	if len(p.Enum) > 0 && !slices.Contains(p.Enum, v) {
		return fmt.Sprintf("%q is not one of %v", v, p.Enum)
	}
	if p.MaxLength > 0 && len(v) > p.MaxLength || len(v) < p.MinLength {
		return fmt.Sprintf("length %d is not in %d to %d", len(v), p.MinLength, p.MaxLength)
	}
	return ""
}

func number(n *json.Number) (float64, bool) {
	if n == nil {
		return 0, false
	}
	f, err := n.Float64()
	return f, err == nil
}
