package lxd_test

import (
	"crypto/tls"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/hostler/hostler/sdk/endpoint"
)

// proxy stands before a real server and shows it the certificate of the one target that may come through. It counts requests and
// can lose answers: the server has taken the request by then. Streams go through it, and can be cut.
type proxy struct {
	target endpoint.Target // the driver's

	mu       sync.Mutex
	requests []string
	loses    func(*http.Request) bool
	streams  map[io.Closer]bool
}

// newProxy starts a proxy for a target.
func newProxy(t testing.TB, behind endpoint.Target) *proxy {
	t.Helper()
	certificate, err := behind.Credential.ClientCertificate()
	must(t, "reading a certificate", err)
	way := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true, Certificates: []tls.Certificate{certificate}}}
	t.Cleanup(way.CloseIdleConnections)
	p := &proxy{streams: map[io.Closer]bool{}}
	server := serveTLS(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		p.requests = append(p.requests, r.Method+" "+r.URL.RequestURI())
		loses := p.loses != nil && p.loses(r)
		p.mu.Unlock()
		hangUp := func() {
			conn, _, _ := w.(http.Hijacker).Hijack()
			_ = conn.Close()
		}
		if loses && r.Method == http.MethodGet { // there is no need to ask
			hangUp()
			return
		}
		out := r.Clone(r.Context())
		out.URL.Scheme, out.URL.Host, out.RequestURI = "https", behind.Address, ""
		resp, err := way.RoundTrip(out)
		if err != nil {
			hangUp()
			return
		}
		defer func() { _ = resp.Body.Close() }()
		if loses {
			_, _ = io.Copy(io.Discard, resp.Body)
			hangUp()
			return
		}
		for name, values := range resp.Header {
			w.Header()[name] = values
		}
		w.WriteHeader(resp.StatusCode)
		if resp.StatusCode == http.StatusSwitchingProtocols {
			p.stream(w, resp.Body.(io.ReadWriteCloser))
			return
		}
		_, _ = io.Copy(w, resp.Body)
	}))
	p.target = behind
	p.target.Address, p.target.Fingerprint = server.Listener.Addr().String(), endpoint.Fingerprint(server.Certificate())
	return p
}

// stream joins both sides of a connection until either ends.
func (p *proxy) stream(w http.ResponseWriter, server io.ReadWriteCloser) {
	client, buffered, err := w.(http.Hijacker).Hijack()
	if err != nil {
		return
	}
	p.mu.Lock()
	p.streams[client] = true
	p.mu.Unlock()
	var both sync.WaitGroup
	join := func(to io.WriteCloser, from io.Reader) {
		_, _ = io.Copy(to, from)
		_, _ = client.Close(), server.Close()
	}
	both.Go(func() { join(client, server) })
	both.Go(func() { join(server, buffered) })
	both.Wait()
	p.mu.Lock()
	delete(p.streams, client)
	p.mu.Unlock()
}

// open is the number of streams that stand.
func (p *proxy) open() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.streams)
}

// cut breaks all streams.
func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for client := range p.streams {
		_ = client.Close()
	}
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

// count counts the requests so far that contain a text.
func (p *proxy) count(part string) (count int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range p.requests {
		if strings.Contains(r, part) {
			count++
		}
	}
	return count
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
