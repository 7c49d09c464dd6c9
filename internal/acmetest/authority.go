// Package acmetest starts a real authority of ACME for tests, Pebble, where it is installed. It finds every name at 127.0.0.1.
package acmetest

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hostler/hostler/internal/programtest"
	"github.com/hostler/hostler/internal/waittest"
)

// The account that an Authority with Bound knows, with its key in base64url.
const (
	BindingID  = "account-1"
	BindingKey = "zWNDZM6eQGHWpSRTPal5eIUYFTu7EajVIoguysqZ9wG44nMEtx3MUAsUDkMTQ12W"
)

// Authority is a Pebble with an address of its own, running after Start.
type Authority struct {
	// TLSPort and HTTPPort are where it looks for challenges.
	TLSPort, HTTPPort string
	// Bound takes only accounts that are tied to BindingID.
	Bound bool

	// Directory is its URL, and CA a PEM file with who signs its own certificate.
	Directory, CA string

	address, management, dir string
	client                   *http.Client
	cmd                      *exec.Cmd
	log                      waittest.Text
}

// New makes one that does not run yet. The test is skipped in the short tier, and where Pebble is not installed.
func New(t testing.TB, tlsPort, httpPort string) *Authority {
	t.Helper()
	if testing.Short() {
		t.Skip("starts a real authority: make check runs it")
	}
	if _, err := exec.LookPath("pebble"); err != nil {
		programtest.Missing(t, "pebble is not installed: .ci/deps installs Debian's")
	}
	a := &Authority{TLSPort: tlsPort, HTTPPort: httpPort, address: freeAddress(t), management: freeAddress(t), dir: t.TempDir()}
	a.Directory, a.CA = "https://"+a.address+"/dir", filepath.Join(a.dir, "authority.pem")
	server := httptest.NewTLSServer(http.NotFoundHandler()) // for its certificate for 127.0.0.1
	own := server.TLS.Certificates[0]
	server.Close()
	key, err := x509.MarshalPKCS8PrivateKey(own.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	text := append(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: own.Certificate[0]}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key})...)
	if err := os.WriteFile(a.CA, text, 0o600); err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: a.Trust(t)}}
	t.Cleanup(transport.CloseIdleConnections)
	a.client = &http.Client{Transport: transport}
	return a
}

// Trust is who signs the authority's own certificate.
func (a *Authority) Trust(t testing.TB) *x509.CertPool {
	t.Helper()
	text, err := os.ReadFile(a.CA)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(text)
	return pool
}

// Start starts it, and waits until it answers. It ends with the test or by Stop.
func (a *Authority) Start(t testing.TB) {
	t.Helper()
	settings := map[string]any{"listenAddress": a.address, "managementListenAddress": a.management, "certificate": a.CA, "privateKey": a.CA,
		"httpPort": port(t, a.HTTPPort), "tlsPort": port(t, a.TLSPort), "externalAccountBindingRequired": a.Bound,
		"externalAccountMACKeys": map[string]string{BindingID: BindingKey}}
	text, err := json.Marshal(map[string]any{"pebble": settings})
	if err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(a.dir, "pebble.json")
	if err := os.WriteFile(config, text, 0o600); err != nil {
		t.Fatal(err)
	}
	a.cmd = exec.Command("pebble", "-config", config, "-dnsserver", names(t))
	a.cmd.Env = append(os.Environ(), "PEBBLE_VA_NOSLEEP=1", "PEBBLE_AUTHZREUSE=0")
	a.cmd.Stdout, a.cmd.Stderr = &a.log, &a.log
	if err := a.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.Stop)
	waittest.Succeeds(t, "the authority answers", func() error {
		_, err := a.get(a.Directory)
		return err
	})
}

// Stop ends it. Another Start begins with nothing.
func (a *Authority) Stop() {
	if a.cmd != nil {
		_ = a.cmd.Process.Kill()
		_ = a.cmd.Wait()
		a.cmd = nil
	}
}

// Roots are who signs the certificates that it makes.
func (a *Authority) Roots(t testing.TB) *x509.CertPool {
	t.Helper()
	text, err := a.get("https://" + a.management + "/roots/0")
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		t.Fatalf("its root is %q", text)
	}
	return pool
}

// Issued is how many certificates it has made. A busy machine may need more orders than one for one.
func (a *Authority) Issued() int { return strings.Count(a.log.String(), "Issued certificate serial ") }

func (a *Authority) get(url string) ([]byte, error) {
	resp, err := a.client.Get(url)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	return io.ReadAll(resp.Body)
}

func freeAddress(t testing.TB) string {
	t.Helper()
	return fmt.Sprintf("127.0.0.1:%d", programtest.FreePort(t))
}

func port(t testing.TB, text string) int {
	t.Helper()
	n, err := net.LookupPort("tcp", text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
