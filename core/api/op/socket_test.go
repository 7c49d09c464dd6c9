package op_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/api/route"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/sdk/endpoint"
)

// lasting has a socket and an upload on host 8, whose host has the token for lifecycle, on a real server.
type lasting struct {
	*sample
	server *httptest.Server
	tokens *tokens
	// gate guards auth and off, which the test changes while the server runs.
	gate sync.Mutex
	left chan error
	// began tells of each upload whose handler has it.
	began chan struct{}
}

func (l *lasting) Authenticate(ctx context.Context, r *http.Request) (*identity.Caller, error) {
	l.gate.Lock()
	defer l.gate.Unlock()
	return l.sample.Authenticate(ctx, r)
}

// revoke lets nobody in any more.
func (l *lasting) revoke() {
	l.gate.Lock()
	defer l.gate.Unlock()
	l.sample.auth = problem.New(problem.CodeUnauthenticated, "log in first")
}

// switchOff takes the feature away, or gives it back. A socket that is just ending may still look at it.
func (l *lasting) switchOff(off bool) {
	l.gate.Lock()
	defer l.gate.Unlock()
	l.off["lasting"] = off
}

// on is op.Config's Entitlements.
func (l *lasting) on(_ context.Context, name string) bool {
	l.gate.Lock()
	defer l.gate.Unlock()
	return !l.off[name]
}

func newLasting(t *testing.T, change func(*op.Spec)) *lasting {
	t.Helper()
	l := unservedLasting(change)
	l.server = httptest.NewServer(l.API)
	t.Cleanup(l.server.Close)
	return l
}

// lastingInMemory is one for a bubble.
func lastingInMemory(t *testing.T, change func(*op.Spec)) *lasting {
	t.Helper()
	l := unservedLasting(change)
	l.server = inMemory(t, l.API)
	return l
}

func unservedLasting(change func(*op.Spec)) *lasting {
	l := &lasting{sample: &sample{off: map[string]bool{}}, tokens: &tokens{hosts: map[int64]bool{8: true}}, left: make(chan error, 100),
		began: make(chan struct{}, 100)}
	router := route.New()
	l.API = op.New(op.Config{
		Router: router, Authenticator: l, Resolver: l, Recorder: l, Tokens: l.tokens, Reauthorise: 20 * time.Millisecond,
		Entitlements: l.on,
	})
	spec := func(id string) op.Spec {
		s := op.Spec{ID: id, Summary: "Try", Tag: "Try", Role: identity.Operator, On: op.Host, Needs: endpoint.Lifecycle, Entitlement: "lasting",
			Audit: op.Audit{Action: "host." + id}}
		change(&s)
		return s
	}
	op.Socket(l.API, "/api/v1/hosts/:host_id/console/ws", func(ctx context.Context, in *struct {
		Columns int `query:"columns" maximum:"500"`
	}, c *op.SocketConn) (err error) {
		defer func() {
			if context.Cause(ctx) != nil {
				l.left <- context.Cause(ctx)
			}
		}()
		for {
			text, data, err := c.Read()
			if err != nil {
				return err
			}
			if string(data) == "fail" {
				return errBroken
			}
			if err := c.Write(text, data); err != nil {
				return err
			}
		}
	}, spec("console"))
	uploading := spec("upload")
	uploading.Content = []string{"application/octet-stream"}
	op.Upload(l.API, "/api/v1/hosts/:host_id/upload", func(ctx context.Context, _ *nothing, f *op.UploadBody) (*op.Body[int64], error) {
		l.began <- struct{}{}
		n, err := io.Copy(io.Discard, f)
		if err != nil {
			l.left <- err
			return nil, err
		}
		return &op.Body[int64]{Body: n}, nil
	}, uploading)
	router.Handle("GET", "/api/openapi.json", func(w http.ResponseWriter, _ *http.Request, _ route.Params) { _, _ = w.Write(l.Document()) })
	return l
}

