package pveapi_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hostler/hostler/internal/waittest"
	"github.com/hostler/hostler/plugins/pve/pveapi"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/plugin"
)

const secret = "canary-7d1f-secret"

// patience is how long a server may keep its client waiting; what is tested for hanging has impatience.
const patience, impatience = time.Minute, 2 * time.Second

// serve starts a TLS server that answers with handler and gives a client for it.
func serve(t *testing.T, handler http.HandlerFunc, change ...func(*endpoint.Target)) *pveapi.Client {
	t.Helper()
	return serveWithin(t, patience, handler, change...)
}

func serveWithin(t *testing.T, limit time.Duration, handler http.HandlerFunc, change ...func(*endpoint.Target)) *pveapi.Client {
	t.Helper()
	server := httptest.NewUnstartedServer(handler)
	server.EnableHTTP2 = true // the client must not take it
	server.StartTLS()
	t.Cleanup(server.Close)
	target := endpoint.Target{
		Address: server.Listener.Addr().String(), Fingerprint: endpoint.Fingerprint(server.Certificate()), AllowLocal: true,
		Credential: endpoint.Credential{ID: "service@pve!monitoring", Secret: secret},
	}
	for _, f := range change {
		f(&target)
	}
	pool := pveapi.NewPool(pveapi.Timeouts{Dial: patience, Header: limit, Stall: limit})
	t.Cleanup(pool.Close)
	client, err := pool.NewClient(target)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func wantKind(t *testing.T, err error, kind plugin.ErrorKind) *plugin.Error {
	t.Helper()
	var e *plugin.Error
	if !errors.As(err, &e) || e.Kind != kind {
		t.Fatalf("got error %v, want kind %s", err, kind)
	}
	if strings.Contains(err.Error(), secret) {
		t.Fatalf("the secret is in the error: %v", err)
	}
	return e
}

func TestRequestsAreOfTheFormThatIsTaken(t *testing.T) {
	t.Parallel()
	type seen struct {
		method, uri, auth, kind, encoding, body string
		length                                  int64
		chunked                                 bool
		proto                                   int
		cookies                                 int
	}
	got := make(chan seen, 1)
	client := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got <- seen{
			r.Method, r.RequestURI, r.Header.Get("Authorization"), r.Header.Get("Content-Type"), r.Header.Get("Accept-Encoding"),
			string(body), r.ContentLength, len(r.TransferEncoding) > 0, r.ProtoMajor, len(r.Cookies()),
		}
		fmt.Fprint(w, `{"data":null}`)
	})
	ctx := t.Context()
	auth := "PVEAPIToken=service@pve!monitoring=" + secret
	for name, c := range map[string]struct {
		send func() error
		want seen
	}{
		"get": {
			func() error {
				_, err := client.Get(ctx, "/a", url.Values{"tags": {"x;y z&"}}, nil)
				return err
			}, seen{method: "GET", uri: "/api2/json/a?tags=x%3By+z%26"},
		},
		"post": {
			func() error { _, err := client.Post(ctx, "/a", url.Values{"k": {"a;b"}}, nil); return err },
			seen{method: "POST", uri: "/api2/json/a", kind: "application/x-www-form-urlencoded", body: "k=a%3Bb", length: 7},
		},
		"put": {
			func() error { _, err := client.Put(ctx, "/a", url.Values{"k": {"a;b"}}, nil); return err },
			seen{method: "PUT", uri: "/api2/json/a", kind: "application/x-www-form-urlencoded", body: "k=a%3Bb", length: 7},
		},
		"post of nothing": {
			func() error { _, err := client.Post(ctx, "/a", nil, nil); return err },
			seen{method: "POST", uri: "/api2/json/a", kind: "application/x-www-form-urlencoded"},
		},
		"delete": {
			func() error { _, err := client.Delete(ctx, "/a", url.Values{"force": {"1"}}, nil); return err },
			seen{method: "DELETE", uri: "/api2/json/a?force=1"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if err := c.send(); err != nil {
				t.Fatal(err)
			}
			c.want.auth, c.want.proto = auth, 1
			if s := <-got; s != c.want {
				t.Errorf("got  %+v\nwant %+v", s, c.want)
			}
		})
	}
}

