package api_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"net/mail"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func TestEveryOperationIsDescribed(t *testing.T) {
	t.Parallel()
	ids, word := map[string]bool{}, regexp.MustCompile(`^[a-z]+(_[a-z]+)*$`)
	for _, o := range declared().Operations() {
		s := o.Spec
		if ids[s.ID] || !word.MatchString(s.ID) {
			t.Errorf("%s is used twice or is no identifier", s.ID)
		}
		ids[s.ID] = true
		if s.Summary == "" || strings.HasSuffix(s.Summary, ".") || utf8.RuneCountInString(s.Summary) > 80 {
			t.Errorf("the summary of %s is missing, long or a sentence: %q", s.ID, s.Summary)
		}
		if !strings.HasSuffix(s.Description, ".") {
			t.Errorf("%s has no description of whole sentences: %q", s.ID, s.Description)
		}
		if s.Audit.Action != "" && !regexp.MustCompile(`^[a-z_]+\.([a-z_]+|\{[a-z_]+\})$`).MatchString(s.Audit.Action) {
			t.Errorf("the audit action of %s: %q", s.ID, s.Audit.Action)
		}
	}
}

// TestSchemasHaveNamesOfTheirOwn: generators name what belongs to an operation after its id, and schemas after themselves.
func TestSchemasHaveNamesOfTheirOwn(t *testing.T) {
	t.Parallel()
	var doc struct {
		Components struct{ Schemas map[string]any }
		Servers    []struct{ URL string }
	}
	if err := json.Unmarshal(wholeDocument(), &doc); err != nil {
		t.Fatal(err)
	}
	for name := range doc.Components.Schemas {
		if !regexp.MustCompile(`^[A-Z][A-Za-z]+$`).MatchString(name) {
			t.Errorf("the schema %s is not named by package and type, in letters alone", name)
		}
		for _, end := range []string{"Response", "Params", "Body", "Client", "Editor", "Editors"} {
			if strings.HasSuffix(name, end) {
				t.Errorf("the schema %s is called like what a generator makes of an operation", name)
			}
		}
	}
	for _, name := range []string{"JobView", "Guest", "Host", "HostCreateResult", "KeyCreateResult", "GuestStartResult", "ScheduleRunResult",
		"SelfUpdateStatus", "TeamMember"} {
		if doc.Components.Schemas[name] == nil {
			t.Errorf("there is no schema %s", name)
		}
	}
	if len(doc.Servers) != 1 || doc.Servers[0].URL != "/" {
		t.Errorf("servers: %+v", doc.Servers)
	}
	if bytes.Contains(wholeDocument(), []byte("patternDescription")) {
		t.Error("a keyword that no validator knows")
	}
}

// TestExamplesFitTheirSchemas validates every example of the document.
func TestExamplesFitTheirSchemas(t *testing.T) {
	t.Parallel()
	var doc map[string]any
	if err := json.Unmarshal(wholeDocument(), &doc); err != nil {
		t.Fatal(err)
	}
	v := &validator{schemas: at(doc, "components", "schemas").(map[string]any)}
	v.walk("", doc)
	for _, complaint := range v.complaints {
		t.Error(complaint)
	}
	if v.seen < 100 {
		t.Errorf("only %d examples were found", v.seen)
	}
}

// TestValidatorComplains proves that a bad example is seen.
func TestValidatorComplains(t *testing.T) {
	t.Parallel()
	v := &validator{schemas: map[string]any{"Name": map[string]any{"type": "string", "maxLength": 3.0}}}
	for _, bad := range []string{
		`{"schema":{"$ref":"#/components/schemas/Name"},"example":"long"}`,
		`{"schema":{"type":"object","required":["a"],"properties":{}},"example":{}}`,
		`{"schema":{"type":"object","additionalProperties":false,"properties":{}},"example":{"b":1}}`,
		`{"schema":{"type":"array","items":{"type":"integer","minimum":1}},"example":[0]}`,
		`{"type":"integer","enum":[1,2],"examples":[3]}`,
		`{"anyOf":[{"type":"string","enum":["a"]},{"type":"null"}],"examples":["b"]}`,
		`{"type":"string","format":"date-time","examples":["yesterday"]}`,
	} {
		var doc any
		if err := json.Unmarshal([]byte(bad), &doc); err != nil {
			t.Fatal(err)
		}
		v.complaints = nil
		if v.walk("", doc); len(v.complaints) == 0 {
			t.Errorf("nothing is wrong with %s", bad)
		}
	}
}

// validator holds examples against schemas, with the keywords that the document uses.
type validator struct {
	schemas    map[string]any
	complaints []string
	seen       int
}

// at follows keys into an object.
func at(v any, keys ...string) any {
	for _, key := range keys {
		v = v.(map[string]any)[key]
	}
	return v
}

