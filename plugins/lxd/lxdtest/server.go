//go:build linux

package lxdtest

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hostler/hostler/sdk/endpoint"
)

// readyTime is how long a server may take to start, and again to become furnished. It takes a second, on a machine that is not starved.
const readyTime = 3 * time.Minute

// Server is a real LXD with a pool `local` of the driver dir, a bridge that every container is on, and the images Tiny and
// Stubborn. Its methods may be called at the same time, but for Kill and Start.
type Server struct {
	// Address is where it listens, as host:port.
	Address string
	// Fingerprint is the SHA-256 of its certificate, in the form of endpoint.Fingerprint.
	Fingerprint string

	dir    string // LXD_DIR
	log    string
	daemon *daemon
	admin  *http.Client // over the local socket
}

// The images of a Server: Tiny follows a request to shut down at once, Stubborn never does.
const (
	Tiny     = "tiny"
	Stubborn = "stubborn"
)

var (
	servers atomic.Int32
	shared  = sync.OnceValues(func() (*Server, error) { return newServer(context.Background()) })
)

// Shared gives the server that all tests of the package share, and starts it when it is the first. A test that needs names of
// its own makes a Project.
func Shared(t testing.TB) *Server {
	t.Helper()
	available(t)
	s, err := shared()
	if err != nil {
		t.Fatalf("starting LXD: %v%s", err, s.lastWords())
	}
	return s
}

// New starts a server for one test, which ends it when it is over.
func New(t testing.TB) *Server {
	t.Helper()
	available(t)
	s, err := newServer(t.Context())
	if err != nil {
		t.Fatalf("starting LXD: %v%s", err, s.lastWords())
	}
	t.Cleanup(func() { s.Kill(t) })
	return s
}

// newServer starts a real LXD in a folder and at a loopback address of its own,
// and sets up its storage and network. On an error it returns the server too,
// so that the caller can stop what was started.
func newServer(ctx context.Context) (*Server, error) {
	number := int(servers.Add(1))
	s := &Server{dir: fmt.Sprintf("%s/%d", base, number), log: fmt.Sprintf("%s/%d.log", base, number)}
	s.admin = &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", s.dir+"/unix.socket")
	}, DisableKeepAlives: true}} // a kept connection would be to a server that was killed since
	if err := os.Mkdir(s.dir, 0o711); err != nil {
		return s, err
	}
	// The network namespace is ours, and nobody else is given an address or a port like these.
	s.Address = fmt.Sprintf("127.77.%d.1:8443", number)
	if err := s.start(ctx); err != nil {
		return s, err
	}
	return s, s.furnish(ctx, number)
}

// start runs the daemon and waits until it serves.
func (s *Server) start(ctx context.Context) (err error) {
	if s.daemon, err = startDaemon(s.log, []string{"LXD_DIR=" + s.dir}, "lxd", "--group", "root"); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, readyTime)
	defer cancel()
	for {
		err := s.Do(ctx, http.MethodGet, "/internal/ready", nil, nil)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("LXD is not ready after %s: %w", readyTime, err)
		case <-s.daemon.ended:
			return fmt.Errorf("LXD has ended: %w", err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// furnish makes what containers need, and what clients must know.
func (s *Server) furnish(ctx context.Context, number int) error {
	ctx, cancel := context.WithTimeout(ctx, readyTime)
	defer cancel()
	bridge := "lxdbr" + strconv.Itoa(number)
	for _, r := range []struct {
		method, path string
		body         any
	}{
		{http.MethodPut, "/1.0", map[string]any{"config": map[string]string{"core.https_address": s.Address}}},
		{http.MethodPost, "/1.0/storage-pools", map[string]any{"name": "local", "driver": "dir"}},
		{http.MethodPost, "/1.0/networks", map[string]any{"name": bridge, "type": "bridge", "config": map[string]string{
			"ipv4.address": fmt.Sprintf("10.77.%d.1/24", number), "ipv4.nat": "false", "ipv6.address": "none",
			"dns.mode": "none"}}}, // containers of different projects may have the same name
		{http.MethodPut, "/1.0/profiles/default", map[string]any{"devices": map[string]any{
			"root": map[string]string{"type": "disk", "path": "/", "pool": "local"},
			"eth0": map[string]string{"type": "nic", "network": bridge, "name": "eth0"}}}},
	} {
		if err := s.Do(ctx, r.method, r.path, r.body, nil); err != nil {
			return err
		}
	}
	for alias, init := range map[string]string{Tiny: initScript, Stubborn: stubbornScript} {
		if err := s.addImage(ctx, alias, init); err != nil {
			return err
		}
	}
	var about struct {
		Environment struct {
			Fingerprint string `json:"certificate_fingerprint"`
		} `json:"environment"`
	}
	err := s.Do(ctx, http.MethodGet, "/1.0", nil, &about)
	if err != nil {
		return err
	}
	s.Fingerprint, err = endpoint.ParseFingerprint(about.Environment.Fingerprint)
	return err
}

// Kill ends the daemon at once, as kill -9 does. Its containers go on.
func (s *Server) Kill(t testing.TB) {
	t.Helper()
	if err := s.daemon.kill(); err != nil {
		t.Fatal("killing LXD: ", err)
	}
}

// Start starts the daemon again after Kill, with all that it had.
func (s *Server) Start(t testing.TB) {
	t.Helper()
	if err := s.start(t.Context()); err != nil {
		t.Fatalf("starting LXD again: %v%s", err, s.lastWords())
	}
}

// lastWords is the end of what the daemon wrote.
func (s *Server) lastWords() string {
	const most = 4 << 10
	file, err := os.Open(s.log)
	if err != nil {
		return ""
	}
	defer func() { _ = file.Close() }()
	if about, err := file.Stat(); err == nil && about.Size() > most {
		_, _ = file.Seek(-most, io.SeekEnd)
	}
	text, _ := io.ReadAll(io.LimitReader(file, most))
	return "\n" + string(text)
}
