package pvesim

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hostler/hostler/plugins/pve/pvefirewall"
)

// maxHeaderBytes is the real server's limit on request headers.
const maxHeaderBytes = 8 << 10

// serverState is what a cluster has open: listeners, connections, and whoever waits.
type serverState struct {
	quit    chan struct{}
	once    sync.Once
	latency atomic.Int64 // nanoseconds, on top of the options
	exitLag atomic.Int64 // nanoseconds
	// uploadRoom is the room below /var/tmp in bytes and one; zero is any.
	uploadRoom atomic.Int64

	settings struct {
		mu                                         sync.Mutex
		authDelay, resourcesLag, taskDuration      time.Duration
		authDelaySet, resourcesLagSet, taskTimeSet bool
	}

	mu        sync.Mutex
	closed    bool
	listeners []net.Listener
	servers   []*http.Server
	addresses map[string]string // node to host:port
	conns     map[net.Conn]string
	ignored   map[net.Conn]bool // those that a firewall dropped
	wait      sync.WaitGroup
}

// NodeAddress is where a node of a started cluster listens.
type NodeAddress struct {
	Name        string `json:"name"`
	URL         string `json:"url"`
	Fingerprint string `json:"fingerprint"`
}

// Start opens one TLS listener per node on the host of listen: the first node,
// which is the entry address, on its port, the others on free ports, or with
// Options.Loopbacks on that port of addresses of their own. It returns the
// entry URL. Call [Cluster.Close] to stop.
func (c *Cluster) Start(listen string) (string, error) {
	host, _, err := net.SplitHostPort(listen)
	if err != nil {
		return "", fmt.Errorf("starting simulator: %w", err)
	}
	s := &c.server
	s.mu.Lock()
	if s.addresses != nil || s.closed {
		s.mu.Unlock()
		return "", errors.New("starting simulator: it was started before")
	}
	s.addresses, s.conns = map[string]string{}, map[net.Conn]string{}
	s.mu.Unlock()
	for i, n := range c.nodes {
		addr := listen
		switch {
		case i > 0 && c.opts.Loopbacks:
			_, port, _ := net.SplitHostPort(strings.TrimPrefix(c.URL(""), "https://"))
			addr = net.JoinHostPort(n.ip, port)
		case i > 0:
			addr = net.JoinHostPort(host, "0")
		}
		if err := c.listenNode(n, addr); err != nil {
			_ = c.Close()
			return "", fmt.Errorf("starting simulator: %w", err)
		}
	}
	return c.URL(""), nil
}

// listenNode starts the TLS listener of a node.
func (c *Cluster) listenNode(n *node, addr string) error {
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		return fmt.Errorf("opening listener of node %s: %w", n.name, err)
	}
	srv := &http.Server{
		Handler:           n,
		ConnContext:       countRequests,
		MaxHeaderBytes:    maxHeaderBytes,
		ReadHeaderTimeout: 30 * time.Second,
		IdleTimeout:       2 * time.Minute,
		TLSNextProto:      map[string]func(*http.Server, *tls.Conn, http.Handler){}, // HTTP/1.1 only
		ErrorLog:          log.New(io.Discard, "", 0),                               // broken handshakes are the clients' affair
	}
	s := &c.server
	s.mu.Lock()
	s.listeners = append(s.listeners, ln)
	s.servers = append(s.servers, srv)
	s.addresses[n.name] = ln.Addr().String()
	s.mu.Unlock()
	s.wait.Add(1)
	go func() {
		defer s.wait.Done()
		_ = srv.Serve(tls.NewListener(&nodeListener{Listener: ln, cluster: c, node: n}, n.cert.serverConfig())) // ends with Close
	}()
	return nil
}

// nodeListener resets connections while the node is off or a fault refuses
// them, and lets the node's firewall decide about the rest.
type nodeListener struct {
	net.Listener
	cluster *Cluster
	node    *node
}

