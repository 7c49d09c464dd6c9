package api_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"sync"
	"testing"

	"github.com/hostler/hostler/core/api"
	"github.com/hostler/hostler/core/api/apitest"
	"github.com/hostler/hostler/core/api/op"
)

// declared is the API with nothing behind it: enough for all that its declarations decide.
var declared = sync.OnceValue(declare)

// wholeDocument is the OpenAPI document of every instance of the API.
var wholeDocument = sync.OnceValue(func() []byte { return declared().Document() })

func declare() *op.API {
	return api.New(api.Deps{Authenticator: apitest.Callers{}, Resolver: apitest.EmptyResolver{}, Recorder: &apitest.MemoryRecorder{},
		Version: "test"})
}

var parameter = regexp.MustCompile(`\{[^}]+\}`)

func TestDeclarations(t *testing.T) {
	t.Parallel()
	for _, o := range declared().Operations() {
		if err := o.Check(); err != nil {
			t.Error(err)
		}
	}
}

func TestDocsLeadToTheReferenceOfThePage(t *testing.T) {
	t.Parallel()
	page := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	for _, test := range []struct {
		ui     http.Handler
		status int
		to     string
	}{{page, http.StatusFound, "../api-docs.html"}, {nil, http.StatusUnauthorized, ""}} {
		w := httptest.NewRecorder()
		h := api.Handler(api.Deps{Authenticator: apitest.Callers{}, Resolver: apitest.EmptyResolver{}, Recorder: &apitest.MemoryRecorder{},
			UI: test.ui})
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/api/docs", nil))
		if w.Code != test.status || w.Header().Get("Location") != test.to {
			t.Errorf("%d, to %q", w.Code, w.Header().Get("Location"))
		}
	}
}

func TestHandlersOutsideTheAPI(t *testing.T) {
	t.Parallel()
	say := func(text string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(text)) })
	}
	a := &apitest.API{LogIn: apitest.FakeLogIn, Handler: api.Handler(api.Deps{
		Authenticator: apitest.Callers{}, Resolver: apitest.EmptyResolver{}, Recorder: &apitest.MemoryRecorder{},
		Health: say("alive"), Ready: say("ready"), Metrics: say("metrics"), UI: say("page"),
	})}
	a.Run(t,
		apitest.Scenario{Name: "health", Method: "GET", URL: "/healthz", Status: 200, Contains: []string{"alive"}},
		apitest.Scenario{Name: "ready", Method: "GET", URL: "/readyz", Status: 200, Contains: []string{"ready"}},
		apitest.Scenario{Name: "metrics", Method: "GET", URL: "/metrics", Status: 200, Contains: []string{"metrics"}},
		apitest.Scenario{Name: "user interface", Method: "GET", URL: "/hosts/7", Status: 200, Contains: []string{"page"}},
		apitest.Scenario{Name: "the API's own paths are not the user interface's", Method: "GET", URL: "/api/v1/nothing", As: apitest.Viewer,
			Status: 404, Error: "not_found"},
		apitest.Scenario{Name: "nor for nobody", Method: "GET", URL: "/api/v1/nothing", Status: 401, Error: "unauthenticated"},
	)
}

// TestErrorTable holds the document's table against the scheme of its identifiers.
func TestErrorTable(t *testing.T) {
	t.Parallel()
	var doc struct {
		Errors []struct {
			Error  string
			Status int
			Title  string
		} `json:"x-errors"`
	}
	if err := json.Unmarshal(wholeDocument(), &doc); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, row := range doc.Errors {
		names = append(names, row.Error)
		if !regexp.MustCompile(`^[a-z]+(_[a-z]+)*$`).MatchString(row.Error) || row.Title == "" || row.Status < 400 || row.Status > 599 {
			t.Errorf("%+v", row)
		}
	}
	slices.Sort(names)
	if len(names) < 20 || len(slices.Compact(names)) != len(doc.Errors) {
		t.Errorf("%d rows", len(doc.Errors))
	}
}