func TestOnlyReadingIsRepeated(t *testing.T) {
	t.Parallel()
	for name, fail := range map[string]func(w http.ResponseWriter){
		"cut": func(w http.ResponseWriter) { raw(w, "") },
		"595": func(w http.ResponseWriter) { raw(w, "HTTP/1.1 595 Connection refused\r\nContent-Length: 0\r\n\r\n") },
		"596": func(w http.ResponseWriter) { raw(w, "HTTP/1.1 596 broken pipe\r\nContent-Length: 0\r\n\r\n") },
		"503": func(w http.ResponseWriter) { raw(w, "HTTP/1.1 503 wait\r\nContent-Length: 0\r\n\r\n") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var reads, writes atomic.Int32
			client := serve(t, func(w http.ResponseWriter, r *http.Request) {
				if r.Method != http.MethodGet {
					writes.Add(1)
					fail(w)
				} else if reads.Add(1) == 1 {
					fail(w)
				} else {
					fmt.Fprint(w, `{"data":{}}`)
				}
			})
			if _, err := client.Get(t.Context(), "/x", nil, nil); err != nil || reads.Load() != 2 {
				t.Errorf("reading: %v after %d tries", err, reads.Load())
			}
			_, err := client.Post(t.Context(), "/x", url.Values{"a": {"b"}}, nil)
			wantKind(t, err, plugin.Unreachable)
			_, err = client.Delete(t.Context(), "/x", nil, nil)
			wantKind(t, err, plugin.Unreachable)
			_, err = client.Put(t.Context(), "/x", url.Values{"a": {"b"}}, nil)
			wantKind(t, err, plugin.Unreachable)
			if writes.Load() != 3 {
				t.Errorf("three writes were sent %d times", writes.Load())
			}
		})
	}
	for status, reason := range map[int]string{401: "x", 403: "x", 400: "x", 500: "x", 501: "x", 596: "certificate verify failed"} {
		t.Run(fmt.Sprint(status, " is final"), func(t *testing.T) {
			t.Parallel()
			var tries atomic.Int32
			client := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				tries.Add(1)
				raw(w, fmt.Sprintf("HTTP/1.1 %d %s\r\nContent-Length: 0\r\n\r\n", status, reason))
			})
			if _, err := client.Get(t.Context(), "/x", nil, nil); err == nil || tries.Load() != 1 {
				t.Errorf("%v after %d tries", err, tries.Load())
			}
		})
	}
}

// TestWritesDoNotUseKeptConnections: the hypervisor closes connections as it likes; a write must not meet that.
func TestWritesDoNotUseKeptConnections(t *testing.T) {
	t.Parallel()
	remotes := make(chan string, 10)
	client := serve(t, func(w http.ResponseWriter, r *http.Request) {
		remotes <- r.RemoteAddr
		fmt.Fprint(w, `{"data":null}`)
	})
	for range 2 {
		if _, err := client.Get(t.Context(), "/x", nil, nil); err != nil {
			t.Fatal(err)
		}
	}
	first, second := <-remotes, <-remotes
	if first != second {
		t.Error("reading does not share its connection")
	}
	for range 2 {
		if _, err := client.Post(t.Context(), "/x", nil, nil); err != nil {
			t.Fatal(err)
		}
	}
	if a, b := <-remotes, <-remotes; a == first || b == first || a == b {
		t.Errorf("writes went over %s and %s, reading over %s", a, b, first)
	}
}

func TestConnectionClosedOnReuseIsNotNoticed(t *testing.T) {
	t.Parallel()
	var n atomic.Int32
	client := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		conn, _, _ := w.(http.Hijacker).Hijack()
		defer conn.Close()
		// Says keep-alive and closes, as a worker does that has served its thousand requests.
		fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n{\"data\":%d}", n.Add(1)%10)
	})
	for range 5 {
		if _, err := client.Get(t.Context(), "/x", nil, nil); err != nil {
			t.Fatal(err)
		}
	}
}

