package op_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/api/route"
	"github.com/hostler/hostler/core/problem"
)

// The check of a body costs a small multiple of its size, whatever is in it. Not parallel: it measures all that is allocated.
func TestCheckOfAnyBodyIsBounded(t *testing.T) {
	const size = 1_000_000
	s := newSample(t, sampleConfig{})
	for name, body := range worstBodies(size) {
		r := httptest.NewRequest("POST", "/api/v1/hosts", strings.NewReader(body))
		r.Header.Set("Authorization", "Bearer owner")
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		s.ServeHTTP(w, r)
		runtime.ReadMemStats(&after)
		if w.Code != 201 && w.Code != 422 {
			t.Errorf("%s: %d %.200s", name, w.Code, w.Body)
		}
		if used := (after.TotalAlloc - before.TotalAlloc) / uint64(len(body)); used > 40 {
			t.Errorf("%s: %d bytes for each of the body", name, used)
		}
		if w.Code == 422 && len(faults(t, w)) > 20 {
			t.Errorf("%s: %d faults", name, len(faults(t, w)))
		}
	}
}

// untouched is a body that nobody may read.
type untouched struct{ t *testing.T }

func (u untouched) Read([]byte) (int, error) {
	u.t.Error("the body was read")
	return 0, http.ErrBodyReadAfterClose
}
func (untouched) Close() error { return nil }

func publicSample(t *testing.T, requests int) *sample {
	t.Helper()
	s := &sample{}
	s.API = op.New(op.Config{Router: route.New(), Authenticator: s, Resolver: s, Recorder: s, PublicRequests: requests, PublicRate: 0.001,
		Browser: func(_ context.Context, r *http.Request) (string, error) { return r.Header.Get("Device"), nil }})
	spec := public
	spec.Audit = op.Audit{Action: "try.it"}
	op.Post(s.API, "/api/v1/try", func(context.Context, *echoIn) (*op.Body[string], error) { return &op.Body[string]{Body: "done"}, nil },
		spec)
	op.Get(s.API, "/api/v1/closed", func(context.Context, *nothing) (*op.Empty, error) { return nil, nil },
		op.Spec{ID: "closed", Summary: "Closed", Tag: "Try"})
	return s
}

func TestPublicRequestsAreLimitedByAddress(t *testing.T) {
	t.Parallel()
	synctest.Test(t, publicRequestsAreLimitedByAddress)
}

func publicRequestsAreLimitedByAddress(t *testing.T) {
	s := publicSample(t, 3)
	call := func(address string, headers ...string) *httptest.ResponseRecorder {
		r := httptest.NewRequest("POST", "/api/v1/try", strings.NewReader(`{"text":"a"}`))
		r.RemoteAddr = address
		r.Header.Set("Content-Type", "application/json")
		for i := 0; i < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		return w
	}
	same := []string{"192.0.2.1:1", "192.0.2.1:2", "[::ffff:192.0.2.1]:3"}
	for _, address := range same {
		if w := call(address); w.Code != 200 {
			t.Fatalf("%s: %d %s", address, w.Code, w.Body)
		}
	}
	r := httptest.NewRequest("POST", "/api/v1/try", nil)
	r.Body, r.ContentLength = untouched{t}, 1<<19
	r.RemoteAddr = same[0]
	w := httptest.NewRecorder()
	if s.ServeHTTP(w, r); w.Code != 429 || w.Header().Get("Retry-After") != "1000" || !strings.Contains(w.Body.String(), `"rate_limited"`) {
		t.Errorf("%d %v %s", w.Code, w.Header(), w.Body)
	}
	if w := call(same[1], "X-Forwarded-For", "192.0.2.7"); w.Code != 429 {
		t.Errorf("another address by a header: %d", w.Code)
	}
	if w := call(same[0], as("viewer")...); w.Code != 200 {
		t.Errorf("a known caller at the same address: %d %s", w.Code, w.Body)
	}
	for i := range 4 { // on its own account, from wherever
		want := map[bool]int{true: 200, false: 429}[i < 3]
		if w := call(same[0], "Device", "device:1"); w.Code != want {
			t.Errorf("request %d of a known browser: %d, want %d", i, w.Code, want)
		}
	}
	if w := call("192.0.2.2:1"); w.Code != 200 {
		t.Errorf("another address: %d", w.Code)
	}
	for i := range 4 {
		want := map[bool]int{true: 200, false: 429}[i < 3]
		if w := call(fmt.Sprintf("[2001:db8::%d:0:0:1]:1", i)); w.Code != want {
			t.Errorf("address %d of one /64: %d, want %d", i, w.Code, want)
		}
	}
	if w := call("[2001:db8:0:1::1]:1"); w.Code != 200 {
		t.Errorf("another /64: %d", w.Code)
	}
	closed := httptest.NewRequest("GET", "/api/v1/closed", nil)
	closed.RemoteAddr, closed.Header = same[0], http.Header{"Authorization": {"Bearer viewer"}}
	w = httptest.NewRecorder()
	if s.ServeHTTP(w, closed); w.Code != 204 {
		t.Errorf("an operation for known callers: %d", w.Code)
	}
	refused := 0
	for _, e := range s.trail() {
		if e.Error == string(problem.CodeRateLimited) && e.Action == "try.it" {
			refused++
		}
	}
	if refused != 4 {
		t.Errorf("%d refused attempts are in the audit log", refused)
	}
}

