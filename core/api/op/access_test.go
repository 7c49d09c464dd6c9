package op_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/problem"
)

func TestOrderOfChecks(t *testing.T) {
	t.Parallel()
	const bad = `{"nam":1}`
	tests := []struct {
		name, method, path, body, as string
		off                          string
		status                       int
		code                         string
	}{
		{"nobody, on a foreign thing, with a bad body", "PATCH", "/api/v1/hosts/8", bad, "", "", 401, "unauthenticated"},
		{"nobody, on an unknown path", "GET", "/api/v1/nothing", "", "", "", 401, "unauthenticated"},
		{"nobody, with a wrong method", "PUT", "/api/v1/hosts", "", "", "", 401, "unauthenticated"},
		{"needed role held nowhere, thing missing", "PATCH", "/api/v1/hosts/99", bad, "operator@2", "", 403, "forbidden"},
		{"needed role held nowhere, id malformed", "PATCH", "/api/v1/hosts/x", bad, "operator@2", "", 403, "forbidden"},
		{"role in another team does not count on the instance", "POST", "/api/v1/hosts", bad, "owner@2", "", 403, "forbidden"},
		{"role counts on the team's own thing", "PATCH", "/api/v1/hosts/7", `{"port":1}`, "admin@2", "", 200, ""},
		{"role in the default team counts everywhere", "PATCH", "/api/v1/hosts/8", `{"port":1}`, "admin", "", 200, ""},
		{"role before entitlement", "PATCH", "/api/v1/hosts/7", bad, "viewer", "hosts.patch", 403, "forbidden"},
		{"entitlement before input", "PATCH", "/api/v1/hosts/7", bad, "admin", "hosts.patch", 403, "entitlement_required"},
		{"entitlement before existence", "PATCH", "/api/v1/hosts/99", `{"port":1}`, "admin", "hosts.patch", 403, "entitlement_required"},
		{"input before existence", "PATCH", "/api/v1/hosts/99", bad, "admin", "", 422, "invalid"},
		{"input before a foreign thing", "PATCH", "/api/v1/hosts/8", bad, "admin@2", "", 422, "invalid"},
		{"a foreign thing is not found", "PATCH", "/api/v1/hosts/8", `{"port":1}`, "admin@2", "", 404, "not_found"},
		{"existence before state", "DELETE", "/api/v1/hosts/99", "", "owner", "", 404, "not_found"},
		{"state last", "DELETE", "/api/v1/hosts/7", "", "owner", "", 409, "confirm_required"},
		{"unknown path for a known caller", "GET", "/api/v1/nothing", "", "viewer", "", 404, "not_found"},
		{"wrong method for a known caller", "PUT", "/api/v1/hosts", "", "viewer", "", 405, "method_not_allowed"},
		{"key without the scope", "PATCH", "/api/v1/hosts/7", bad, "admin read", "", 403, "forbidden"},
		{"key with another resource's scope", "PATCH", "/api/v1/hosts/7", bad, "admin vms:write", "", 403, "forbidden"},
		{"key with no scope at all", "GET", "/api/v1/hosts/7", "", "admin ", "", 403, "forbidden"},
		{"key with the scope", "PATCH", "/api/v1/hosts/7", `{"port":1}`, "admin read hosts:write", "", 200, ""},
		{"key that may write may read", "GET", "/api/v1/hosts/7", "", "viewer hosts:write", "", 200, ""},
		{"key never exceeds its user", "PATCH", "/api/v1/hosts/7", `{"port":1}`, "viewer hosts:write", "", 403, "forbidden"},
		{"public", "POST", "/api/v1/auth/login", `{"email":"a","password":"b"}`, "", "", 200, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newSample(t, sampleConfig{})
			s.off[tt.off] = true
			var headers []string
			if tt.as != "" {
				headers = as(tt.as)
			}
			w := s.call(tt.method, tt.path, tt.body, headers...)
			if w.Code != tt.status || (tt.code != "" && !strings.Contains(w.Body.String(), `"error":"`+tt.code+`"`)) {
				t.Errorf("%d %s", w.Code, w.Body)
			}
		})
	}
}

