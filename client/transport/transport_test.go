package transport_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hostler/hostler/client/transport"
)

func client(t *testing.T, at string, change func(*transport.Options)) *transport.Client {
	t.Helper()
	u, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	o := transport.Options{URL: u, Key: "svc_canary", RetryWait: time.Millisecond}
	if change != nil {
		change(&o)
	}
	c, err := transport.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func serve(t *testing.T, handler http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server.URL
}

var get = transport.Request{Method: http.MethodGet, Path: "/api/v1/vms", Repeatable: true}

// A redirect is not followed, so that whoever is at its end sees neither the key nor a request.
func TestRedirectIsNotFollowed(t *testing.T) {
	t.Parallel()
	var came atomic.Int64
	elsewhere := serve(t, func(http.ResponseWriter, *http.Request) { came.Add(1) })
	for _, status := range []int{301, 302, 303, 307, 308} {
		base := serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, elsewhere+"/x", status) })
		_, err := client(t, base, nil).Call(t.Context(), get)
		if err == nil || !strings.Contains(err.Error(), "not followed") || strings.Contains(err.Error(), "canary") {
			t.Errorf("%d: %v", status, err)
		}
	}
	if came.Load() != 0 {
		t.Errorf("%d requests went elsewhere", came.Load())
	}
}

// A body without an end is not read, and takes no more memory than the bound.
func TestEndlessAnswerIsCutOff(t *testing.T) {
	t.Parallel()
	base := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		chunk := bytes.Repeat([]byte(" "), 1<<20)
		for range 1 << 10 { // a GiB
			if _, err := w.Write(chunk); err != nil {
				return
			}
		}
	})
	_, err := client(t, base, func(o *transport.Options) { o.MaxResponse = 1 << 20 }).Call(t.Context(), get)
	if err == nil || !strings.Contains(err.Error(), "exceeds 1 MiB") {
		t.Errorf("got %v", err)
	}
}

// An answer that comes a byte at a time is left after the limit.
func TestSlowDripIsLeft(t *testing.T) {
	t.Parallel()
	base := serve(t, func(w http.ResponseWriter, r *http.Request) {
		for {
			_, _ = w.Write([]byte(" "))
			w.(http.Flusher).Flush()
			select {
			case <-r.Context().Done():
				return
			case <-time.After(5 * time.Millisecond):
			}
		}
	})
	_, err := client(t, base, func(o *transport.Options) { o.Limit = 100 * time.Millisecond }).Call(t.Context(), get)
	var away *transport.UnreachableError
	if !errors.As(err, &away) || !strings.Contains(err.Error(), "no complete response") {
		t.Errorf("got %v", err)
	}
}

// What is no answer of the service is told as that, whatever it is.
func TestForeignAnswers(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		status     int
		body, want string
	}{
		"a page":       {404, "<html>nothing here</html>", "check the address"},
		"nothing":      {500, "", "check the address"},
		"other JSON":   {403, `[1,2]`, "check the address"},
		"a wrong type": {409, `{"error":5,"detail":"x"}`, "check the address"},
		"a problem":    {409, `{"error":"conflict","detail":"it is so","request_id":"R1"}`, "it is so"},
		"faults": {422, `{"error":"invalid","detail":[{"loc":["body","a","b"],"msg":"required"},{"loc":["x"],"msg":"no"}]}`,
			"a.b: required\nx: no"},
		"faults of no form":  {422, `{"error":"invalid","detail":{"a":1}}`, "gave no reason"},
		"an unknown problem": {418, `{"error":"teapot","detail":"short and stout"}`, "short and stout"},
	} {
		base := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(tt.status)
			_, _ = w.Write([]byte(tt.body))
		})
		_, err := client(t, base, nil).Call(t.Context(), get)
		var p *transport.Problem
		if !errors.As(err, &p) || p.Status != tt.status || !strings.Contains(p.Error(), tt.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What may come twice is sent again under one key; what may not is sent once, unless it was refused for coming too often.
func TestTries(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		request transport.Request
		status  int
		problem bool
		want    int64
	}{
		"a read behind a broken proxy":      {get, 502, false, 4},
		"a read that a hypervisor refuses":  {get, 502, true, 1},
		"a read while the service restarts": {get, 503, true, 4},
		"a change under a key":              {transport.Request{Method: "POST", Path: "/x", Repeatable: true}, 503, false, 4},
		"a change without one":              {transport.Request{Method: "POST", Path: "/x"}, 503, false, 1},
		"a change that comes too often":     {transport.Request{Method: "POST", Path: "/x"}, 429, true, 4},
		"a read that is refused":            {get, 404, true, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var came atomic.Int64
			keys := make(chan string, 10)
			base := serve(t, func(w http.ResponseWriter, r *http.Request) {
				came.Add(1)
				keys <- r.Header.Get("Idempotency-Key")
				if tt.problem {
					w.Header().Set("Content-Type", "application/problem+json")
				}
				w.WriteHeader(tt.status)
				_, _ = w.Write([]byte(`{"error":"x","detail":"y"}`))
			})
			_, err := client(t, base, nil).Call(t.Context(), tt.request)
			if err == nil || came.Load() != tt.want {
				t.Errorf("%d requests, want %d: %v", came.Load(), tt.want, err)
			}
			close(keys)
			first, keyed := <-keys, tt.request.Repeatable && tt.request.Method == "POST"
			if (first != "") != keyed {
				t.Errorf("the key is %q", first)
			}
			for key := range keys {
				if key != first {
					t.Errorf("one request came under the keys %q and %q", first, key)
				}
			}
		})
	}
}

