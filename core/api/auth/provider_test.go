package auth_test

import (
	"net/http"
	"testing"

	"github.com/hostler/hostler/core/api/apitest"
)

// A path that is open to everybody tells everybody which methods it has, also where a part of it is anybody's to choose.
func TestMethodsOfWhatIsOpenToEverybody(t *testing.T) {
	t.Parallel()
	s := newService(t)
	for _, path := range []string{"/api/v1/auth/login", "/api/v1/auth/providers/1/login", "/api/v1/auth/providers/1/callback"} {
		s.Run(t, apitest.Scenario{Name: path, Method: http.MethodPut, URL: path, Status: http.StatusMethodNotAllowed,
			Error: "method_not_allowed"})
	}
	s.Run(t, apitest.Scenario{Name: "one that is not", Method: http.MethodPut, URL: "/api/v1/auth/me", Status: http.StatusUnauthorized,
		Error: "unauthenticated"})
}
