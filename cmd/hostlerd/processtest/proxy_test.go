package processtest

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/identity/identitytest"
	"github.com/hostler/hostler/internal/proxytest"
)

// liar is a client that says it were somebody else.
type liar struct{ http.RoundTripper }

func (l liar) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	for name, value := range map[string]string{"X-Forwarded-For": "6.6.6.6", "X-Real-Ip": "6.6.6.6", "Forwarded": "for=6.6.6.6;proto=http",
		"X-Forwarded-Proto": "http", "X-Forwarded-Host": "evil.example"} {
		r.Header.Set(name, value)
	}
	return l.RoundTripper.RoundTrip(r)
}

// through is somebody who reaches the service through a proxy, at a path, from an address.
func through(t *testing.T, s *service, front *proxytest.Proxy, path, from string) *client {
	t.Helper()
	return newClient(&service{Base: proxytest.URL + path, transport: liar{front.Transport(t, from)}, State: s.State, DB: s.DB, Log: s.Log})
}

// hostPort is where a service listens.
func hostPort(t *testing.T, s *service) string {
	t.Helper()
	base, err := url.Parse(s.Base)
	if err != nil {
		t.Fatal(err)
	}
	return base.Host
}

// logInFrom logs the owner in, and checks that the cookie has the form and that the audit log has the address.
func (c *client) logInFrom(t *testing.T, cookie, from string) {
	t.Helper()
	in := c.must(t, http.StatusOK, http.MethodPost, "/api/v1/auth/login", map[string]any{"email": ownerEmail, "password": ownerPassword}, nil)
	got := in.Header.Get("Set-Cookie")
	if name, rest, _ := strings.Cut(cookie, "="); !strings.HasPrefix(got, name+"=") || !strings.HasSuffix(got, "; "+rest) {
		t.Errorf("the cookie is %s", got)
	}
	c.must(t, http.StatusOK, http.MethodGet, "/api/v1/auth/me", nil, nil)
	var rows []struct{ Address string }
	c.must(t, http.StatusOK, http.MethodGet, "/api/v1/audit?action=auth.login&per_page=500", nil, &rows)
	found := false
	for _, row := range rows {
		found = found || row.Address == from
		if row.Address == "6.6.6.6" {
			t.Error("the audit log believes the client")
		}
	}
	if !found {
		t.Errorf("the audit log has no log-in from %s: %v", from, rows)
	}
}

