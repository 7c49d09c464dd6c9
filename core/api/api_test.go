package api_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strings"
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
	return api.New(api.Deps{Authenticator: apitest.Callers{}, Resolver: apitest.Nothing{}, Recorder: &apitest.Trail{}, Version: "test"})
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

func TestDocsPage(t *testing.T) {
	t.Parallel()
	h := declared()
	a := &apitest.API{Handler: h, LogIn: apitest.FakeLogIn, Document: wholeDocument}
	a.Run(t, apitest.Scenario{Name: "page", Method: "GET", URL: "/api/docs", Status: 200,
		Contains: []string{"<h2>Errors</h2>", "confirm_required"},
		Lacks:    []string{"ZgotmplZ", "src=", "@import", "url(", "href=\"http", "href=\"//"},
		After: func(t *testing.T, answer *apitest.Answer) {
			policy := answer.Header.Get("Content-Security-Policy")
			for _, tag := range []string{"style", "script"} {
				inline := regexp.MustCompile(`(?s)<` + tag + `>(.*)</` + tag + `>`).FindSubmatch(answer.Body)
				if inline == nil {
					t.Fatalf("no <%s>", tag)
				}
				sum := sha256.Sum256(inline[1])
				if want := tag + "-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"; !strings.Contains(policy, want) {
					t.Errorf("the policy %q does not allow the page's own %s", policy, tag)
				}
			}
			if !strings.HasPrefix(policy, "default-src 'none'; ") || strings.Contains(policy, "unsafe") {
				t.Errorf("policy %q", policy)
			}
			for _, o := range h.Operations() {
				if !strings.Contains(string(answer.Body), `id="`+o.Spec.ID+`"`) {
					t.Errorf("the page lacks %s", o.Spec.ID)
				}
			}
		}})
}

func TestHandlersOutsideTheAPI(t *testing.T) {
	t.Parallel()
	say := func(text string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(text)) })
	}
	a := &apitest.API{LogIn: apitest.FakeLogIn, Handler: api.Handler(api.Deps{
		Authenticator: apitest.Callers{}, Resolver: apitest.Nothing{}, Recorder: &apitest.Trail{},
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
