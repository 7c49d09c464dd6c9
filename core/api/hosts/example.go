package hosts

import (
	"bytes"
	"encoding/json"

	"github.com/danielgtaylor/huma/v2"
)

// Examples of bodies in which one field stands in the place of others, where one that is made of all fields would not be taken. They
// are embedded into the bodies.
type (
	// CreateExample enrols with a paste.
	CreateExample struct{}
	// ProbeExample tries a paste.
	ProbeExample struct{}
	// RotateExample replaces one token.
	RotateExample struct{}
)

var (
	_ huma.SchemaTransformer = CreateExample{}
	_ huma.SchemaTransformer = ProbeExample{}
	_ huma.SchemaTransformer = RotateExample{}
)

// TransformSchema implements huma.SchemaTransformer.
func (CreateExample) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return showing(s, "name", "address", "tls_fingerprint", "verify_tls", "paste")
}

// TransformSchema implements huma.SchemaTransformer.
func (ProbeExample) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return showing(s, "address", "tls_fingerprint", "verify_tls", "paste")
}

// TransformSchema implements huma.SchemaTransformer.
func (RotateExample) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return showing(s, "capability", "token_id", "token_secret")
}

// showing sets the example of a body, made of the examples of the named fields
// in that order. It panics if a field has no example.
func showing(s *huma.Schema, fields ...string) *huma.Schema {
	var text bytes.Buffer
	for i, name := range fields {
		value, err := json.Marshal(s.Properties[name].Examples[0])
		if err != nil {
			panic(err) // what was read from a tag
		}
		text.WriteString(map[bool]string{true: "{", false: ","}[i == 0] + `"` + name + `":`)
		text.Write(value)
	}
	text.WriteString("}")
	s.Examples = []any{json.RawMessage(text.Bytes())}
	return s
}
