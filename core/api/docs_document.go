package api

import (
	"encoding/json"
	"fmt"
	"strings"
)

// apiDocument is as much of an OpenAPI document as the page shows.
type apiDocument struct {
	Info struct{ Title, Version, Description string }
	Tags []struct{ Name string }
	// Errors is the table of problem codes.
	Errors     json.RawMessage `json:"x-errors"`
	Paths      ordered[ordered[apiOperation]]
	Components struct {
		Schemas   map[string]*apiSchema
		Responses map[string]apiResponse
	}
}

type apiOperation struct {
	Tags        []string
	ID          string `json:"operationId"`
	Summary     string
	Description string
	Role        string `json:"x-role"`
	On          string `json:"x-on"`
	Scope       string `json:"x-scope"`
	Entitlement string `json:"x-entitlement"`
	Capability  string `json:"x-capability"`
	Confirm     struct {
		When, Field, Phrase string
	} `json:"x-confirm"`
	Plan       bool   `json:"x-plan"`
	Audit      string `json:"x-audit"`
	Parameters []struct {
		Name, In, Description string
		Required              bool
		Schema                apiSchema
	}
	RequestBody *struct {
		Required bool
		Content  ordered[apiMedia]
	}
	Responses ordered[apiResponse]
}

type apiResponse struct {
	Ref         string `json:"$ref"`
	Description string
	Content     ordered[apiMedia]
}

type apiMedia struct {
	Schema  *apiSchema
	Example json.RawMessage
}

type apiSchema struct {
	Ref                  string `json:"$ref"`
	Type                 any
	Format, Description  string
	Pattern              string
	Enum                 []any
	Default              json.RawMessage
	Minimum, Maximum     *float64
	MinLength, MaxLength *float64
	MaxItems             *float64
	Required             []string
	Properties           ordered[apiSchema]
	Items                *apiSchema
	AnyOf                []apiSchema
}

// present is what a value looks like that is not null.
func (s *apiSchema) present() *apiSchema {
	if len(s.AnyOf) > 0 {
		return &s.AnyOf[0]
	}
	return s
}

// typeName is the schema's type in a word or two.
func (s *apiSchema) typeName() string {
	if s.Ref != "" {
		return s.Ref[strings.LastIndex(s.Ref, "/")+1:]
	}
	if len(s.AnyOf) > 0 {
		names := make([]string, len(s.AnyOf))
		for i := range s.AnyOf {
			names[i] = s.AnyOf[i].typeName()
		}
		return strings.Join(names, " or ")
	}
	name := "any"
	switch t := s.Type.(type) {
	case string:
		name = t
	case []any:
		names := make([]string, len(t))
		for i := range t {
			names[i] = fmt.Sprint(t[i])
		}
		name = strings.Join(names, " or ")
	}
	if s.Items != nil {
		return name + " of " + s.Items.typeName()
	}
	if s.Format != "" && s.Format != "int64" && s.Format != "double" {
		name += " (" + s.Format + ")"
	}
	return name
}
