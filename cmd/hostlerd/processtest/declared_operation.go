package processtest

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
)

// declaredOperation is what the tests read of an operation in the OpenAPI document.
type declaredOperation struct {
	ID       string `json:"operationId"`
	Security []any

	method, path string
}

// placeholder is a parameter of a path.
var placeholder = regexp.MustCompile(`\{[^}]+\}`)

// declaredOperations are those of the running service that need a caller.
func declaredOperations(t testing.TB, c *client) []declaredOperation {
	t.Helper()
	var document struct {
		Paths map[string]map[string]declaredOperation
	}
	c.must(t, http.StatusOK, http.MethodGet, "/api/openapi.json", nil, &document)
	var all []declaredOperation
	for path, methods := range document.Paths {
		for method, o := range methods {
			if len(o.Security) > 0 {
				o.method, o.path = strings.ToUpper(method), path
				all = append(all, o)
			}
		}
	}
	if len(all) < 30 {
		t.Fatalf("the document has %d operations for callers", len(all))
	}
	return all
}
