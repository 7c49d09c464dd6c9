package pveapi

import (
	"container/list"
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/hostler/hostler/sdk/endpoint"
)

// These bound the connections to one host.
const (
	// maxConns is how many connections there may be to one host for reading,
	// and as many for writing. pveproxy has three workers; more connections
	// would only wait there.
	maxConns = 4
	// idleTime is longer than a poll cycle, so that polling keeps its
	// connection where the server does.
	idleTime = 75 * time.Second
	// maxTargets is how many targets have connections at a time; the one unused
	// for longest goes first.
	maxTargets = 256
)

// Timeouts are the times of one request. Proxmox VE answers a failed log-in 3 s
// late on purpose, and pveproxy waits up to 30 s for another node; every wait
// for an answer must be longer.
type Timeouts struct {
	Dial   time.Duration // TCP and, again, TLS
	Header time.Duration // from the request to the first line of the answer
	Stall  time.Duration // between two pieces of an answer's body
}

// DefaultTimeouts returns the times for real hosts.
func DefaultTimeouts() Timeouts {
	return Timeouts{Dial: 10 * time.Second, Header: 45 * time.Second, Stall: 30 * time.Second}
}

// policy is what connections have in common. It contains no credential.
type policy struct {
	address     string
	fingerprint string
	verify      bool
	local       bool
}

// policyOf gives what two targets must have in common to share connections.
func policyOf(target endpoint.Target) policy {
	return policy{
		address: target.Address, fingerprint: target.Fingerprint,
		verify: target.VerifyTLS, local: target.AllowLocal,
	}
}

// transports are the connections to one target. Reads share connections. A
// write has its own, so that it never goes out on a connection that the server
// is closing at that moment: such a write could not be repeated.
type transports struct {
	read  *http.Transport
	write *http.Transport
	// socket has a connection for each WebSocket.
	socket *http.Transport
}

// closeIdle closes the connections that no request uses now.
func (t *transports) closeIdle() {
	t.read.CloseIdleConnections()
	t.write.CloseIdleConnections()
	t.socket.CloseIdleConnections()
}

// Pool keeps the connections to all targets of a process. It is safe for
// concurrent use.
type Pool struct {
	timeouts Timeouts

	mu     sync.Mutex
	byKey  map[policy]*list.Element
	recent *list.List // of *pooled, the last used first
}

// pooled is an entry of the pool.
type pooled struct {
	key policy
	t   *transports
}

// NewPool returns an empty pool. Zero times stand for the defaults.
func NewPool(timeouts Timeouts) *Pool {
	defaults := DefaultTimeouts()
	if timeouts.Dial == 0 {
		timeouts.Dial = defaults.Dial
	}
	if timeouts.Header == 0 {
		timeouts.Header = defaults.Header
	}
	if timeouts.Stall == 0 {
		timeouts.Stall = defaults.Stall
	}
	return &Pool{timeouts: timeouts, byKey: map[policy]*list.Element{}, recent: list.New()}
}

// Close closes the connections that nobody uses.
func (p *Pool) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for e := p.recent.Front(); e != nil; e = e.Next() {
		e.Value.(*pooled).t.closeIdle()
	}
	p.recent.Init()
	clear(p.byKey)
}

// Len returns the number of targets with connections.
func (p *Pool) Len() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.recent.Len()
}

// get gives the transports of a target, made at the first call. Targets with
// another fingerprint or other rules of trust never share a connection: it was
// checked by the rules of the one that opened it.
func (p *Pool) get(target endpoint.Target) (*transports, error) {
	key := policyOf(target)
	p.mu.Lock()
	defer p.mu.Unlock()
	if e, ok := p.byKey[key]; ok {
		p.recent.MoveToFront(e)
		return e.Value.(*pooled).t, nil
	}
	dialer := &net.Dialer{Timeout: p.timeouts.Dial, KeepAlive: 30 * time.Second, Control: endpoint.DialControl(target)}
	read, err := newTransport(target, p.timeouts, dialer)
	if err != nil {
		return nil, err
	}
	write := read.Clone()
	write.DisableKeepAlives = true
	write.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := read.DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return lingering{conn}, nil
	}
	t := &transports{read: read, write: write, socket: keptAlive(read, dialer)}
	p.byKey[key] = p.recent.PushFront(&pooled{key: key, t: t})
	if p.recent.Len() > maxTargets {
		oldest := p.recent.Back()
		gone := p.recent.Remove(oldest).(*pooled)
		delete(p.byKey, gone.key)
		gone.t.closeIdle()
	}
	return t, nil
}

// lingering is a connection that reports a failed write late. A server that
// refuses a file before all of it has arrived answers and closes the
// connection; the transport would give up at the failed write, before it has
// read the answer with the reason.
type lingering struct{ net.Conn }

// lingerTime is longer than the travel time of an answer that was sent before
// the connection was closed.
const lingerTime = 500 * time.Millisecond

// Write implements net.Conn.
func (l lingering) Write(p []byte) (int, error) {
	n, err := l.Conn.Write(p)
	if err != nil && !errors.Is(err, net.ErrClosed) {
		time.Sleep(lingerTime)
	}
	return n, err
}

// newTransport makes a transport that speaks HTTP/1.1 only, as pveproxy does.
func newTransport(target endpoint.Target, timeouts Timeouts, dialer *net.Dialer) (*http.Transport, error) {
	config, err := endpoint.TLSConfig(target, nil)
	if err != nil {
		return nil, err
	}
	config.NextProtos = []string{"http/1.1"}
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	return &http.Transport{
		Proxy:                  nil, // the environment has no say in where tokens go
		DialContext:            dialUnless(dialer.DialContext),
		TLSClientConfig:        config,
		TLSHandshakeTimeout:    timeouts.Dial,
		ResponseHeaderTimeout:  timeouts.Header,
		MaxConnsPerHost:        maxConns,
		MaxIdleConnsPerHost:    2,
		IdleConnTimeout:        idleTime,
		DisableCompression:     true, // packing costs the hypervisor more than the network saves
		MaxResponseHeaderBytes: 64 << 10,
		ReadBufferSize:         16 << 10,
		WriteBufferSize:        4 << 10,
		Protocols:              &protocols, // pveproxy speaks nothing newer
	}, nil
}
