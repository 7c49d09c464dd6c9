package apitest

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/hostler/hostler/core/identity"
)

// operation is one operation as the OpenAPI document describes it.
type operation struct {
	ID          string `json:"operationId"`
	RoleName    string `json:"x-role"`
	On          string `json:"x-on"`
	Scope       string `json:"x-scope"`
	Entitlement string `json:"x-entitlement"`
	Security    []any  `json:"security"`
	Responses   map[string]any
	Parameters  []parameter `json:"parameters"`
	RequestBody *struct {
		Required bool
		Content  map[string]struct{ Schema *schema }
	} `json:"requestBody"`

	method, path string
	// least is the least role.
	least identity.Role
}

type parameter struct {
	Name, In string
	Required bool
	Schema   *schema
}

// schema is the part of JSON Schema that the documents use.
type schema struct {
	Ref        string             `json:"$ref"`
	Type       any                `json:"type"`
	Format     string             `json:"format"`
	Enum       []any              `json:"enum"`
	Minimum    *float64           `json:"minimum"`
	Maximum    *float64           `json:"maximum"`
	MinLength  *int               `json:"minLength"`
	MaxLength  *int               `json:"maxLength"`
	Examples   []any              `json:"examples"`
	Required   []string           `json:"required"`
	Properties map[string]*schema `json:"properties"`
	Items      *schema            `json:"items"`
	AnyOf      []*schema          `json:"anyOf"`
}

// kind returns the type of the schema, or "" for any type.
func (s *schema) kind() string {
	switch t := s.Type.(type) {
	case string:
		return t
	case []any:
		for _, one := range t {
			if name, ok := one.(string); ok && name != "null" {
				return name
			}
		}
	}
	return ""
}

func (o *operation) public() bool { return o.Security != nil && len(o.Security) == 0 }

// role returns the lowest role that may use the operation.
func (o *operation) role(t testing.TB) identity.Role {
	role, err := o.parseRole()
	if err != nil {
		t.Fatalf("%s: %v", o.ID, err)
	}
	return role
}

func (o *operation) parseRole() (identity.Role, error) {
	if o.RoleName == "" || o.RoleName == identity.NoRole.String() {
		return identity.NoRole, nil
	}
	return identity.ParseRole(o.RoleName)
}

// socket reports whether the operation is a WebSocket.
func (o *operation) socket() bool { return o.Responses["101"] != nil }

// file returns the media type of the file to upload, or "".
func (o *operation) file() string {
	if o.RequestBody == nil || o.body() != nil || len(o.RequestBody.Content) == 0 {
		return ""
	}
	return slices.Min(slices.Collect(maps.Keys(o.RequestBody.Content)))
}

// headers returns the headers that a valid request has in addition to the usual
// ones.
func (o *operation) headers(method string) map[string]string {
	switch {
	case o.file() != "":
		return map[string]string{"Content-Type": o.file()}
	case o.socket() && method == http.MethodGet: // RFC 6455, 4.1
		return map[string]string{"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
			"Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA=="}
	}
	return nil
}

// body returns the schema of the JSON body, or nil.
func (o *operation) body() *schema {
	if o.RequestBody == nil {
		return nil
	}
	return o.RequestBody.Content["application/json"].Schema
}

// document is a decoded OpenAPI document.
type document struct {
	operations []*operation
	schemas    map[string]*schema
}

// resolve follows references. Of a value that may also be null, it returns the
// schema of the other alternative.
func (d *document) resolve(s *schema) *schema {
	for s != nil && (s.Ref != "" || len(s.AnyOf) > 0) {
		if len(s.AnyOf) > 0 {
			s = s.AnyOf[0]
		} else {
			s = d.schemas[s.Ref[strings.LastIndex(s.Ref, "/")+1:]]
		}
	}
	return s
}

// document returns the decoded OpenAPI document of the API.
func (a *API) document(t testing.TB) *document {
	t.Helper()
	text, err := a.text(func(r *http.Request) (*Response, error) { return a.Do(t.Context(), r, nil) })
	if err != nil {
		t.Fatal(err)
	}
	var raw struct {
		Paths      map[string]map[string]*operation
		Components struct{ Schemas map[string]*schema }
	}
	if err := json.Unmarshal(text, &raw); err != nil {
		t.Fatalf("the OpenAPI document: %v\n%.200s", err, text)
	}
	d := &document{schemas: raw.Components.Schemas}
	for path, methods := range raw.Paths {
		for method, o := range methods {
			o.method, o.path = strings.ToUpper(method), path
			o.least = o.role(t)
			d.operations = append(d.operations, o)
		}
	}
	slices.SortFunc(d.operations, func(a, b *operation) int {
		return cmp.Or(strings.Compare(a.path, b.path), strings.Compare(a.method, b.method))
	})
	if len(d.operations) == 0 {
		t.Fatal("the OpenAPI document has no operations")
	}
	return d
}
