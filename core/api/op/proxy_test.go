package op_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/api/route"
	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/proxy"
	"github.com/hostler/hostler/internal/proxytest"
)

// behind is an API with an operation of each kind on host 8, on a real server.
type behind struct {
	*sample
	server *httptest.Server
	// arrived gets a value at the first byte of an upload, and next lets a stream send its second event.
	arrived, next chan struct{}
}

// file is more than any proxy holds in memory.
var file = bytes.Repeat(large, 256)

func newBehind(t *testing.T, config proxy.Config) *behind {
	t.Helper()
	b := &behind{sample: &sample{off: map[string]bool{}}, arrived: make(chan struct{}, 10), next: make(chan struct{}, 10)}
	router := route.New()
	router.Handle("GET", "/healthz", func(http.ResponseWriter, *http.Request, route.Params) {}) // what the proxy asks whether we live
	b.API = op.New(op.Config{Router: router, Authenticator: b, Resolver: b, Recorder: b, Proxy: config})
	spec := func(id string) op.Spec {
		return op.Spec{ID: id, Summary: "Try", Tag: "Try", Role: identity.Operator, On: op.Host, Audit: op.Audit{Action: "host." + id},
			Content: []string{"application/octet-stream"}}
	}
	plain := func(id string) op.Spec {
		s := spec(id)
		s.Content = nil
		return s
	}
	op.Socket(b.API, "/api/v1/hosts/:host_id/echo", func(_ context.Context, _ *nothing, c *op.SocketConn) error {
		for {
			text, data, err := c.Read()
			if err == nil {
				err = c.Write(text, data)
			}
			if err != nil {
				return err
			}
		}
	}, plain("echo"))
	reading := plain("events")
	reading.Audit = op.Audit{}
	op.Stream(b.API, "/api/v1/hosts/:host_id/events", func(ctx context.Context, _ *nothing, s *op.EventStream) error {
		if err := s.Send("1", "first", "x"); err != nil {
			return err
		}
		select {
		case <-b.next:
		case <-ctx.Done():
			return ctx.Err()
		}
		return s.Send("2", "second", "y")
	}, reading)
	op.Upload(b.API, "/api/v1/hosts/:host_id/file", func(_ context.Context, _ *nothing, f *op.UploadBody) (*op.Body[string], error) {
		sum, first := sha256.New(), make([]byte, 1)
		if _, err := io.ReadFull(f, first); err != nil {
			return nil, err
		}
		b.arrived <- struct{}{}
		_, _ = sum.Write(first)
		if _, err := io.Copy(sum, f); err != nil {
			return nil, err
		}
		return &op.Body[string]{Body: hex.EncodeToString(sum.Sum(nil))}, nil
	}, spec("upload"))
	op.Download(b.API, "/api/v1/hosts/:host_id/file", func(_ context.Context, _ *nothing, f *op.File) error {
		if err := f.Open("application/octet-stream", "file"); err != nil {
			return err
		}
		_, err := f.Write(file)
		return err
	}, spec("download"))
	b.server = serve(t, b)
	return b
}

// lies are what a client says of itself.
var lies = []string{"X-Forwarded-For", "6.6.6.6", "X-Forwarded-Proto", "http", "X-Forwarded-Host", "evil.example", "Forwarded",
	"for=6.6.6.6;host=evil.example", "X-Real-IP", "6.6.6.6"}

func header(pairs ...string) http.Header {
	h := http.Header{}
	for i := 0; i+1 < len(pairs); i += 2 {
		h.Add(pairs[i], pairs[i+1])
	}
	return h
}

// Every kind of operation works behind every kind of proxy, with the example of the documentation, and the audit log has the client's
// address, whatever the client says of itself.
func TestBehindProxies(t *testing.T) {
	t.Parallel()
	certificate := proxytest.NewCertificate(t)
	for _, kind := range proxytest.Kinds {
		for _, path := range []string{"", "/hostler"} {
			t.Run(kind+path, func(t *testing.T) {
				t.Parallel()
				base, err := proxy.ParseBaseURL(proxytest.URL + path)
				if err != nil {
					t.Fatal(err)
				}
				b := newBehind(t, proxy.Config{Trusted: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}, BaseURL: base})
				var changes []proxytest.Change
				if path != "" && kind == "nginx" {
					changes = append(changes, proxytest.Change{From: "location / {", To: "location " + path + "/ {"})
				}
				front := proxytest.Start(t, kind, b.server.Listener.Addr().String(), certificate, changes...)
				transport := front.Transport(t, "127.0.0.9")
				newest := transport.Clone()
				newest.ForceAttemptHTTP2 = true
				t.Cleanup(newest.CloseIdleConnections)
				for name, client := range map[string]*http.Client{"HTTP/1.1": {Transport: transport}, "HTTP/2": {Transport: newest}} {
					b.streams(t, name, client, base.String())
					b.uploads(t, name, client, base.String())
					b.downloads(t, name, client, base.String())
				}
				b.sockets(t, &http.Client{Transport: transport}, base.String())
				if trail := b.trail(); len(trail) < 5 || slices.ContainsFunc(trail, func(e audit.Entry) bool { return e.Address != "127.0.0.9" }) {
					t.Errorf("the audit log: %+v", trail)
				}
			})
		}
	}
}

