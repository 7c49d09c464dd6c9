package lxdapi

import (
	"crypto/tls"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/hostler/hostler/sdk/endpoint"
)

const (
	// maxConns is the maximum number of connections for reading to one server
	// with one certificate.
	maxConns = 4
	// maxOwn is the maximum number of further connections, each for one change,
	// one wait or one event stream.
	maxOwn = 64
	// idleTime is longer than a poll cycle, so that polling keeps its connection.
	idleTime = 75 * time.Second
	// maxPooled is the maximum number of pairs of server and certificate with
	// connections. The one that was unused for longest is dropped first.
	maxPooled = 512
)

// Timeouts are the time limits of one request.
type Timeouts struct {
	Dial time.Duration // TCP and, again, TLS
	// Header is from the request to the first line of the answer. A member of a cluster that hangs delays others for 30 s.
	Header time.Duration
	Body   time.Duration // from the first line of the answer to its end
}

// DefaultTimeouts fit real servers.
func DefaultTimeouts() Timeouts {
	return Timeouts{Dial: 10 * time.Second, Header: 45 * time.Second, Body: time.Minute}
}

// policy is the key of shared connections. The client certificate belongs to a
// TLS connection, so it is part of the key.
type policy struct {
	address, fingerprint, identity string
	verify, local                  bool
}

// transports are the two ways to reach one server. Reads share connections. A
// change gets a connection of its own, so that it is never sent on one that the
// server is just closing, which would leave its effect unknown. Waits and event
// streams get their own too, so that reads never queue behind them.
type transports struct {
	shared, own *http.Transport
	used        uint64 // when, counted in uses of the pool
}

// closeIdle closes connections that are not in use. Requests in progress
// continue.
func (t *transports) closeIdle() {
	t.shared.CloseIdleConnections()
	t.own.CloseIdleConnections()
}

// Pool keeps the connections to all servers of a process. It is safe for
// concurrent use.
type Pool struct {
	timeouts Timeouts

	mu    sync.Mutex
	uses  uint64
	byKey map[policy]*transports
}

// NewPool returns an empty pool. Zero timeouts mean the defaults.
func NewPool(timeouts Timeouts) *Pool {
	defaults := DefaultTimeouts()
	if timeouts.Dial == 0 {
		timeouts.Dial = defaults.Dial
	}
	if timeouts.Header == 0 {
		timeouts.Header = defaults.Header
	}
	if timeouts.Body == 0 {
		timeouts.Body = defaults.Body
	}
	return &Pool{timeouts: timeouts, byKey: map[policy]*transports{}}
}

// Close closes idle connections. Clients of the pool can still be used.
func (p *Pool) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, t := range p.byKey {
		t.closeIdle()
	}
	clear(p.byKey)
}

// Len returns the number of pairs of server and certificate with connections.
func (p *Pool) Len() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.byKey)
}

// get returns the transports for a server and a certificate, and creates them
// on first use. Everything that affects trust is part of the key, so a
// connection that was verified with one pin is never used with another.
func (p *Pool) get(target endpoint.Target, identity Identity) (*transports, error) {
	key := policy{address: target.Address, fingerprint: target.Fingerprint, identity: identity.Fingerprint,
		verify: target.VerifyTLS, local: target.AllowLocal}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.uses++
	if t, ok := p.byKey[key]; ok {
		t.used = p.uses
		return t, nil
	}
	shared, err := newTransport(target, identity, p.timeouts)
	if err != nil {
		return nil, err
	}
	if len(p.byKey) == maxPooled {
		p.dropOldest()
	}
	own := shared.Clone()
	own.DisableKeepAlives, own.MaxConnsPerHost = true, maxOwn
	t := &transports{shared: shared, own: own, used: p.uses}
	p.byKey[key] = t
	return t, nil
}

// dropOldest removes the transports that were unused for the longest time. The
// caller locks mu.
func (p *Pool) dropOldest() {
	var oldest policy
	first := p.uses + 1
	for key, t := range p.byKey {
		if t.used < first {
			oldest, first = key, t.used
		}
	}
	p.byKey[oldest].closeIdle()
	delete(p.byKey, oldest)
}

// newTransport returns a transport for one server and one client certificate.
// It ignores proxies of the environment, uses HTTP/1.1 and TLS 1.3 only, and
// presents the certificate regardless of the authorities that the server names.
func newTransport(target endpoint.Target, identity Identity, timeouts Timeouts) (*http.Transport, error) {
	config, err := endpoint.TLSConfig(target, nil)
	if err != nil {
		return nil, err
	}
	config.MinVersion = tls.VersionTLS13 // LXD speaks nothing older
	config.NextProtos = []string{"http/1.1"}
	// Whichever authorities the server names, the certificate is the one that it has in its list.
	config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &identity.certificate, nil }
	dialer := &net.Dialer{Timeout: timeouts.Dial, KeepAlive: 30 * time.Second, Control: endpoint.DialControl(target)}
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	return &http.Transport{
		Proxy:                  nil, // the environment has no say in where credentials go
		DialContext:            dialer.DialContext,
		TLSClientConfig:        config,
		TLSHandshakeTimeout:    timeouts.Dial,
		ResponseHeaderTimeout:  timeouts.Header,
		MaxConnsPerHost:        maxConns,
		MaxIdleConnsPerHost:    2,
		IdleConnTimeout:        idleTime,
		DisableCompression:     true, // the server packs nothing
		MaxResponseHeaderBytes: 64 << 10,
		Protocols:              &protocols,
	}, nil
}
