package lxd_test

import (
	"crypto/tls"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hostler/hostler/sdk/endpoint"
)

// proxy stands before a real server and shows it the certificate of the one target that may come through. It counts requests and
// can lose answers: the server has taken the request by then.
type proxy struct {
	target endpoint.Target // the driver's

	mu       sync.Mutex
	requests []string
	loses    func(*http.Request) bool
}

// newProxy starts a proxy for a target.
func newProxy(t testing.TB, behind endpoint.Target) *proxy {
	t.Helper()
	certificate, err := behind.Credential.ClientCertificate()
	must(t, "reading a certificate", err)
	way := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true, Certificates: []tls.Certificate{certificate}}}
	t.Cleanup(way.CloseIdleConnections)
	p := &proxy{}
	server := serveTLS(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		p.requests = append(p.requests, r.Method+" "+r.URL.RequestURI())
		loses := p.loses != nil && p.loses(r)
		p.mu.Unlock()
		if loses && r.Method == http.MethodGet { // there is no need to ask
			conn, _, _ := w.(http.Hijacker).Hijack()
			_ = conn.Close()
			return
		}
		out := r.Clone(r.Context())
		out.URL.Scheme, out.URL.Host, out.RequestURI = "https", behind.Address, ""
		resp, err := way.RoundTrip(out)
		if err != nil {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		defer func() { _ = resp.Body.Close() }()
		if loses {
			_, _ = io.Copy(io.Discard, resp.Body)
			conn, _, _ := w.(http.Hijacker).Hijack()
			_ = conn.Close()
			return
		}
		for name, values := range resp.Header {
			w.Header()[name] = values
		}
		w.WriteHeader(resp.StatusCode)
		_, _ = io.Copy(w, resp.Body)
	}))
	p.target = behind
	p.target.Address, p.target.Fingerprint = server.Listener.Addr().String(), endpoint.Fingerprint(server.Certificate())
	return p
}

// lose makes the answers of some requests get lost; nil of none.
func (p *proxy) lose(which func(*http.Request) bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.loses = which
}

// take gives the requests since the last time.
func (p *proxy) take() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	taken := p.requests
	p.requests = nil
	return taken
}

// changes are those requests that are none for reading.
func changes(requests []string) (all []string) {
	for _, r := range requests {
		if !strings.HasPrefix(r, "GET ") {
			all = append(all, r)
		}
	}
	return all
}

// until waits for a condition.
func until(t testing.TB, what string, condition func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !condition(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("waited in vain: ", what)
		}
	}
}