func TestSlowAndBrokenAnswers(t *testing.T) {
	t.Parallel()
	hang := func(r *http.Request) { <-r.Context().Done() }
	endless := func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, `{"data":[`)
		piece := []byte(`{"a":"` + strings.Repeat("x", 32<<10) + `"},`)
		for r.Context().Err() == nil {
			if _, err := w.Write(piece); err != nil {
				return
			}
		}
	}
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		kind   plugin.ErrorKind
	}{
		"never answers": {func(_ http.ResponseWriter, r *http.Request) { hang(r) }, plugin.Timeout},
		"stops in the body": {func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprint(w, `{"data":[{`)
			flush(w)
			hang(r)
		}, plugin.Timeout},
		"cut in the body": {func(w http.ResponseWriter, _ *http.Request) {
			raw(w, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"data\":[{\"a\":1},")
		}, plugin.Unreachable},
		"cut without a length": {func(w http.ResponseWriter, _ *http.Request) { raw(w, "HTTP/1.0 200 OK\r\n\r\n{\"data\":[{\"a\":1},") },
			plugin.Unreachable},
		"web page":      {func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>hello</html>") }, plugin.Protocol},
		"nothing":       {func(http.ResponseWriter, *http.Request) {}, plugin.Protocol},
		"not an object": {func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `"x"`) }, plugin.Protocol},
		"endless":       {endless, plugin.Protocol},
		"not HTTP":      {func(w http.ResponseWriter, _ *http.Request) { raw(w, "SSH-2.0-OpenSSH_9.2\r\n") }, plugin.Protocol},
		"headers without an end": {func(w http.ResponseWriter, _ *http.Request) {
			raw(w, "HTTP/1.1 200 OK\r\n"+strings.Repeat("X: y\r\n", 50000))
		}, plugin.Unreachable},
		"packed though not asked": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			fmt.Fprint(w, "\x1f\x8b")
		}, plugin.Protocol},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			limit := patience
			if c.kind == plugin.Timeout {
				limit = impatience
			}
			client := serveWithin(t, limit, c.answer)
			if name != "nothing" { // an empty small answer is the same fault
				answer, err := client.Stream(t.Context(), "/x", nil)
				if err == nil {
					err = answer.Rows(&mapRow{}, func() error { return nil })
					answer.Close()
				}
				switch {
				case name == "cut without a length", name == "nothing":
					wantKind(t, err, plugin.Unreachable)
				default:
					wantKind(t, err, c.kind)
				}
			}
			var into struct{}
			_, err := client.Get(t.Context(), "/x", nil, &into)
			if name == "cut without a length" {
				wantKind(t, err, plugin.Protocol) // a small answer is read whole: it is just not JSON
				return
			}
			wantKind(t, err, c.kind)
		})
	}
}

func flush(w http.ResponseWriter) { w.(http.Flusher).Flush() }

func TestAnswersInPiecesAreRead(t *testing.T) {
	t.Parallel()
	client := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		for _, piece := range strings.SplitAfter(`{"data":[{"a":1},{"a":2}],"total":2}`, "a") {
			fmt.Fprint(w, piece)
			flush(w)
		}
	})
	var rows []struct {
		A pveapi.Int `json:"a"`
	}
	meta, err := client.Get(t.Context(), "/x", nil, &rows)
	if err != nil || len(rows) != 2 || rows[1].A.N != 2 || meta.Total != 2 || meta.Date.IsZero() || meta.Fingerprint == "" {
		t.Errorf("got %+v, %+v, %v", rows, meta, err)
	}
}

func TestTheCallersContextEndsACall(t *testing.T) {
	t.Parallel()
	started := make(chan struct{}, 1)
	client := serve(t, func(_ http.ResponseWriter, r *http.Request) { started <- struct{}{}; <-r.Context().Done() })
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-started; cancel() }()
	if _, err := client.Get(ctx, "/x", nil, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	ctx, cancel = context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := client.Get(ctx, "/x", nil, nil)
	wantKind(t, err, plugin.Timeout)
}

func TestPrintedClientsHoldNoSecret(t *testing.T) {
	t.Parallel()
	client := serve(t, func(http.ResponseWriter, *http.Request) {})
	if text := fmt.Sprintf("%v %+v %#v %s", client, client, client, struct{ C *pveapi.Client }{client}); strings.Contains(text, secret) {
		t.Error("the secret is in", text)
	}
}

func TestConnectionsAreFewAndTargetsBounded(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	var now, most atomic.Int32
	client := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		n := now.Add(1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		<-release
		now.Add(-1)
		fmt.Fprint(w, `{"data":null}`)
	})
	done := make(chan error, 12)
	for range 12 {
		go func() { _, err := client.Get(t.Context(), "/x", nil, nil); done <- err }()
	}
	waittest.Until(t, "four requests", func() bool { return now.Load() >= 4 })
	close(release)
	for range 12 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if most.Load() > 4 {
		t.Errorf("%d connections at a time", most.Load())
	}

	pool := pveapi.NewPool(pveapi.Timeouts{})
	for i := range 1000 {
		if _, err := pool.NewClient(endpoint.Target{Address: fmt.Sprintf("192.0.2.1:%d", i+1)}); err != nil {
			t.Fatal(err)
		}
	}
	if n := pool.Len(); n > 256 {
		t.Errorf("%d targets are kept", n)
	}
}

func TestPathsCannotClimb(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"", ".", "..", "a\x00b"} {
		if p, err := pveapi.Path("nodes", bad, "tasks"); err == nil {
			t.Errorf("%q gives %s", bad, p)
		}
	}
	p, err := pveapi.Path("nodes", "a/b ?#;%", "UPID:x:y@z!t:")
	if want := "/nodes/a%2Fb%20%3F%23%3B%25/UPID:x:y@z%21t:"; err != nil || p != want && p != strings.ReplaceAll(want, "%21", "!") {
		t.Errorf("got %s, %v", p, err)
	}
}