// The whole service below a path, behind each proxy with its example of the documentation: people log in and out, a file is uploaded,
// its job followed as it goes, and the audit log downloaded.
func TestBehindProxies(t *testing.T) {
	t.Parallel()
	const path = "/hostler"
	node := startSim(t, "--scenario", "one", "--recommended")
	s := startService(t, options{Env: []string{"HOSTLER_TRUSTED_PROXIES=127.0.0.1", "HOSTLER_BASE_URL=" + proxytest.URL + path}})
	direct := setUpDirect(t, s)
	host := direct.enrol(t, node, "lab", "lifecycle")
	// The first log-in stores a hash of the password at its real cost, which others at that moment would find replaced.
	newClient(s).must(t, http.StatusOK, http.MethodPost, "/api/v1/auth/login",
		map[string]any{"email": ownerEmail, "password": ownerPassword}, nil)
	certificate := proxytest.NewCertificate(t)
	for i, kind := range proxytest.Kinds {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			from := fmt.Sprintf("127.0.0.%d", 10+i)
			var changes []proxytest.Change
			if kind == "nginx" {
				changes = append(changes, proxytest.Change{From: "location / {", To: "location " + path + "/ {"})
			}
			owner := through(t, s, proxytest.Start(t, kind, hostPort(t, s), certificate, changes...), path, from)
			owner.logInFrom(t, "__Secure-service_session=Path=/hostler; HttpOnly; Secure; SameSite=Lax", from)

			const size = 8 << 20
			name := kind + ".iso"
			follow(t, owner, owner.uploaded(t, host, name, size))
			if got := node.images(t)[name]; got != size {
				t.Errorf("%s has %d bytes", name, got)
			}
			rows := owner.must(t, http.StatusOK, http.MethodGet, "/api/v1/audit/export?format=jsonl", nil, nil)
			if !bytes.Contains(rows.Body, []byte(`"storage.upload"`)) {
				t.Errorf("the exported audit log has no upload: %s", rows.Body)
			}
			var document struct{ Servers []struct{ URL string } }
			owner.must(t, http.StatusOK, http.MethodGet, "/api/openapi.json", nil, &document)
			if len(document.Servers) != 1 || document.Servers[0].URL != proxytest.URL+path {
				t.Errorf("the document names %v", document.Servers)
			}
			// The client follows the redirect, below the path of the proxy.
			page := owner.must(t, http.StatusOK, http.MethodGet, "/api/docs", nil, nil)
			if !bytes.Contains(page.Body, []byte("<title>Hostler API</title>")) {
				t.Errorf("/api/docs does not lead to the reference: %s", page.Body)
			}
			owner.must(t, http.StatusOK, http.MethodGet, "/readyz", nil, nil)
			out := owner.must(t, http.StatusNoContent, http.MethodPost, "/api/v1/auth/logout", nil, nil)
			if got := out.Header.Get("Set-Cookie"); !strings.HasPrefix(got, "__Secure-service_session=; Path=/hostler; Max-Age=0") {
				t.Errorf("log-out sets %s", got)
			}
			owner.must(t, http.StatusUnauthorized, http.MethodGet, "/api/v1/auth/me", nil, nil)
		})
	}
	// Who reaches the service itself is believed nothing.
	dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 8)}}
	elsewhere := &http.Transport{DialContext: dialer.DialContext}
	t.Cleanup(elsewhere.CloseIdleConnections)
	stranger := newClient(&service{Base: s.Base, transport: liar{elsewhere}})
	if a := stranger.do(t, http.MethodPost, "/api/v1/auth/login", map[string]any{"email": ownerEmail, "password": "wrong"}); a.Status != 401 {
		t.Errorf("%d %s", a.Status, a.Body)
	}
	var rows []struct{ Address string }
	direct.must(t, http.StatusOK, http.MethodGet, "/api/v1/audit?action=auth.login&per_page=500", nil, &rows)
	if len(rows) == 0 || rows[0].Address != "127.0.0.8" {
		t.Errorf("the stranger is %v", rows)
	}
}

// A proxy that does not look into connections tells by the PROXY protocol who asks, and TLS ends in the service.
func TestBehindTheProxyProtocol(t *testing.T) {
	t.Parallel()
	certificate := proxytest.NewCertificate(t)
	s := startService(t, options{
		Env: []string{"HOSTLER_TRUSTED_PROXIES=127.0.0.1,::1", "HOSTLER_TLS_CERT=" + certificate.File, "HOSTLER_TLS_KEY=" + certificate.File},
		// The test's own requests come from a trusted address too, without that protocol.
		Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}, //nolint:gosec // on loopback
	})
	setUp(t, s)
	front := proxytest.Start(t, proxytest.HAProxyTCP, hostPort(t, s), certificate)
	owner := through(t, s, front, "", "127.0.0.9")
	owner.logInFrom(t, "__Host-service_session=Path=/; HttpOnly; Secure; SameSite=Lax", "127.0.0.9")
}

// setUpDirect makes the owner, and somebody with a key: without a proxy there is no cookie below a path.
func setUpDirect(t *testing.T, s *service) *client {
	t.Helper()
	setUp(t, s)
	users := identitytest.New(dbtest.Open(t, s.DB))
	c := newClient(s)
	c.http.Transport = withKey{identitytest.Key(t, users, identitytest.As(t, users, identity.Owner), identitytest.KeySpec{}).Header}
	return c
}

// withKey asks with an API key.
type withKey struct{ header string }

func (b withKey) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", b.header)
	return http.DefaultTransport.RoundTrip(r)
}

// follow reads a job's stream to its end, which must be a good one.
func follow(t *testing.T, c *client, job int64) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), hanging)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("%s/api/v1/jobs/%d/events/stream", c.service.Base, job), nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := c.http.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	var last string
	lines := bufio.NewScanner(io.LimitReader(resp.Body, 1<<20))
	for lines.Scan() {
		if lines.Text() != "" && !strings.HasPrefix(lines.Text(), ":") {
			last = lines.Text()
		}
	}
	if !strings.Contains(last, `"succeeded"`) {
		t.Errorf("the stream of the upload ends with %s: %v", last, lines.Err())
	}
}
