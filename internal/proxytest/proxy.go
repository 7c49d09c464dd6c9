// Package proxytest starts real reverse proxies for tests, where they are installed: with the example configurations of
// docs/proxy, in which only addresses, ports and the places of certificates are others.
package proxytest

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/hostler/hostler/internal/programtest"
	"github.com/hostler/hostler/internal/waittest"
)

// Host is the name that the examples are for, and URL where the service is behind every one of the proxies.
const (
	Host = "hostler.example.com"
	URL  = "https://" + Host
)

// Kinds are the proxies that end TLS and tell of their clients by headers. HAProxyTCP passes connections on with the PROXY protocol:
// the service behind it has the Certificate.
var Kinds = []string{"nginx", "caddy", "haproxy"}

// HAProxyTCP is the kind of the proxy that does not look into connections.
const HAProxyTCP = "haproxy-tcp"

// Proxy is a running one.
type Proxy struct {
	address string
	roots   *x509.CertPool
}

// Change is a text of the example that a test wants otherwise, such as one for a path.
type Change struct{ From, To string }

// Start starts a proxy of a kind before the service at an address like 127.0.0.1:8480, and stops it in the end. It tells the
// service of its clients from 127.0.0.1. The test is skipped where the proxy is not installed.
func Start(t testing.TB, kind, service string, certificate *Certificate, changes ...Change) *Proxy {
	t.Helper()
	if testing.Short() {
		t.Skip("starts a proxy: make check runs it")
	}
	how := map[string]func(testing.TB, place) []string{"nginx": nginx, "caddy": caddy, "haproxy": haproxy, HAProxyTCP: haproxyTCP}[kind]
	if how == nil {
		t.Fatalf("there is no proxy of the kind %s", kind)
	}
	program, _, _ := strings.Cut(kind, "-")
	path, err := exec.LookPath(program)
	if err != nil {
		if path, err = exec.LookPath("/usr/sbin/" + program); err != nil {
			programtest.Missing(t, program+" is not installed: .ci/deps installs Debian's")
		}
	}
	const tries = 5 // another program may take the port before the proxy does
	for try := 1; ; try++ {
		p := place{dir: t.TempDir(), port: strconv.Itoa(programtest.FreePort(t)), service: service, certificate: certificate, changes: changes}
		if started(t, path, how(t, p), p) {
			return &Proxy{address: "127.0.0.1:" + p.port, roots: certificate.roots}
		}
		if try == tries {
			t.Fatalf("%s does not start", kind)
		}
	}
}

// Transport asks the proxy, whatever the URL's host is, from an address of the loopback network. Its connections are closed in
// the end.
func (p *Proxy) Transport(t testing.TB, from string) *http.Transport {
	t.Helper()
	transport := &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
			return d.DialContext(ctx, "tcp", p.address)
		},
		TLSClientConfig: &tls.Config{RootCAs: p.roots},
	}
	t.Cleanup(transport.CloseIdleConnections)
	return transport
}

// place is where a proxy runs.
type place struct {
	dir, port, service string
	certificate        *Certificate
	changes            []Change
}

// example is the example configuration with what is different here. A text that it does not have ends the test.
func (p place) example(t testing.TB, name string, changes ...Change) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root(t), "docs", "proxy", name))
	if err != nil {
		t.Fatal(err)
	}
	changed := string(text)
	for _, c := range append(append(changes, Change{"127.0.0.1:8480", p.service}), p.changes...) {
		if !strings.Contains(changed, c.From) {
			t.Fatalf("docs/proxy/%s has no %q", name, c.From)
		}
		changed = strings.ReplaceAll(changed, c.From, c.To)
	}
	return changed
}

// file writes a file of the proxy's and returns its path.
func (p place) file(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(p.dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func nginx(t testing.TB, p place) []string {
	t.Helper()
	p.file(t, "hostler.conf", p.example(t, "nginx.conf",
		Change{"listen 443 ssl", "listen 127.0.0.1:" + p.port + " ssl"},
		Change{"/etc/ssl/hostler/fullchain.pem", p.certificate.File}, Change{"/etc/ssl/hostler/privkey.pem", p.certificate.File}))
	var places strings.Builder
	for _, what := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
		places.WriteString("  " + what + "_temp_path " + filepath.Join(p.dir, what) + ";\n")
	}
	// One process, so that nothing is left when it is killed.
	main := p.file(t, "nginx.conf", "daemon off;\nmaster_process off;\npid "+filepath.Join(p.dir, "pid")+
		";\nerror_log stderr;\nevents {}\nhttp {\n  access_log off;\n"+places.String()+"  include hostler.conf;\n}\n")
	return []string{"-p", p.dir, "-e", "stderr", "-c", main}
}

func caddy(t testing.TB, p place) []string {
	t.Helper()
	site := p.example(t, "Caddyfile", Change{Host + " {", Host + ":" + p.port + " {\n\tbind 127.0.0.1\n\ttls " +
		p.certificate.File + " " + p.certificate.File})
	config := p.file(t, "Caddyfile", "{\n\tadmin off\n\tauto_https disable_redirects\n}\n"+site)
	return []string{"run", "--adapter", "caddyfile", "--config", config}
}

func haproxy(t testing.TB, p place) []string {
	t.Helper()
	return []string{"-db", "-f", p.file(t, "haproxy.cfg", p.example(t, "haproxy.cfg", Change{"bind :443", "bind 127.0.0.1:" + p.port},
		Change{"/etc/haproxy/hostler.pem", p.certificate.File}))}
}

func haproxyTCP(t testing.TB, p place) []string {
	t.Helper()
	return []string{"-db", "-f", p.file(t, "haproxy.cfg", p.example(t, "haproxy-tcp.cfg", Change{"bind :443", "bind 127.0.0.1:" + p.port}))}
}

// started runs the program and waits until its port is open; false means that it has ended.
func started(t testing.TB, program string, args []string, p place) bool {
	t.Helper()
	c := exec.Command(program, args...)
	c.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + p.dir}
	said := &waittest.Text{}
	c.Stdout, c.Stderr = said, said
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = c.Wait()
		close(ended)
	}()
	t.Cleanup(func() {
		_ = c.Process.Kill()
		<-ended
		if t.Failed() {
			t.Logf("%s said: %s", filepath.Base(program), said)
		}
	})
	listens := false
	waittest.Until(t, filepath.Base(program)+" listens", func() bool {
		select {
		case <-ended:
			t.Logf("%s ended: %s", filepath.Base(program), said)
			return true
		default:
		}
		conn, err := net.Dial("tcp", "127.0.0.1:"+p.port)
		if err == nil {
			_ = conn.Close()
		}
		listens = err == nil
		return listens
	})
	return listens
}

// root is the folder of the module.
func root(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		above := filepath.Dir(dir)
		if above == dir {
			t.Fatal("there is no go.mod above the test")
		}
		dir = above
	}
}
