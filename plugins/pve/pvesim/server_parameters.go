package pvesim

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Types of parameters.
const (
	textParam = iota
	integerParam
	booleanParam
)

// param declares one parameter of an endpoint.
type param struct {
	name     string
	kind     int
	optional bool
	inPath   bool
	min, max *int64
	enum     []string
	pattern  *regexp.Regexp
	minLen   int
	maxLen   int
	requires string
	since    string // release that brought it, empty for always
	// format returns what is wrong with the value, or "". The answer says "invalid format - …".
	format func(string) string
}

func text(name string) param    { return param{name: name, optional: true} }
func integer(name string) param { return param{name: name, optional: true, kind: integerParam} }
func boolean(name string) param { return param{name: name, optional: true, kind: booleanParam} }

func (p param) required() param                       { p.optional = false; return p }
func (p param) in(values ...string) param             { p.enum = values; return p }
func (p param) atLeast(n int64) param                 { p.min = &n; return p }
func (p param) matching(re *regexp.Regexp) param      { p.pattern = re; return p }
func (p param) length(lo, hi int) param               { p.minLen, p.maxLen = lo, hi; return p }
func (p param) with(other string) param               { p.requires = other; return p }
func (p param) from(release string) param             { p.since = release; return p }
func (p param) formatted(f func(string) string) param { p.format = f; return p }

// values are the parameters of one request: from path, query and body together.
type values map[string]paramValue

// paramValue is one parameter as it was sent. Repeated keys make a list.
type paramValue struct {
	text   string
	list   []string
	isList bool
	isJSON bool // a JSON number or boolean: echoed without quotes
}

func (v values) has(name string) bool    { _, ok := v[name]; return ok }
func (v values) text(name string) string { return v[name].text }

// boolean is the parameter's truth, def when it was not sent.
func (v values) boolean(name string, def bool) bool {
	p, ok := v[name]
	if !ok {
		return def
	}
	b, _ := parseBool(p.text)
	return b
}

// integer is the parameter's number, def when it was not sent. The value has been checked before.
func (v values) integer(name string, def int64) int64 {
	p, ok := v[name]
	if !ok {
		return def
	}
	n, err := strconv.ParseInt(p.text, 10, 64)
	if err != nil {
		return def
	}
	return n
}

// echo is the value as answers repeat it: text stays text, what came as JSON number stays a number.
func (v values) echo(name string) any {
	p := v[name]
	if n, err := strconv.ParseInt(p.text, 10, 64); err == nil && p.isJSON {
		return n
	}
	return p.text
}

// list splits a parameter of the list formats at commas, semicolons, blanks and NUL.
func (v values) listOf(name string) []string {
	return strings.FieldsFunc(v[name].text, func(r rune) bool { return r == ',' || r == ';' || r == ' ' || r == 0 })
}

func parseBool(s string) (value, ok bool) {
	switch strings.ToLower(s) {
	case "1", "on", "yes", "true":
		return true, true
	case "0", "off", "no", "false":
		return false, true
	}
	return false, false
}

const (
	textUnknown = "property is not defined in schema and the schema does not allow additional properties"
	textMissing = "property is missing and it is not optional"
)

// verify holds the parameters of a request against the endpoint's table; the result is nil or a 400 with one text per parameter.
func verify(table []param, v values, rel release) *apiError {
	errs := map[string]string{}
	for name := range v {
		if !slices.ContainsFunc(table, func(p param) bool { return p.name == name && !rel.before(p.since) }) {
			errs[name] = textUnknown
		}
	}
	for _, p := range table {
		val, sent := v[p.name]
		if rel.before(p.since) {
			continue
		}
		if !sent {
			if !p.optional && !p.inPath {
				errs[p.name] = textMissing
			}
			continue
		}
		if text := p.check(val); text != "" {
			errs[p.name] = text
		} else if p.requires != "" && !v.has(p.requires) {
			errs[p.requires] = fmt.Sprintf("missing property - '%s' requires this property", p.name)
		}
	}
	if len(errs) > 0 {
		return badParameters(errs)
	}
	return nil
}

// check returns what is wrong with a value, or "".
func (p param) check(v paramValue) string {
	if v.isList {
		return fmt.Sprintf("type check ('%s') failed - got ARRAY", [...]string{"string", "integer", "boolean"}[p.kind])
	}
	switch p.kind {
	case integerParam:
		n, err := strconv.ParseInt(v.text, 10, 64)
		if err != nil {
			return "type check ('integer') failed - got '" + v.text + "'"
		}
		if p.min != nil && n < *p.min {
			return fmt.Sprintf("value must have a minimum value of %d", *p.min)
		}
		if p.max != nil && n > *p.max {
			return fmt.Sprintf("value must have a maximum value of %d", *p.max)
		}
	case booleanParam:
		if _, ok := parseBool(v.text); !ok {
			return "type check ('boolean') failed - got '" + v.text + "'"
		}
	}
	switch {
	case p.format != nil && p.format(v.text) != "":
		return "invalid format - " + p.format(v.text) + "\n"
	case p.pattern != nil && !p.pattern.MatchString(v.text):
		return "value does not match the regex pattern"
	case len(p.enum) > 0 && !slices.Contains(p.enum, v.text):
		return fmt.Sprintf("value '%s' does not have a value in the enumeration '%s'", v.text, strings.Join(p.enum, ", "))
	case p.minLen > 0 && len(v.text) < p.minLen:
		return fmt.Sprintf("value must be at least %d characters long", p.minLen)
	case p.maxLen > 0 && len(v.text) > p.maxLen:
		return fmt.Sprintf("value may only be %d characters long", p.maxLen)
	}
	return ""
}
