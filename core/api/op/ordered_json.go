package op

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// huma writes every object of the document with sorted keys. People read it as
// well, so it is put in a better order here: the usual order of an OpenAPI
// document, and the fields of a body as its type declares them.

// object is a JSON object that keeps the order of its members.
type object []member

// member is one member of an object.
type member struct {
	key   string
	value any // object, []any or json.RawMessage
}

// rawJSON is JSON that is part of a larger value.
type rawJSON = json.RawMessage

// MarshalJSON implements json.Marshaler. It writes the members in their order.
func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		encoder := json.NewEncoder(&b)
		encoder.SetEscapeHTML(false)
		if err := encoder.Encode(m.key); err != nil {
			return nil, err
		}
		b.WriteByte(':')
		if err := encoder.Encode(m.value); err != nil {
			return nil, err
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// Document returns the OpenAPI 3.1 document. The same declarations always
// result in the same bytes.
func (a *API) Document() []byte {
	raw, err := json.Marshal(a.huma.OpenAPI())
	if err != nil {
		panic(fmt.Sprintf("op: the OpenAPI document cannot be written: %v", err))
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	tree := readOrdered(decoder)
	spellNulls(tree)
	dropKeyword(tree, "patternDescription") // huma's own, for messages; no keyword of JSON Schema
	a.arrange(tree, "", nil)
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(tree); err != nil {
		panic(fmt.Sprintf("op: the OpenAPI document cannot be written: %v", err))
	}
	return out.Bytes()
}

// readOrdered reads one JSON value and keeps the order of members. The JSON
// must be well-formed.
func readOrdered(d *json.Decoder) any {
	token, err := d.Token()
	if err != nil {
		panic(fmt.Sprintf("op: reading the OpenAPI document: %v", err))
	}
	switch token {
	case json.Delim('{'):
		o := object{}
		for d.More() {
			key, _ := d.Token()
			o = append(o, member{key.(string), readOrdered(d)})
		}
		_, _ = d.Token()
		return &o
	case json.Delim('['):
		list := []any{}
		for d.More() {
			list = append(list, readOrdered(d))
		}
		_, _ = d.Token()
		return list
	}
	return token
}

// dropKeyword removes a keyword from all schemas.
func dropKeyword(tree any, keyword string) {
	switch v := tree.(type) {
	case []any:
		for _, item := range v {
			dropKeyword(item, keyword)
		}
	case *object:
		*v = slices.DeleteFunc(*v, func(m member) bool { return m.key == keyword })
		for _, m := range *v {
			dropKeyword(m.value, keyword)
		}
	}
}

// ranks has the keys of OpenAPI in the order in which they are written. Other
// keys follow in their present order.
var ranks = strings.Fields(`openapi info servers tags title version name in operationId summary $ref type anyOf format description
	x-role x-on x-scope x-entitlement x-capability x-confirm x-plan x-audit get post put patch delete
	required enum default minimum maximum minLength maxLength pattern
	schema security parameters requestBody content example examples items properties additionalProperties responses
	paths components schemas securitySchemes x-errors`)

// plainMaps has the keys whose objects are maps from names that this API has
// chosen. The order of such maps does not change.
var plainMaps = strings.Fields("properties schemas paths responses headers content example default securitySchemes")

// arrange orders the value v of a key. If v is a schema, fields is the order of
// its properties.
func (a *API) arrange(v any, key string, fields []string) {
	if key == "example" {
		return
	}
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			a.arrange(item, "", nil)
		}
	case *object:
		switch {
		case key == "properties":
			sortBy(*v, fields)
		case !slices.Contains(plainMaps, key):
			sortBy(*v, ranks)
		}
		for _, m := range *v {
			switch {
			case key == "schemas":
				a.arrange(m.value, "", fieldOrder(a.huma.OpenAPI().Components.Schemas.TypeFromRef(schemaPrefix+m.key)))
			case m.key == "properties" && key != "properties":
				a.arrange(m.value, "properties", fields)
			case key == "properties":
				a.arrange(m.value, "", nil)
			default:
				a.arrange(m.value, m.key, nil)
			}
		}
	}
}

// sortBy sorts members by the position of their key in order. Members without a
// position follow in their present order.
func sortBy(o object, order []string) {
	place := func(m member) int {
		if i := slices.Index(order, m.key); i >= 0 {
			return i
		}
		return len(order)
	}
	slices.SortStableFunc(o, func(x, y member) int { return place(x) - place(y) })
}

// fieldOrder returns the names of the fields of a struct in the order in which
// encoding/json writes them.
func fieldOrder(t reflect.Type) []string {
	var names []string
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == nil || t.Kind() != reflect.Struct {
		return nil
	}
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			names = append(names, fieldOrder(f.Type)...)
		case !f.IsExported() || name == "-":
		case name == "":
			names = append(names, f.Name)
		default:
			names = append(names, name)
		}
	}
	return names
}

// exemplify adds an example to a JSON body. It consists of the examples,
// defaults and limits of the fields.
func (a *API) exemplify(content map[string]*huma.MediaType) {
	if media := content["application/json"]; media != nil && media.Schema != nil && media.Example == nil {
		media.Example = a.example(media.Schema, 0)
	}
}

// maxExample is the maximum depth of an example, since types can contain
// themselves.
const maxExample = 8

// example builds an example value for a schema, in the order of the struct's
// fields. The depth bounds recursive schemas.
func (a *API) example(s *huma.Schema, depth int) any {
	var fields []string
	if s.Ref != "" {
		registry := a.huma.OpenAPI().Components.Schemas
		fields, s = fieldOrder(registry.TypeFromRef(s.Ref)), registry.SchemaFromRef(s.Ref)
	}
	switch {
	case len(s.Examples) > 0:
		return s.Examples[0]
	case s.Default != nil:
		return s.Default
	case len(s.Enum) > 0:
		return s.Enum[0]
	}
	if s.Nullable && s.Type == huma.TypeString && s.Format == "" {
		return nil // says more than three dots: what is not there now, such as an error
	}
	switch s.Type {
	case huma.TypeObject:
		o := object{}
		for _, name := range fields {
			if property := s.Properties[name]; property != nil && depth < maxExample {
				o = append(o, member{name, a.example(property, depth+1)})
			}
		}
		return o
	case huma.TypeArray:
		if s.Items == nil || depth >= maxExample {
			return []any{}
		}
		item := a.example(s.Items, depth+1)
		if item == noText {
			return []any{}
		}
		return []any{item}
	case huma.TypeInteger, huma.TypeNumber:
		if s.Minimum != nil {
			return *s.Minimum
		}
		return 1
	case huma.TypeBoolean:
		return true
	case huma.TypeString:
		return exampleText(s)
	}
	return nil
}

// exampleText returns an example for a string of a format.
func exampleText(s *huma.Schema) string {
	switch s.Format {
	case "date-time":
		return "2026-01-31T08:15:00Z"
	case "email":
		return "ada@example.org"
	}
	return noText
}

// noText is the example of a string whose declaration has none.
const noText = "…"