// Accept resets connections to a node that is down or that a fault refuses, as
// a firewall or a dead machine would.
func (g *nodeListener) Accept() (net.Conn, error) {
	for {
		conn, err := g.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if !g.node.online.Load() || g.cluster.fault.refuses(g.node.name) {
			reset(conn)
			continue
		}
		switch g.cluster.admit(g.node, conn.RemoteAddr()) {
		case pvefirewall.Drop:
			g.cluster.server.ignore(conn)
		case pvefirewall.Reject:
			reset(conn)
		default:
			return g.cluster.track(conn, g.node.name), nil
		}
	}
}

// reset ends a connection without a farewell.
func reset(conn net.Conn) {
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}

// trackedConn leaves the list of connections when it is closed.
type trackedConn struct {
	net.Conn
	once    sync.Once
	cluster *Cluster
}

// track counts a connection and remembers it, so that it can be cut when its
// node goes down.
func (c *Cluster) track(conn net.Conn, node string) net.Conn {
	t := &trackedConn{Conn: conn, cluster: c}
	c.stats.connection(1)
	c.server.mu.Lock()
	c.server.conns[t] = node
	c.server.mu.Unlock()
	return t
}

// CloseWrite lets TLS say that nothing more comes.
func (t *trackedConn) CloseWrite() error {
	if tcp, ok := t.Conn.(*net.TCPConn); ok {
		return tcp.CloseWrite()
	}
	return errors.ErrUnsupported
}

// Close closes the connection once.
func (t *trackedConn) Close() error {
	t.once.Do(func() {
		t.cluster.stats.connection(-1)
		t.cluster.server.mu.Lock()
		delete(t.cluster.server.conns, t)
		t.cluster.server.mu.Unlock()
	})
	return t.Conn.Close()
}

// dropConnections closes all connections to a node, or to every node when the name is empty.
func (s *serverState) dropConnections(node string) {
	s.mu.Lock()
	var list []net.Conn
	for conn, name := range s.conns {
		if node == "" || node == name {
			list = append(list, conn)
		}
	}
	s.mu.Unlock()
	for _, conn := range list {
		_ = conn.Close()
	}
}

// DropConnections closes every client connection, as a restart of the daemon does.
func (c *Cluster) DropConnections() { c.server.dropConnections("") }

// URL returns a node's address, "" when the cluster was not started or the node
// is unknown. An empty name means the entry address.
func (c *Cluster) URL(name string) string {
	if name == "" {
		name = c.nodes[0].name
	}
	c.server.mu.Lock()
	defer c.server.mu.Unlock()
	if addr := c.server.addresses[name]; addr != "" {
		return "https://" + addr
	}
	return ""
}

// Addresses lists all nodes with address and fingerprint.
func (c *Cluster) Addresses() []NodeAddress {
	var out []NodeAddress
	for _, name := range c.NodeNames() {
		out = append(out, NodeAddress{Name: name, URL: c.URL(name), Fingerprint: c.Fingerprint(name)})
	}
	return out
}

// Close stops the listeners, cuts all connections and lets hanging requests
// end. It may be called more than once.
func (c *Cluster) Close() error {
	s := &c.server
	s.once.Do(func() { close(s.quit) })
	s.mu.Lock()
	s.closed = true
	servers, listeners := s.servers, s.listeners
	for conn := range s.ignored {
		_ = conn.Close()
	}
	s.mu.Unlock()
	var errs []error
	for _, srv := range servers {
		errs = append(errs, srv.Close())
	}
	for _, ln := range listeners {
		if err := ln.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
			errs = append(errs, err)
		}
	}
	s.dropConnections("")
	s.wait.Wait()
	return errors.Join(errs...)
}

// sleep waits, but not beyond the request or the simulator.
func (s *serverState) sleep(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	case <-s.quit:
	}
}

// hang waits until the client has gone or the simulator stops. That a client is
// gone is noticed once its body was read.
func (s *serverState) hang(r *http.Request) {
	_, _ = io.Copy(io.Discard, io.LimitReader(r.Body, maxBody))
	select {
	case <-r.Context().Done():
	case <-s.quit:
	}
}

// after runs f when the cluster's clock has gone on by d.
func (s *serverState) after(c *Cluster, d time.Duration, f func()) {
	due := c.Now().Add(d)
	go func() {
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-s.quit:
				return
			case <-tick.C:
				if !c.Now().Before(due) {
					f()
					return
				}
			}
		}
	}()
}
