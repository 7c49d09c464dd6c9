package firewall

import (
	"encoding/json"

	"github.com/danielgtaylor/huma/v2"
)

// Bodies have examples as a whole: what fits together, where the examples of all their fields would not.

func example(s *huma.Schema, body string) *huma.Schema {
	s.Examples = []any{json.RawMessage(body)}
	return s
}

// TransformSchema implements huma.SchemaTransformer.
func (ruleIn) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return example(s, `{"type":"in","action":"ACCEPT","enable":1,"pos":0,"macro":"SSH",`+
		`"source":"192.0.2.0/24","comment":"administrators"}`)
}

// TransformSchema implements huma.SchemaTransformer.
func (rulePatch) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return example(s, `{"action":"DROP","enable":1,"delete":"macro","digest":"da39a3ee5e6b4b0d3255bfef95601890afd80709"}`)
}

// TransformSchema implements huma.SchemaTransformer.
func (moveIn) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return example(s, `{"moveto":0,"digest":"da39a3ee5e6b4b0d3255bfef95601890afd80709"}`)
}

// TransformSchema implements huma.SchemaTransformer.
func (aliasIn) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return example(s, `{"name":"backup-server","cidr":"192.0.2.10","comment":"in the cellar"}`)
}

// TransformSchema implements huma.SchemaTransformer.
func (aliasPatch) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return example(s, `{"cidr":"192.0.2.11","comment":"in the attic"}`)
}

// TransformSchema implements huma.SchemaTransformer.
func (ipSetIn) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return example(s, `{"name":"management","comment":"from where administrators come"}`)
}

// TransformSchema implements huma.SchemaTransformer.
func (memberIn) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return example(s, `{"cidr":"192.0.2.0/24","comment":"the office"}`)
}

// TransformSchema implements huma.SchemaTransformer.
func (memberPatch) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return example(s, `{"nomatch":1,"comment":"the guests of the office"}`)
}

// TransformSchema implements huma.SchemaTransformer.
func (groupIn) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return example(s, `{"group":"webserver","comment":"what every web server lets in"}`)
}

// TransformSchema implements huma.SchemaTransformer.
func (optionsIn) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return example(s, `{"enable":1,"policy_in":"DROP","policy_out":"ACCEPT"}`)
}
