package processtest

import (
	"bytes"
	"context"
	"crypto/tls"
	"io"
	"net/http"
	"net/http/httputil"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hostler/hostler/plugins/lxd/lxdtest"
)

// lxdProxy is a proxy in front of a real LXD. It presents the same certificate,
// so a host can be moved behind it by changing only its address. It
// authenticates to LXD with a certificate of its own, records what it passed
// on, and can hold requests or responses.
type lxdProxy struct {
	address string

	mu     sync.Mutex
	passed []string
	hold   *lxdHold
}

// lxdHold makes some requests wait until it is released, before they are passed
// on. If the sender is gone by then, they are dropped, or with late passed on
// nevertheless. With answers, the requests are passed on and their responses
// are lost.
type lxdHold struct {
	matches       func(*http.Request) bool
	answers, late bool

	released chan struct{}
	held     map[string]bool
}

// startLXDProxy starts a proxy, which ends with the test. Its own certificate is for these projects.
func startLXDProxy(t testing.TB, server *lxdtest.Server, projects ...string) *lxdProxy {
	t.Helper()
	own, err := server.Trusted(t, projects...).Credential.ClientCertificate()
	if err != nil {
		t.Fatal(err)
	}
	way := &http.Transport{
		TLSClientConfig:   &tls.Config{InsecureSkipVerify: true, Certificates: []tls.Certificate{own}},
		DisableKeepAlives: true, // a kept connection would be to a server that was killed since
	}
	listener, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{
		Certificates: []tls.Certificate{server.Certificate(t)}, ClientAuth: tls.RequestClientCert, MinVersion: tls.VersionTLS13,
	})
	if err != nil {
		t.Fatal(err)
	}
	p := &lxdProxy{address: listener.Addr().String()}
	front := &http.Server{ReadHeaderTimeout: hanging, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.serve(w, r, way, server.Address)
	})}
	go func() { _ = front.Serve(listener) }()
	t.Cleanup(func() {
		p.release()
		_ = front.Close()
	})
	return p
}

// serve handles a request. It reads the body before it holds the request,
// because the sender may be killed meanwhile. A change that was passed on is
// completed even if the sender goes away, as a network would do.
func (p *lxdProxy) serve(w http.ResponseWriter, r *http.Request, way *http.Transport, address string) {
	body, err := io.ReadAll(r.Body) // all of it before it is held: who sent it may be gone afterwards
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	h := p.present(r)
	if h != nil && !h.answers && !h.stand(p, r) {
		return
	}
	p.mu.Lock()
	p.passed = append(p.passed, r.Method+" "+r.URL.Path+" "+r.URL.Query().Get("project"))
	p.mu.Unlock()
	// What was passed on is carried out, whatever becomes of who sent it.
	ctx := r.Context()
	if r.Method != http.MethodGet {
		detached, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
		defer cancel()
		ctx = detached
	}
	out := r.Clone(ctx)
	out.URL.Scheme, out.URL.Host, out.RequestURI = "https", address, ""
	if out.Body = http.NoBody; len(body) > 0 {
		out.Body, out.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	}
	if r.Header.Get("Upgrade") != "" { // the stream of events
		(&httputil.ReverseProxy{Transport: way, Rewrite: func(p *httputil.ProxyRequest) {
			p.Out.URL.Scheme, p.Out.URL.Host = "https", address
		}}).ServeHTTP(w, r)
		return
	}
	resp, err := way.RoundTrip(out)
	if err != nil {
		panic(http.ErrAbortHandler) // as a server that is away: the connection breaks
	}
	defer func() { _ = resp.Body.Close() }()
	if h != nil && h.answers {
		_, _ = io.Copy(io.Discard, resp.Body)
		h.stand(p, r)
		panic(http.ErrAbortHandler)
	}
	for name, values := range resp.Header {
		w.Header()[name] = values
	}
	w.WriteHeader(resp.StatusCode)
	_, _ = io.Copy(w, resp.Body)
}

// present is the hold that a request is for; nil when there is none.
func (p *lxdProxy) present(r *http.Request) *lxdHold {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.hold != nil && p.hold.matches(r) {
		return p.hold
	}
	return nil
}

// stand waits for the release; false when the request is to be forgotten.
func (h *lxdHold) stand(p *lxdProxy, r *http.Request) bool {
	p.mu.Lock()
	h.held[r.URL.RequestURI()] = true
	p.mu.Unlock()
	select {
	case <-h.released:
		return true
	case <-r.Context().Done():
	}
	if h.late {
		<-h.released
	}
	return h.late
}

// begin begins a hold.
func (p *lxdProxy) begin(h lxdHold) {
	p.mu.Lock()
	defer p.mu.Unlock()
	h.released, h.held = make(chan struct{}), map[string]bool{}
	p.hold = &h
}

// held is how many different requests are held.
func (p *lxdProxy) held() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.hold.held)
}

// release ends the hold.
func (p *lxdProxy) release() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.hold != nil {
		close(p.hold.released)
		p.hold = nil
	}
}

// since counts the requests of a method and path in a project that were passed
// on after a mark. A path that begins with "*" matches by its end.
func (p *lxdProxy) since(mark int, method, path, project string) (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	end, open := strings.CutPrefix(path, "*")
	for _, line := range p.passed[mark:] {
		if line == method+" "+path+" "+project || open && strings.HasPrefix(line, method+" ") && strings.HasSuffix(line, end+" "+project) {
			n++
		}
	}
	return n
}

// mark is what since takes to leave out all until now.
func (p *lxdProxy) mark() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.passed)
}
