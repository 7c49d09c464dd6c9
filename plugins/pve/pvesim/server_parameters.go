package pvesim

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/hostler/hostler/plugins/pve/pvesim/schema"
)

// values are the parameters of one request: from path, query and body together.
type values map[string]paramValue

// paramValue is one parameter as it was sent. Repeated keys make a list.
type paramValue struct {
	text   string
	list   []string
	isList bool
	isJSON bool // a JSON number or boolean: echoed without quotes
}

// has reports whether a parameter was sent, text returns its value.
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

// listOf splits a parameter of the list formats.
func (v values) listOf(name string) []string { return splitList(v[name].text) }

// splitList splits a value of the list formats at commas, semicolons, blanks and NUL.
func splitList(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ';' || r == ' ' || r == 0 })
}

// parseBool reads a flag in any form that the original accepts.
func parseBool(s string) (value, ok bool) {
	switch strings.ToLower(s) {
	case "1", "on", "yes", "true":
		return true, true
	case "0", "off", "no", "false":
		return false, true
	}
	return false, false
}

// Texts of faults of parameters.
const (
	textUnknown = "property is not defined in schema and the schema does not allow additional properties"
	textMissing = "property is missing and it is not optional"
)

// verify holds the parameters of a request against the schema; the result is
// nil or a 400 with one text per parameter.
func verify(e *endpoint, v values, rel release) *apiError {
	errs := map[string]string{}
	for name, val := range v {
		p := e.parameter(name, rel)
		switch {
		case p == nil && e.hasSegment(name): // the schema lacks a few parameters of paths
		case p == nil:
			errs[name] = textUnknown
		default:
			if text := checkValue(name, p, val, rel); text != "" {
				errs[name] = text
			} else if p.Requires != "" && !v.has(p.Requires) {
				errs[p.Requires] = fmt.Sprintf("missing property - '%s' requires this property", name)
			}
		}
	}
	for _, p := range e.facts().Parameters() {
		if !v.has(p.Name) && !bool(p.Optional) && e.parameter(p.Name, rel) != nil {
			errs[p.Name] = textMissing
		}
	}
	if len(errs) > 0 {
		return badParameters(errs)
	}
	return nil
}

// checkValue returns what is wrong with a value, or "". The first thing that is
// wrong counts. name is the parameter's as it was sent.
func checkValue(name string, p *schema.Parameter, v paramValue, rel release) string {
	if p.Type == schema.Array {
		return checkElements(name, p, v, rel)
	}
	if v.isList {
		return fmt.Sprintf("type check ('%s') failed - got ARRAY", p.Type)
	}
	if !hasType(p.Type, v.text) {
		return fmt.Sprintf("type check ('%s') failed - got '%s'", p.Type, v.text)
	}
	text := checkFormat(p.Format.Name, v.text, rel)
	if keys := p.Format.Keys(); keys != nil {
		text = checkPropertyString(name, keys, v.text, rel)
	}
	if text != "" {
		return "invalid format - " + text + "\n"
	}
	if !p.Matches(v.text) {
		return "value does not match the regex pattern"
	}
	if text := checkSize(p, v.text); text != "" {
		return text
	}
	if len(p.Enum) > 0 {
		allowed := slices.DeleteFunc(slices.Clone(p.Enum), func(s string) bool { return rel.major < 9 && slices.Contains(p.New9, s) })
		if !slices.Contains(allowed, v.text) {
			return fmt.Sprintf("value '%s' does not have a value in the enumeration '%s'", v.text, strings.Join(allowed, ", "))
		}
	}
	return ""
}

// checkElements takes a single value for a list of one.
func checkElements(name string, p *schema.Parameter, v paramValue, rel release) string {
	list := v.list
	if !v.isList {
		list = []string{v.text}
	}
	for _, element := range list {
		if p.Items == nil {
			break
		}
		if text := checkValue(name, p.Items, paramValue{text: element}, rel); text != "" {
			return text
		}
	}
	return ""
}

// numberPattern is the form of a number.
var numberPattern = regexp.MustCompile(`^[+-]?\d+\.?\d*$`)

// hasType reports whether a value has the type of its parameter.
func hasType(kind, value string) bool {
	switch kind {
	case schema.Integer:
		_, err := strconv.ParseInt(value, 10, 64)
		return err == nil
	case schema.Number:
		return numberPattern.MatchString(value)
	case schema.Boolean:
		_, ok := parseBool(value)
		return ok
	}
	return true
}

// checkSize holds text against its length and numbers against their range.
func checkSize(p *schema.Parameter, value string) string {
	length := utf8.RuneCountInString(value)
	switch {
	case p.MaxLength > 0 && length > p.MaxLength:
		return fmt.Sprintf("value may only be %d characters long", p.MaxLength)
	case p.MinLength > 0 && length < p.MinLength:
		return fmt.Sprintf("value must be at least %d characters long", p.MinLength)
	}
	n, err := strconv.ParseFloat(value, 64)
	switch {
	case err != nil:
	case p.Maximum != nil && n > *p.Maximum:
		return "value must have a maximum value of " + strconv.FormatFloat(*p.Maximum, 'f', -1, 64)
	case p.Minimum != nil && n < *p.Minimum:
		return "value must have a minimum value of " + strconv.FormatFloat(*p.Minimum, 'f', -1, 64)
	}
	return ""
}
