package processtest

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hostler/hostler/cmd/hostlerd/selfsigned"
	"github.com/hostler/hostler/core/db/dbtest"
)

// trusting is a transport that takes the certificate in a file for the name localhost, once the file is there.
func trusting(t testing.TB, file string) *http.Transport {
	t.Helper()
	transport := &http.Transport{TLSClientConfig: &tls.Config{
		InsecureSkipVerify: true, // VerifyConnection does it, with a file that is made only when the service starts
		VerifyConnection: func(state tls.ConnectionState) error {
			text, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			roots := x509.NewCertPool()
			roots.AppendCertsFromPEM(text)
			_, err = state.PeerCertificates[0].Verify(x509.VerifyOptions{Roots: roots, DNSName: "localhost"})
			return err
		},
	}}
	t.Cleanup(transport.CloseIdleConnections)
	return transport
}

// Beyond loopback there is TLS only, with a certificate that stays, and cookies that belong to this host alone.
func TestListenerBeyondLoopback(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	file := filepath.Join(state, "tls", "self-signed.pem")
	s := startService(t, options{State: state, Env: []string{"HOSTLER_LISTEN=0.0.0.0:0"}, Transport: trusting(t, file)})
	if !strings.HasPrefix(s.Base, "https://") {
		t.Fatalf("it listens on %s", s.Base)
	}
	owner := setUp(t, s)
	owner.must(t, http.StatusOK, http.MethodGet, "/api/v1/auth/me", nil, nil)
	cookie := owner.must(t, http.StatusOK, http.MethodPost, "/api/v1/auth/login",
		map[string]any{"email": ownerEmail, "password": ownerPassword}, nil).
		Header.Get("Set-Cookie")
	for _, piece := range []string{"__Host-service_session=", "; Secure", "; HttpOnly", "; SameSite=Lax", "; Path=/"} {
		if !strings.Contains(cookie, piece) {
			t.Errorf("the cookie lacks %q", piece)
		}
	}
	if strings.Contains(cookie, "Domain") {
		t.Error("the cookie names a domain")
	}

	// The name without the prefix is nobody's here: a neighbour could have planted it.
	base, err := url.Parse(s.Base)
	if err != nil {
		t.Fatal(err)
	}
	value := strings.TrimPrefix(strings.SplitN(cookie, ";", 2)[0], "__Host-service_session=")
	stranger := newClient(s)
	stranger.http.Jar.SetCookies(base, []*http.Cookie{{Name: "service_session", Value: value, Path: "/"}})
	stranger.must(t, http.StatusUnauthorized, http.MethodGet, "/api/v1/auth/me", nil, nil)

	resp, err := http.Get("http://" + base.Host + "/readyz")
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusBadRequest {
		t.Errorf("plain HTTP gets %s", resp.Status)
	}
	old := &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}
	if conn, err := tls.Dial("tcp", base.Host, old); err == nil {
		_ = conn.Close()
		t.Error("TLS 1.1 is accepted")
	}

	info, err := os.Stat(file)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file of the key: %v, %v", info, err)
	}
	before, _ := os.ReadFile(file)
	s.stop(t)
	s.start(t)
	if after, _ := os.ReadFile(file); !bytes.Equal(before, after) {
		t.Error("the certificate changed at a restart")
	}
}

func TestListenerWithAGivenCertificate(t *testing.T) {
	t.Parallel()
	// Another service's own certificate is as good as any.
	file := filepath.Join(t.TempDir(), "self-signed.pem")
	if err := selfsigned.Write(file, "localhost:0"); err != nil {
		t.Fatal(err)
	}
	s := startService(t, options{
		Env: []string{"HOSTLER_TLS_CERT=" + file, "HOSTLER_TLS_KEY=" + file}, Transport: trusting(t, file),
	})
	if !strings.HasPrefix(s.Base, "https://127.0.0.1:") {
		t.Errorf("with a certificate it listens on %s", s.Base)
	}
	if _, err := os.Stat(filepath.Join(s.State, "tls")); err == nil {
		t.Error("it made a certificate of its own all the same")
	}

	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(text)
	bare := filepath.Join(t.TempDir(), "bare.pem")
	if err := os.WriteFile(bare, pem.EncodeToMemory(block), 0o600); err != nil {
		t.Fatal(err)
	}
	env := environment(t, dbtest.EmptyURL(t), t.TempDir())
	run(t, append(env, "HOSTLER_TLS_CERT="+file, "HOSTLER_TLS_KEY="+bare), "", "serve").fails(t, "certificate")
	run(t, append(env, "HOSTLER_TLS_CERT="+file+".none", "HOSTLER_TLS_KEY="+file), "", "serve").fails(t, file+".none")
}

func TestListenerAddressTaken(t *testing.T) {
	t.Parallel()
	other, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Close() }()
	env := append(environment(t, dbtest.EmptyURL(t), t.TempDir()), "HOSTLER_LISTEN="+other.Addr().String())
	run(t, env, "", "serve").fails(t, "listening on "+other.Addr().String(), "in use")
}