// A connection that breaks before the answer is one of those that are tried again, and a wait that is asked for is held.
func TestBrokenConnectionIsTriedAgain(t *testing.T) {
	t.Parallel()
	var came atomic.Int64
	base := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		if came.Add(1) < 3 {
			conn, _, err := w.(http.Hijacker).Hijack()
			if err == nil {
				_ = conn.Close()
			}
			return
		}
		_, _ = w.Write([]byte("[]"))
	})
	if _, err := client(t, base, nil).Call(t.Context(), get); err != nil || came.Load() != 3 {
		t.Errorf("%d requests: %v", came.Load(), err)
	}
	long := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		came.Add(1)
		w.Header().Set("Retry-After", "900")
		w.WriteHeader(429)
	})
	came.Store(0)
	if _, err := client(t, long, nil).Call(t.Context(), get); err == nil || came.Load() != 1 {
		t.Errorf("a quarter of an hour was waited for: %d requests, %v", came.Load(), err)
	}
}

// The pinned certificate is asked for on each connection, another one gets no request, and no error shows the key.
func TestCertificateIsPinned(t *testing.T) {
	t.Parallel()
	var came atomic.Int64
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		came.Add(1)
		_, _ = w.Write([]byte("[]"))
	}))
	t.Cleanup(server.Close)
	right := transport.Fingerprint(server.Certificate())
	for name, tt := range map[string]struct {
		pin string
		ok  bool
	}{
		"the right one":   {right, true},
		"without colons":  {strings.ToLower(strings.ReplaceAll(right, ":", "")), true},
		"another":         {strings.Replace(right, right[:2], "00", 1), right[:2] == "00"},
		"none":            {"", false}, // no authority vouches for it
		"cut":             {right[:20], false},
		"no fingerprint ": {"yes", false},
	} {
		before := came.Load()
		_, err := client(t, server.URL, func(o *transport.Options) { o.Fingerprint = tt.pin }).Call(t.Context(), get)
		if (err == nil) != tt.ok || !tt.ok && came.Load() != before {
			t.Errorf("%s: %v, %d requests", name, err, came.Load()-before)
		}
		if err != nil && strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: the error shows the key: %v", name, err)
		}
	}
	seen, trusted, err := client(t, server.URL, nil).Certificate(t.Context())
	if err != nil || trusted || transport.Fingerprint(seen) != right {
		t.Errorf("looking at the certificate: %v %v", trusted, err)
	}
}

// Paths stay below the service's address.
func TestPathsStayBelow(t *testing.T) {
	t.Parallel()
	var at atomic.Value
	base := serve(t, func(w http.ResponseWriter, r *http.Request) {
		at.Store(r.URL.EscapedPath())
		_, _ = w.Write([]byte("{}"))
	})
	c := client(t, base+"/below/", nil)
	for path, want := range map[string]string{
		"/api/v1/a%2Fb": "/below/api/v1/a%2Fb", "/x": "/below/x", "//evil.example/x": "", "x": "", "http://evil.example/": "",
	} {
		at.Store("")
		_, err := c.Call(t.Context(), transport.Request{Method: http.MethodGet, Path: path})
		if at.Load() != want || (err == nil) != (want != "") {
			t.Errorf("%s went to %v: %v", path, at.Load(), err)
		}
	}
}

// A service that accepts and says nothing, and one that is not there, end with the caller's patience.
func TestSilence(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := client(t, fmt.Sprintf("http://%s", listener.Addr()), nil).Call(ctx, get); err == nil {
		t.Error("silence was an answer")
	}
}