// walk looks for media types with an example and for schemas with examples or a default.
func (v *validator) walk(where string, node any) {
	switch n := node.(type) {
	case map[string]any:
		schema, isMedia := n["schema"].(map[string]any)
		if example, ok := n["example"]; ok && isMedia {
			v.example(where, schema, example)
		}
		if n["type"] != nil || n["anyOf"] != nil {
			if examples, ok := n["examples"].([]any); ok {
				for _, example := range examples {
					v.example(where, n, example)
				}
			}
			if def, ok := n["default"]; ok {
				v.example(where, n, def)
			}
		}
		for key, child := range n {
			v.walk(where+"/"+key, child)
		}
	case []any:
		for i, child := range n {
			v.walk(fmt.Sprintf("%s/%d", where, i), child)
		}
	}
}

func (v *validator) example(where string, schema map[string]any, value any) {
	v.seen++
	v.hold(where, schema, value)
}

func (v *validator) complain(where, format string, args ...any) {
	v.complaints = append(v.complaints, where+": "+fmt.Sprintf(format, args...))
}

func (v *validator) hold(where string, schema map[string]any, value any) {
	if ref, ok := schema["$ref"].(string); ok {
		resolved, there := v.schemas[ref[strings.LastIndexByte(ref, '/')+1:]].(map[string]any)
		if !there {
			v.complain(where, "%s leads nowhere", ref)
			return
		}
		schema = resolved
	}
	if choices, ok := schema["anyOf"].([]any); ok {
		for _, one := range choices {
			branch := &validator{schemas: v.schemas}
			if branch.hold(where, one.(map[string]any), value); len(branch.complaints) == 0 {
				return
			}
		}
		v.complain(where, "%v is nothing of %v", value, choices)
	}
	if enum, ok := schema["enum"].([]any); ok && !slices.Contains(enum, value) {
		v.complain(where, "%v is none of %v", value, enum)
	}
	if types := kinds(schema); len(types) > 0 && !slices.Contains(types, kindOf(value)) &&
		!(kindOf(value) == "integer" && slices.Contains(types, "number")) {
		v.complain(where, "%v is not %v", value, types)
		return
	}
	limit := func(keyword string, size float64, sign float64) {
		if bound, ok := schema[keyword].(float64); ok && sign*(size-bound) > 0 {
			v.complain(where, "%v breaks %s %v", value, keyword, bound)
		}
	}
	switch value := value.(type) {
	case map[string]any:
		v.object(where, schema, value)
	case []any:
		limit("maxItems", float64(len(value)), 1)
		limit("minItems", float64(len(value)), -1)
		if items, ok := schema["items"].(map[string]any); ok {
			for i, item := range value {
				v.hold(fmt.Sprintf("%s[%d]", where, i), items, item)
			}
		}
	case float64:
		limit("maximum", value, 1)
		limit("minimum", value, -1)
	case string:
		limit("maxLength", float64(utf8.RuneCountInString(value)), 1)
		limit("minLength", float64(utf8.RuneCountInString(value)), -1)
		v.text(where, schema, value)
	}
}

func (v *validator) object(where string, schema map[string]any, value map[string]any) {
	properties, _ := schema["properties"].(map[string]any)
	if required, ok := schema["required"].([]any); ok {
		for _, name := range required {
			if _, there := value[name.(string)]; !there {
				v.complain(where, "%v is missing", name)
			}
		}
	}
	for name, member := range value {
		if property, known := properties[name].(map[string]any); known {
			v.hold(where+"."+name, property, member)
		} else if schema["additionalProperties"] == false {
			v.complain(where, "%s is not a property", name)
		}
	}
}

func (v *validator) text(where string, schema map[string]any, value string) {
	if pattern, ok := schema["pattern"].(string); ok && !regexp.MustCompile(pattern).MatchString(value) {
		v.complain(where, "%q does not match %s", value, pattern)
	}
	var err error
	switch schema["format"] {
	case "date-time":
		_, err = time.Parse(time.RFC3339Nano, value)
	case "email":
		_, err = mail.ParseAddress(value)
	}
	if err != nil {
		v.complain(where, "%q is no %s", value, schema["format"])
	}
}

// kinds are the types that a schema admits.
func kinds(schema map[string]any) (all []string) {
	switch t := schema["type"].(type) {
	case string:
		return []string{t}
	case []any:
		for _, one := range t {
			all = append(all, fmt.Sprint(one))
		}
	}
	return all
}

func kindOf(value any) string {
	switch value := value.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case []any:
		return "array"
	case float64:
		if value == math.Trunc(value) {
			return "integer"
		}
		return "number"
	}
	return "object"
}