// dial opens the socket of a host.
func (l *lasting) dial(t *testing.T, path string, headers ...string) (*websocket.Conn, *http.Response, error) {
	t.Helper()
	h := http.Header{}
	for i := 0; i+1 < len(headers); i += 2 {
		h.Set(headers[i], headers[i+1])
	}
	c, answer, err := websocket.Dial(t.Context(), l.server.URL+path, &websocket.DialOptions{HTTPHeader: h})
	if err == nil {
		t.Cleanup(func() { c.CloseNow() })
	}
	return c, answer, err
}

const console = "/api/v1/hosts/8/console/ws"

func (l *lasting) open(t *testing.T) *websocket.Conn {
	t.Helper()
	c, answer, err := l.dial(t, console, as("operator@3")...)
	if err != nil {
		t.Fatalf("%v %v", answer, err)
	}
	return c
}

// closesWith reads from a socket that must be closed next.
func closesWith(t *testing.T, c *websocket.Conn, code websocket.StatusCode, reason string) {
	t.Helper()
	_, _, err := c.Read(t.Context())
	var closed websocket.CloseError
	if !errors.As(err, &closed) || closed.Code != code || closed.Reason != reason {
		t.Errorf("the socket ended with %v, want %d %q", err, code, reason)
	}
}

func TestSocket(t *testing.T) {
	t.Parallel()
	l := newLasting(t, func(*op.Spec) {})
	c := l.open(t)
	for _, kind := range []websocket.MessageType{websocket.MessageText, websocket.MessageBinary} {
		if err := c.Write(t.Context(), kind, []byte("hello")); err != nil {
			t.Fatal(err)
		}
		if back, data, err := c.Read(t.Context()); err != nil || back != kind || string(data) != "hello" {
			t.Fatalf("%v %q %v", back, data, err)
		}
	}
	if err := c.Close(websocket.StatusNormalClosure, ""); err != nil {
		t.Errorf("closing: %v", err)
	}
	if trail := l.trail(); len(trail) != 1 || trail[0].Action != "host.console" || string(trail[0].Result) != "ok" ||
		trail[0].TargetName != "node8" {
		t.Errorf("the audit log: %+v", trail)
	}
}

// A socket is refused as any operation is, in the same order, and before it is one.
func TestSocketIsRefused(t *testing.T) {
	t.Parallel()
	l := newLasting(t, func(*op.Spec) {})
	for _, tt := range []struct {
		name, path string
		headers    []string
		status     int
		code       string
	}{
		{"nobody", console, nil, 401, "unauthenticated"},
		{"too low a role", console, as("viewer@3"), 403, "forbidden"},
		{"a key that only reads another resource", console, as("operator@3 vms:write"), 403, "forbidden"},
		{"bad input", console + "?columns=501", as("operator@3"), 422, "invalid"},
		{"another team's", console, as("operator@2"), 404, "not_found"},
		{"no token", "/api/v1/hosts/7/console/ws", as("operator@2"), 409, "capability_missing"},
		{"another site", console, append(as("operator@3"), "Origin", "https://evil.example"), 403, "cross_origin"},
		{"another site, as browsers say", console, append(as("operator@3"), "Sec-Fetch-Site", "cross-site"), 403, "cross_origin"},
	} {
		_, answer, err := l.dial(t, tt.path, tt.headers...)
		var p struct{ Error string }
		if answer != nil {
			_ = json.NewDecoder(answer.Body).Decode(&p) // what is none has no identifier
		}
		if err == nil || answer == nil || answer.StatusCode != tt.status || p.Error != tt.code {
			t.Errorf("%s: %v %q %v", tt.name, answer, p.Error, err)
		}
	}
	l.switchOff(true)
	if _, answer, err := l.dial(t, console, as("operator@3")...); err == nil || answer.StatusCode != 403 {
		t.Errorf("switched off: %v %v", answer, err)
	}
	l.switchOff(false)
	if w := l.call("GET", console, "", as("operator@3")...); w.Code != 400 || !strings.Contains(w.Body.String(), `"malformed"`) {
		t.Errorf("no handshake: %d %s", w.Code, w.Body)
	}
	for _, e := range l.trail() {
		if string(e.Result) == "ok" {
			t.Errorf("a refused socket is in the audit log as done: %+v", e)
		}
	}
}

