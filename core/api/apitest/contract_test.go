package apitest_test

import (
	"context"
	"net/http"
	"regexp"
	"testing"

	"github.com/hostler/hostler/core/api/apitest"
	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/api/route"
	"github.com/hostler/hostler/core/problem"
)

const small = `{"openapi":"3.1.0","paths":{
	"/a/{id}":{"get":{"operationId":"one","responses":{"200":{"content":{"application/json":{"schema":{"type":"object",
		"additionalProperties":false,
		"required":["n"],"properties":{"n":{"type":["integer","null"]},"at":{"type":"string","format":"date-time"}}}}}},
		"204":{},"default":{"$ref":"#/components/responses/Problem"}}}},
	"/a/word":{"get":{"operationId":"word","responses":{"200":{"content":{"text/csv":{}}}}}},
	"/a/{id}/b/{rest}":{"get":{"operationId":"rest","responses":{"204":{}}}}},
	"components":{"responses":{"Problem":{"content":{"application/problem+json":{"schema":{"type":"object","required":["error"]}}}}}}}`

// TestContractComplains proves that an answer is noticed that is not as the document says.
func TestContractComplains(t *testing.T) {
	t.Parallel()
	const json, fault = "application/json", "application/problem+json"
	for _, test := range []struct {
		path   string
		status int
		media  string
		body   string
		sound  bool
	}{
		{"/a/1", 200, json, `{"n":1}`, true}, {"/a/1", 200, json, `{"n":null,"at":"2026-01-31T08:15:00Z"}`, true}, {"/a/1", 204, "", "", true},
		{"/a/1", 404, fault, `{"error":"x"}`, true}, {"/a/word", 200, "text/csv; charset=utf-8", "a,b", true}, {"/a/1/b/c/d", 204, "", "", true},
		{"/none", 404, fault, `{"error":"x"}`, true}, {"/none", 404, fault, `{}`, false},
		{"/a/1", 201, json, `{"n":1}`, false}, {"/a/1", 204, json, `{}`, false}, {"/a/1", 200, "text/plain", `{"n":1}`, false},
		{"/a/1", 200, json, `{`, false},
		{"/a/1", 200, json, `{}`, false}, {"/a/1", 200, json, `{"n":"1"}`, false}, {"/a/1", 200, json, `{"n":1,"m":1}`, false},
		{"/a/1", 200, json, `{"n":1,"at":null}`, false}, {"/a/1", 200, json, `{"n":1,"at":"yesterday"}`, false},
		{"/a/1", 404, json, `{"error":"x"}`, false}, {"/a/1", 404, fault, `{}`, false}, {"/a/word", 200, json, `{"n":1}`, false},
	} {
		if err := apitest.ContractComplaint(t, small, test.path, test.status, test.media, test.body); (err == nil) != test.sound {
			t.Errorf("%s %d %s %s: %v", test.path, test.status, test.media, test.body, err)
		}
	}
}

// TestNullsComplains proves that a null is noticed that is taken or refused against the document.
func TestNullsComplains(t *testing.T) {
	t.Parallel()
	type in struct {
		Body struct {
			Name *string `json:"name,omitempty" nullable:"true"`
			Size *int    `json:"size,omitempty"`
		}
	}
	router := route.New()
	a := op.New(op.Config{Router: router, Authenticator: apitest.Callers{}, Resolver: apitest.EmptyResolver{},
		Recorder: &apitest.MemoryRecorder{},
		Version:  "1"})
	for id, err := range map[string]error{"sound": nil, "strict": problem.InvalidField("not null", "null_forbidden", "body", "name")} {
		op.Post(a, "/api/v1/"+id, func(context.Context, *in) (*op.Empty, error) { return nil, err },
			op.Spec{ID: id, Summary: id, Tag: "x", Public: true})
	}
	document := func(pattern, by string) *apitest.API {
		handler := http.NewServeMux()
		handler.Handle("/", a)
		handler.HandleFunc("/api/openapi.json", func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write(regexp.MustCompile(pattern).ReplaceAll(a.Document(), []byte(by)))
		})
		return &apitest.API{Handler: handler, LogIn: apitest.FakeLogIn}
	}
	right := document(`^$`, "")
	generous := document(`("size": \{\s*"type": )"integer"`, `$1["integer","null"]`)
	shy := document(`("name": \{\s*"type": )\[\s*"string",\s*"null"\s*\]`, `$1"string"`)
	if found := right.NullComplaints(t, "sound"); len(found) > 0 {
		t.Errorf("nothing is wrong, and yet %q", found)
	}
	if found := right.NullComplaints(t, "strict"); len(found) == 0 {
		t.Error("a declared null that is refused passes")
	}
	if found := generous.NullComplaints(t, "sound"); len(found) != 1 {
		t.Errorf("a document that declares what is refused: %q", found)
	}
	if found := shy.NullComplaints(t, "sound"); len(found) != 1 {
		t.Errorf("a document that does not declare what is taken: %q", found)
	}
}