func TestBodyBeforeLogInIsSmall(t *testing.T) {
	t.Parallel()
	s := publicSample(t, 100)
	body := func(size int) string { return `{"text":"` + strings.Repeat("a", size-11) + `"}` }
	for size, want := range map[int]int{4096: 200, 4097: 413, 1 << 20: 413} {
		if w := s.call("POST", "/api/v1/try", body(size)); w.Code != want {
			t.Errorf("%d bytes: %d %.300s", size, w.Code, w.Body)
		}
		r := httptest.NewRequest("POST", "/api/v1/try", strings.NewReader(body(size)))
		r.ContentLength = -1 // chunked
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		if s.ServeHTTP(w, r); w.Code != want {
			t.Errorf("%d bytes in chunks: %d %.300s", size, w.Code, w.Body)
		}
	}
	if w := newSample(t, sampleConfig{}).call("POST", "/api/v1/hosts", `{"name":"a"`+strings.Repeat(" ", 5000)+`}`,
		as("owner")...); w.Code != 201 {
		t.Errorf("after log-in: %d", w.Code)
	}
}

// A method that no path can have is 405 to everyone; what else a path lacks is told to known callers only.
func TestMethodsThatAreNotThere(t *testing.T) {
	t.Parallel()
	s := newSample(t, sampleConfig{})
	for _, tt := range []struct {
		method, path, role string
		status             int
		allow              string
	}{
		{"TRACE", "/api/v1/hosts", "", 405, "GET, HEAD, POST"},
		{"TRACE", "/api/v1/hosts", "viewer", 405, "GET, HEAD, POST"},
		{"TRACE", "/api/v1/nothing", "", 405, ""},
		{"TRACE", "/api/v1/auth/login", "", 405, "POST"},
		{"OPTIONS", "/api/v1/hosts/7", "", 405, "DELETE, GET, HEAD, PATCH"},
		{"DELETE", "/api/v1/hosts", "", 401, ""},
		{"DELETE", "/api/v1/hosts", "viewer", 405, "GET, HEAD, POST"},
		{"GET", "/api/v1/auth/login", "", 405, "POST"}, // it is open to everyone
		{"HEAD", "/api/v1/nothing", "", 401, ""},
	} {
		var header []string
		if tt.role != "" {
			header = as(tt.role)
		}
		w := s.call(tt.method, tt.path, "", header...)
		_, there := w.Header()["Allow"]
		if w.Code != tt.status || w.Header().Get("Allow") != tt.allow || there != (tt.status == 405) {
			t.Errorf("%s %s as %q: %d, Allow %q", tt.method, tt.path, tt.role, w.Code, w.Header()["Allow"])
		}
	}
}
