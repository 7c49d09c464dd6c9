package configs

import "github.com/danielgtaylor/huma/v2"

// Tags are the tags of a guest.
type Tags []string

var _ huma.SchemaProvider = Tags{}

// Schema implements huma.SchemaProvider. It limits the number of tags and
// allows only tags that every hypervisor with tags accepts.
func (Tags) Schema(huma.Registry) *huma.Schema {
	most, least, longest := 64, 1, 64
	return &huma.Schema{Type: huma.TypeArray, MaxItems: &most, Items: &huma.Schema{
		Type: huma.TypeString, MinLength: &least, MaxLength: &longest, Pattern: "^[A-Za-z0-9_][A-Za-z0-9_.+-]*$", Examples: []any{"web"},
	}}
}