func TestVisibleWithTooLowARoleIsForbidden(t *testing.T) {
	t.Parallel()
	s := newSample(t, sampleConfig{})
	caller := &identity.Caller{Teams: map[int64]identity.Role{2: identity.Viewer, 3: identity.Admin}}
	s.caller = caller // admin in team 3, so the role is held somewhere; viewer on host 7
	if w := s.call("PATCH", "/api/v1/hosts/7", `{"nam":1}`); w.Code != 403 {
		t.Errorf("on a visible host: %d %s", w.Code, w.Body)
	}
	if w := s.call("PATCH", "/api/v1/hosts/8", `{"port":1}`); w.Code != 200 {
		t.Errorf("on the own host: %d %s", w.Code, w.Body)
	}
}

func TestForeignAndMissingAreOneAnswer(t *testing.T) {
	t.Parallel()
	s := newSample(t, sampleConfig{})
	answer := func(path string) string {
		w := s.call("GET", path, "", "Authorization", "Bearer viewer@2", "X-Request-ID", "same")
		var b strings.Builder
		_ = w.Result().Header.Write(&b)
		return w.Result().Status + "\n" + b.String() + w.Body.String()
	}
	if foreign, missing := answer("/api/v1/hosts/8"), answer("/api/v1/hosts/99"); foreign != missing || !strings.Contains(foreign, "404") {
		t.Errorf("foreign:\n%s\nmissing:\n%s", foreign, missing)
	}
}

func TestResolverFailureIsNotNotFound(t *testing.T) {
	t.Parallel()
	s := newSample(t, sampleConfig{})
	s.resolve = problem.New(problem.CodeDatabaseUnavailable, "the database does not answer")
	if w := s.call("GET", "/api/v1/hosts/7", "", as("viewer")...); w.Code != 503 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

func TestCrossOrigin(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		method  string
		path    string
		headers []string
		status  int
	}{
		{"cookie from another site", "DELETE", "/api/v1/hosts/7", []string{"Cookie", "a=b", "Sec-Fetch-Site", "cross-site"}, 403},
		{"cookie from a sibling host", "DELETE", "/api/v1/hosts/7", []string{"Cookie", "a=b", "Sec-Fetch-Site", "same-site"}, 403},
		{"cookie with a foreign origin", "DELETE", "/api/v1/hosts/7", []string{"Cookie", "a=b", "Origin", "https://evil.example"}, 403},
		{"cookie from our page", "DELETE", "/api/v1/hosts/7", []string{"Cookie", "a=b", "Sec-Fetch-Site", "same-origin"}, 409},
		{"cookie of a program", "DELETE", "/api/v1/hosts/7", []string{"Cookie", "a=b"}, 409},
		{"reading is not state-changing", "GET", "/api/v1/hosts/7", []string{"Cookie", "a=b", "Sec-Fetch-Site", "cross-site"}, 200},
		{"key without a cookie", "DELETE", "/api/v1/hosts/7", []string{"Sec-Fetch-Site", "cross-site"}, 409},
		{"log-in from another site", "POST", "/api/v1/auth/login", []string{"Sec-Fetch-Site", "cross-site"}, 403},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newSample(t, sampleConfig{})
			w := s.call(tt.method, tt.path, "", append(as("owner"), tt.headers...)...)
			if w.Code != tt.status || (tt.status == 403) != strings.Contains(w.Body.String(), "cross_origin") {
				t.Errorf("%d %s", w.Code, w.Body)
			}
		})
	}
}

func TestRequireOn(t *testing.T) {
	t.Parallel()
	ctx := identity.WithCaller(context.Background(), &identity.Caller{Teams: map[int64]identity.Role{2: identity.Operator}})
	for _, tt := range []struct {
		ctx  context.Context
		team int64
		role identity.Role
		want problem.Code
	}{
		{ctx, 2, identity.Operator, ""},
		{ctx, 2, identity.Admin, problem.CodeForbidden},
		{ctx, 3, identity.Viewer, problem.CodeNotFound},
		{context.Background(), 2, identity.Viewer, problem.CodeNotFound},
	} {
		err := op.RequireRole(tt.ctx, tt.team, tt.role)
		if (err == nil) != (tt.want == "") || (err != nil && problem.CodeOf(err) != tt.want) {
			t.Errorf("team %d, role %s: %v", tt.team, tt.role, err)
		}
	}
}

func TestAuthenticatorFailureIsNotAnonymous(t *testing.T) {
	t.Parallel()
	s := newSample(t, sampleConfig{})
	s.auth = errors.New("the session store is broken")
	for _, path := range []string{"/api/v1/hosts", "/api/v1/nothing"} {
		w := s.call(http.MethodGet, path, "")
		if w.Code != 500 || strings.Contains(w.Body.String(), "broken") {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
}
