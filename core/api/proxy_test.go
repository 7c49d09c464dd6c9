package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/hostler/hostler/core/proxy"
	"github.com/hostler/hostler/core/service"
	"github.com/hostler/hostler/core/service/servicetest"
)

// Tries are counted by the client's address behind a proxy that is believed, whatever clients put before what the proxy adds, and the
// audit log has that address.
func TestLogInTriesBehindAProxy(t *testing.T) {
	t.Parallel()
	s := servicetest.New(t, func(c *service.Config) {
		c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("192.0.2.1/32"), netip.MustParsePrefix("192.0.2.2/32")}
	})
	handler := s.Handler()
	try := func(i int, from, forwarded string) int {
		t.Helper()
		body := fmt.Sprintf(`{"email":"nobody%d@example.com","password":"x"}`, i)
		r := httptest.NewRequest("POST", "/api/v1/auth/login", strings.NewReader(body))
		r.RemoteAddr = from + ":4711"
		r.Header = http.Header{"Content-Type": {"application/json"}, "X-Forwarded-For": {forwarded}}
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		return w.Code
	}
	for i := range 30 {
		if got := try(i, "192.0.2.1", fmt.Sprintf("6.6.6.%d, 203.0.113.7, 192.0.2.2", i)); got != 401 {
			t.Fatalf("try %d: %d", i, got)
		}
	}
	if got := try(30, "192.0.2.2", "203.0.113.7"); got != 429 {
		t.Errorf("one more by the other proxy: %d", got)
	}
	if got := try(31, "192.0.2.1", "203.0.113.8"); got != 401 {
		t.Errorf("the proxy's next client: %d", got)
	}
	if got := try(32, "203.0.113.9", "203.0.113.7"); got != 401 {
		t.Errorf("a stranger who says it were the first client: %d", got)
	}
	var addresses string
	err := s.DB.Pool.QueryRow(t.Context(), "SELECT string_agg(DISTINCT address, ' ' ORDER BY address) FROM audit").Scan(&addresses)
	if err != nil || addresses != "203.0.113.7 203.0.113.8 203.0.113.9" {
		t.Errorf("the audit log has %s: %v", addresses, err)
	}
}

// What contradicts itself is served by no operation, and whoever tries the proxy reads why.
func TestContradictingProxyIsRefused(t *testing.T) {
	t.Parallel()
	handler := servicetest.New(t, func(c *service.Config) {
		c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}
	}).Handler()
	r := httptest.NewRequest("GET", "/api/v1/setup", nil)
	r.Header = http.Header{"X-Forwarded-For": {"203.0.113.7"}, "Forwarded": {"for=6.6.6.6"}}
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r)
	if w.Code != 400 || !strings.Contains(w.Body.String(), `"malformed"`) || !strings.Contains(w.Body.String(), "let it delete the one") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// The base URL is the origin of pages whatever Host the proxy sends, the server of the document, and its path is cut off where the proxy
// has left it.
func TestBaseURL(t *testing.T) {
	t.Parallel()
	base, err := proxy.ParseBaseURL("https://hostler.example.com/infra/hostler")
	if err != nil {
		t.Fatal(err)
	}
	handler := servicetest.New(t, func(c *service.Config) { c.BaseURL = base }).Handler()
	ask := func(method, path string, headers ...string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(method, path, strings.NewReader(`{"email":"a@example.com","password":"x"}`))
		r.Host = "127.0.0.1:8480"
		r.Header.Set("Content-Type", "application/json")
		for i := 0; i < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		return w
	}
	for _, tt := range []struct {
		path, origin string
		status       int
	}{
		{"/infra/hostler/api/v1/auth/login", "https://hostler.example.com", 401},
		{"/api/v1/auth/login", "https://hostler.example.com", 401},
		{"/api/v1/auth/login", "http://hostler.example.com", 403},
		{"/api/v1/auth/login", "https://evil.example", 403},
	} {
		if w := ask("POST", tt.path, "Origin", tt.origin); w.Code != tt.status {
			t.Errorf("%s by a page of %s: %d %s", tt.path, tt.origin, w.Code, w.Body)
		}
	}
	var document struct{ Servers []struct{ URL string } }
	if err := json.Unmarshal(ask("GET", "/infra/hostler/api/openapi.json").Body.Bytes(), &document); err != nil ||
		len(document.Servers) != 1 || document.Servers[0].URL != base.String() {
		t.Errorf("%v %+v", err, document)
	}
	for _, path := range []string{"/healthz", "/infra/hostler/healthz"} {
		if w := ask("GET", path); w.Code != 200 {
			t.Errorf("%s: %d", path, w.Code)
		}
	}
}