func TestSocketEndsWithTheRight(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		take   func(*lasting)
		code   websocket.StatusCode
		reason string
	}{
		"session": {func(l *lasting) { l.revoke() }, 4401, "log in first"},
		"token":   {func(l *lasting) { l.tokens.lose(8) }, 4409, "the host has no token for lifecycle; add one first"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLasting(t, func(*op.Spec) {})
			c := l.open(t)
			tt.take(l)
			closesWith(t, c, tt.code, tt.reason)
			if err := <-l.left; err == nil {
				t.Error("the handler's context goes on")
			}
		})
	}
}

func TestSocketLimits(t *testing.T) {
	t.Parallel()
	t.Run("message", func(t *testing.T) {
		t.Parallel()
		l := newLasting(t, func(s *op.Spec) { s.MaxBody = 100 })
		c := l.open(t)
		if err := c.Write(t.Context(), websocket.MessageBinary, make([]byte, 101)); err != nil {
			t.Fatal(err)
		}
		if _, _, err := c.Read(t.Context()); websocket.CloseStatus(err) != websocket.StatusMessageTooBig {
			t.Errorf("%v", err)
		}
	})
	t.Run("idle", func(t *testing.T) {
		t.Parallel()
		l := newLasting(t, func(s *op.Spec) { s.Idle = 50 * time.Millisecond })
		c := l.open(t)
		closesWith(t, c, 4504, "no data was transferred for 50ms")
		if err := <-l.left; problem.CodeOf(err) != problem.CodeTimeout {
			t.Errorf("the handler ended with %v", err)
		}
	})
	t.Run("open", func(t *testing.T) {
		t.Parallel()
		l := newLasting(t, func(*op.Spec) {})
		for range 16 {
			l.open(t)
		}
		if _, answer, err := l.dial(t, console, as("operator@3")...); err == nil || answer.StatusCode != 429 {
			t.Errorf("the 17th: %v %v", answer, err)
		}
	})
	t.Run("messages", func(t *testing.T) {
		t.Parallel()
		l := newLasting(t, func(s *op.Spec) { s.Messages = 100 })
		c := l.open(t)
		begun := time.Now()
		for i := range 105 { // the last five come to the handler at ten a second
			if err := c.Write(t.Context(), websocket.MessageText, []byte(strconv.Itoa(i))); err != nil {
				t.Fatal(err)
			}
		}
		for i := range 105 {
			if _, data, err := c.Read(t.Context()); err != nil || string(data) != strconv.Itoa(i) {
				t.Fatalf("message %d: %q %v", i, data, err)
			}
		}
		if took := time.Since(begun); took < 400*time.Millisecond {
			t.Errorf("105 messages went through in %s", took)
		}
		if err := c.Close(websocket.StatusNormalClosure, ""); err != nil {
			t.Errorf("the socket was cut: %v", err)
		}
	})
	t.Run("messages, and the right ends", func(t *testing.T) {
		t.Parallel()
		l := newLasting(t, func(s *op.Spec) { s.Messages = 1 })
		c := l.open(t)
		for range 100 { // what is left of them would be read for a quarter of an hour
			if err := c.Write(t.Context(), websocket.MessageText, []byte("x")); err != nil {
				t.Fatal(err)
			}
		}
		l.revoke()
		if err := <-l.left; problem.CodeOf(err) != problem.CodeUnauthenticated {
			t.Errorf("the handler ended with %v", err)
		}
	})
	t.Run("failure", func(t *testing.T) {
		t.Parallel()
		l := newLasting(t, func(*op.Spec) {})
		c := l.open(t)
		if err := c.Write(t.Context(), websocket.MessageText, []byte("fail")); err != nil {
			t.Fatal(err)
		}
		closesWith(t, c, 4500, problem.From(errBroken).Detail)
	})
}
