package op_test

import (
	"context"
	"strings"
	"testing"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/identity"
)

func TestDeclarationsThatAreRefused(t *testing.T) {
	t.Parallel()
	type in struct {
		HostID int64 `path:"host_id"`
	}
	host := func(change func(*op.Spec)) op.Spec {
		spec := op.Spec{ID: "try", Summary: "Try", Tag: "Try", Role: identity.Viewer, On: op.Host}
		change(&spec)
		return spec
	}
	get := func(path string, spec op.Spec) func(*op.API) {
		return func(a *op.API) {
			op.Get(a, path, func(context.Context, *in) (*op.Empty, error) { return nil, nil }, spec)
		}
	}
	for name, declare := range map[string]func(*op.API){
		"no id":                               get("/api/v1/hosts/:host_id", host(func(s *op.Spec) { s.ID = "" })),
		"on a thing not in the path":          get("/api/v1/hosts", host(func(s *op.Spec) {})),
		"audit target not in path":            get("/api/v1/hosts/:host_id", host(func(s *op.Spec) { s.Audit.Target = "name" })),
		"placeholder that nobody reads":       get("/api/v1/hosts/:host_id/rules/:pos", host(func(s *op.Spec) {})),
		"placeholder of a thing it is not on": get("/api/v1/vms/:vm_id/:host_id", host(func(s *op.Spec) {})),
		"alias with a placeholder that nobody reads": get("/api/v1/hosts/:host_id", host(func(s *op.Spec) {
			s.Aliases = []op.Alias{{Path: "/api/v1/host/:host_id/:pos", ID: "try_again"}}
		})),
		"field whose placeholder is not in the path": func(a *op.API) {
			op.Get(a, "/api/v1/x", func(context.Context, *in) (*op.Empty, error) { return nil, nil }, public)
		},
		"on a node without one": get("/api/v1/hosts/:host_id", host(func(s *op.Spec) { s.On = op.Node })),
		"path parameter that huma does not see": func(a *op.API) {
			op.Get(a, "/api/v1/hosts/:host_id/rules/:pos", func(context.Context, *struct{ Rule ruleIn }) (*op.Empty, error) { return nil, nil },
				host(func(s *op.Spec) {}))
		},
		"path parameter that huma does not see, the thing's own": func(a *op.API) {
			op.Get(a, "/api/v1/hosts/:host_id", func(context.Context, *struct{ Host in }) (*op.Empty, error) { return nil, nil },
				host(func(s *op.Spec) {}))
		},
		"query parameter that huma does not see": func(a *op.API) {
			op.Get(a, "/x", func(context.Context, *struct{ List listIn }) (*op.Empty, error) { return nil, nil }, public)
		},
		"default that eats false": func(a *op.API) {
			op.Post(a, "/x", func(context.Context, *struct {
				Body struct {
					On bool `json:"on" default:"true"`
				}
			}) (*op.Empty, error) {
				return nil, nil
			}, public)
		},
		"default that eats zero": func(a *op.API) {
			op.Post(a, "/x", func(context.Context, *struct {
				Body struct {
					N int `json:"n" default:"5"`
				}
			}) (*op.Empty, error) {
				return nil, nil
			}, public)
		},
		"optional that is required": func(a *op.API) {
			op.Patch(a, "/x", func(context.Context, *struct {
				Body struct {
					N op.Optional[int] `json:"n"`
				}
			}) (*op.Empty, error) {
				return nil, nil
			}, public)
		},
		"embedded input that huma does not see": func(a *op.API) {
			op.Get(a, "/x", func(context.Context, *struct{ hostIn }) (*op.Empty, error) { return nil, nil }, public)
		},
		"object that must be given and may be null": func(a *op.API) {
			op.Post(a, "/x", func(context.Context, *struct {
				Body struct {
					N *item `json:"n"`
				}
			}) (*op.Empty, error) {
				return nil, nil
			}, public)
		},
		"two types that would be one schema": func(a *op.API) {
			type item struct {
				Other string `json:"other"`
			}
			op.Get(a, "/x", func(context.Context, *nothing) (*op.Body[item], error) { return nil, nil }, public)
			declareItem(a)
		},
		"unique items": func(a *op.API) {
			op.Post(a, "/x", func(context.Context, *struct {
				Body struct {
					N []string `json:"n" uniqueItems:"true"`
				}
			}) (*op.Empty, error) {
				return nil, nil
			}, public)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			lone(t, op.Config{}, declare)
		})
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	for _, o := range newSample(t, sampleConfig{}).Operations() {
		if err := o.Check(); err != nil {
			t.Errorf("sample: %v", err)
		}
	}
	for name, o := range map[string]op.Operation{
		"unaudited change": {Method: "POST", Path: "/api/v1/x", Spec: op.Spec{Role: identity.Admin}},
		"no role":          {Method: "GET", Path: "/api/v1/x"},
		"host not judged":  {Method: "GET", Path: "/api/v1/hosts/{host_id}", Spec: op.Spec{Role: identity.Viewer}},
		"public with role": {Method: "GET", Path: "/api/v1/x", Spec: op.Spec{Public: true, Role: identity.Viewer}},
		"audited reading":  {Method: "GET", Path: "/api/v1/x", Spec: op.Spec{Role: identity.Viewer, Audit: op.Audit{Action: "x"}}},
	} {
		if o.Check() == nil {
			t.Errorf("%s passed", name)
		}
	}
}

func TestDocumentIsStable(t *testing.T) {
	t.Parallel()
	first := newSample(t, sampleConfig{}).Document()
	for range 5 {
		if string(newSample(t, sampleConfig{}).Document()) != string(first) {
			t.Fatal("two documents differ")
		}
	}
	text := string(first)
	if !strings.Contains(text, `"openapi": "3.1.0"`) || strings.Index(text, `"name": {`) > strings.Index(text, `"cores": {`) {
		t.Error("the fields are not in the declared order")
	}
}

// declareItem declares an operation that answers with the package's item.
func declareItem(a *op.API) {
	spec := public
	spec.ID = "get_item"
	op.Get(a, "/item", func(context.Context, *nothing) (*op.Body[item], error) { return nil, nil }, spec)
}
