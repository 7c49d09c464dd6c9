package op_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/api/route"
	"github.com/hostler/hostler/core/identity"
)

// An operation answers alike at all its paths: role, key scope and audit row are those of the first.
func TestAliases(t *testing.T) {
	t.Parallel()
	s := newSample(t, sampleConfig{})
	a := op.New(op.Config{Router: route.New(), Authenticator: s, Resolver: s, Recorder: s})
	op.Post(a, "/api/v1/things/:name", func(context.Context, *struct {
		Name string `path:"name"`
		Body struct {
			Size int `json:"size"`
		}
	}) (*op.Body[string], error) {
		return &op.Body[string]{Body: "done"}, nil
	}, op.Spec{
		ID: "make_thing", Summary: "Make a thing", Description: "It is made.", Tag: "Things", Role: identity.Admin,
		Audit: op.Audit{Action: "thing.make", Target: "name"}, Aliases: []op.Alias{{Path: "/made/:name", ID: "make_thing_shortly"}},
	})
	call := func(path, token string) int {
		r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(`{"size":1}`))
		r.Header.Set("Content-Type", "application/json")
		if token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
		w := httptest.NewRecorder()
		a.ServeHTTP(w, r)
		return w.Code
	}
	for _, path := range []string{"/api/v1/things/x", "/made/x"} {
		for token, want := range map[string]int{"": 401, "operator": 403, "owner@7": 403, "admin": 200, "admin things:write": 200,
			"admin made:write": 403, "admin read": 403} {
			if got := call(path, token); got != want {
				t.Errorf("POST %s as %q: %d, want %d", path, token, got, want)
			}
		}
	}
	ok := 0
	for _, e := range s.trail() {
		if e.Action != "thing.make" || e.TargetName != "x" {
			t.Errorf("%+v", e)
		}
		if e.Result == "ok" {
			ok++
		}
	}
	if ok != 4 {
		t.Errorf("%d of 4 are in the audit log", ok)
	}
	var doc struct {
		Paths map[string]map[string]struct {
			ID          string `json:"operationId"`
			Description string
			Scope       string `json:"x-scope"`
			RequestBody struct {
				Content map[string]struct {
					Schema struct {
						Ref string `json:"$ref"`
					}
				}
			}
		}
	}
	if err := json.Unmarshal(a.Document(), &doc); err != nil {
		t.Fatal(err)
	}
	first, again := doc.Paths["/api/v1/things/{name}"]["post"], doc.Paths["/made/{name}"]["post"]
	if first.ID != "make_thing" || again.ID != "make_thing_shortly" || again.Scope != "things:write" ||
		again.Description != "The same as POST /api/v1/things/{name}.\n\nIt is made." {
		t.Errorf("%+v, %+v", first, again)
	}
	if ref := first.RequestBody.Content["application/json"].Schema.Ref; ref == "" ||
		ref != again.RequestBody.Content["application/json"].Schema.Ref {
		t.Errorf("the bodies are %q and %+v", ref, again.RequestBody)
	}
	if scopes := strings.Join(a.Scopes(), " "); scopes != "read things:write" {
		t.Errorf("the scopes are %s", scopes)
	}
}