// do asks, with lies.
func (b *behind) do(t *testing.T, name string, client *http.Client, method, url string, body io.Reader, size int64) *http.Response {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), hanging)
	t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, method, url, body)
	if err != nil {
		t.Fatal(err)
	}
	r.ContentLength = size
	r.Header = header(append(as("operator@3"), lies...)...)
	if body != nil {
		r.Header.Set("Content-Type", "application/octet-stream")
	}
	answer, err := client.Do(r)
	if err != nil {
		t.Fatalf("%s over %s: %v", url, name, err)
	}
	t.Cleanup(func() { _ = answer.Body.Close() })
	if answer.Proto[:6] != name[:6] || answer.StatusCode != 200 {
		text, _ := io.ReadAll(answer.Body)
		t.Fatalf("%s over %s: %s %s %s", url, name, answer.Proto, answer.Status, text)
	}
	return answer
}

// streams has an event before the next one was sent.
func (b *behind) streams(t *testing.T, name string, client *http.Client, base string) {
	t.Helper()
	lines := bufio.NewScanner(b.do(t, name, client, "GET", base+"/api/v1/hosts/8/events", nil, 0).Body)
	var got []string
	for lines.Scan() {
		if event, ok := strings.CutPrefix(lines.Text(), "event: "); ok {
			if got = append(got, event); event == "first" {
				b.next <- struct{}{}
			}
		}
	}
	if !slices.Equal(got, []string{"first", "second"}) {
		t.Errorf("events over %s: %q, %v", name, got, lines.Err())
	}
}

// uploads has the handler reading before the whole file was sent.
func (b *behind) uploads(t *testing.T, name string, client *http.Client, base string) {
	t.Helper()
	for _, size := range []int64{int64(len(file)), -1} {
		reader, writer := io.Pipe()
		go func() {
			_, _ = writer.Write(file[:len(file)/2])
			select {
			case <-b.arrived:
				_, _ = writer.Write(file[len(file)/2:])
				_ = writer.Close()
			case <-time.After(hanging):
				_ = writer.CloseWithError(context.DeadlineExceeded)
			}
		}()
		answer := b.do(t, name, client, "POST", base+"/api/v1/hosts/8/file", reader, size)
		text, _ := io.ReadAll(answer.Body)
		if sum := sha256.Sum256(file); !strings.Contains(string(text), hex.EncodeToString(sum[:])) {
			t.Errorf("an upload of %d over %s: %s", size, name, text)
		}
	}
}

func (b *behind) downloads(t *testing.T, name string, client *http.Client, base string) {
	t.Helper()
	got, err := io.ReadAll(b.do(t, name, client, "GET", base+"/api/v1/hosts/8/file", nil, 0).Body)
	if err != nil || !bytes.Equal(got, file) {
		t.Errorf("a download over %s: %d bytes, %v", name, len(got), err)
	}
}

// sockets open for the pages of the base URL and for programs, and carry what they are given.
func (b *behind) sockets(t *testing.T, client *http.Client, base string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), hanging)
	defer cancel()
	for _, tt := range []struct {
		origin, site string
		status       int
	}{
		{proxytest.URL, "same-origin", 101},
		{proxytest.URL, "", 101},
		{"", "", 101},
		{"https://evil.example", "", 403}, // though it is the X-Forwarded-Host that the client has sent
		{"https://evil.example", "cross-site", 403},
		{"http://" + proxytest.Host, "", 403},
		{"https://other." + proxytest.Host, "same-site", 403},
		{proxytest.URL + ":8443", "", 403},
		{"null", "", 403},
	} {
		h := header(append(as("operator@3"), lies...)...)
		if tt.origin != "" {
			h.Set("Origin", tt.origin)
		}
		if tt.site != "" {
			h.Set("Sec-Fetch-Site", tt.site)
		}
		c, answer, err := websocket.Dial(ctx, base+"/api/v1/hosts/8/echo", &websocket.DialOptions{HTTPClient: client, HTTPHeader: h})
		if answer == nil || answer.StatusCode != tt.status {
			t.Errorf("a page of %q: %v %v", tt.origin, answer, err)
		}
		if err != nil {
			continue
		}
		c.SetReadLimit(-1)
		for _, message := range [][]byte{[]byte("ls\n"), large[:60_000]} {
			if err := c.Write(ctx, websocket.MessageBinary, message); err != nil {
				t.Fatal(err)
			}
			if _, got, err := c.Read(ctx); err != nil || !bytes.Equal(got, message) {
				t.Errorf("the socket carried %d bytes back: %v", len(got), err)
			}
		}
		_ = c.Close(websocket.StatusNormalClosure, "")
	}
}
