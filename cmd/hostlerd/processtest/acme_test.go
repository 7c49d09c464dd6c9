package processtest

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/internal/acmetest"
	"github.com/hostler/hostler/internal/programtest"
	"github.com/hostler/hostler/internal/waittest"
)

// The service asks a real authority for its certificate and has it after a restart without the authority; with an account that is bound,
// on a second address without TLS for the challenge. Nobody has to wait for any of it.
func TestCertificatesByACME(t *testing.T) {
	t.Parallel()
	const name = "hostler.example.com"
	tlsPort, httpPort := strconv.Itoa(programtest.FreePort(t)), strconv.Itoa(programtest.FreePort(t))
	address, plain := "127.0.0.1:"+tlsPort, "127.0.0.1:"+httpPort
	authority := acmetest.New(t, tlsPort, httpPort)
	authority.Bound = true
	authority.Start(t)
	key := filepath.Join(t.TempDir(), "binding")
	if err := os.WriteFile(key, []byte(acmetest.BindingKey+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var roots atomic.Pointer[x509.CertPool] // nil takes any certificate
	transport := &http.Transport{
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, address)
		},
		TLSClientConfig: &tls.Config{ServerName: name, InsecureSkipVerify: true, VerifyConnection: func(c tls.ConnectionState) error {
			if roots.Load() == nil {
				return nil
			}
			between := x509.NewCertPool()
			for _, issuer := range c.PeerCertificates[1:] {
				between.AddCert(issuer)
			}
			_, err := c.PeerCertificates[0].Verify(x509.VerifyOptions{Roots: roots.Load(), Intermediates: between, DNSName: name})
			return err
		}},
		DisableKeepAlives: true,
	}
	s := startService(t, options{Transport: transport, Env: []string{"HOSTLER_LISTEN=" + address, "HOSTLER_ACME_DOMAINS=" + name,
		"HOSTLER_ACME_DIRECTORY=" + authority.Directory, "HOSTLER_ACME_CA=" + authority.CA, "HOSTLER_ACME_TERMS=agreed",
		"HOSTLER_ACME_EMAIL=anna@example.com", "HOSTLER_ACME_BINDING_ID=" + acmetest.BindingID, "HOSTLER_ACME_BINDING_KEY_FILE=" + key,
		"HOSTLER_ACME_LISTEN=" + plain}})
	roots.Store(authority.Roots(t))
	trusted := func() bool {
		resp, err := (&http.Client{Transport: transport}).Get("https://" + name + "/readyz")
		if err != nil {
			return false
		}
		_ = resp.Body.Close()
		return resp.StatusCode == http.StatusOK
	}
	waittest.Until(t, "the authority's certificate is shown", trusted)
	setUp(t, s)
	resp, err := (&http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}).
		Get("http://" + plain + "/guests?q=web")
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if to := resp.Header.Get("Location"); resp.StatusCode != http.StatusFound || to != "https://"+name+"/guests?q=web" {
		t.Errorf("without TLS it answers %s, %q", resp.Status, to)
	}
	if log := s.Log.String(); strings.Contains(log, acmetest.BindingKey) || strings.Contains(log, "PRIVATE KEY") {
		t.Error("the log has a key")
	}
	authority.Stop()
	issued := authority.Issued()
	s.kill()
	roots.Store(nil)
	s.start(t)
	waittest.Until(t, "the certificate is there again", func() bool {
		return strings.Count(s.Log.String(), "obtained a certificate") == 2
	})
	if n := authority.Issued(); n != issued || issued != 1 {
		t.Errorf("it has made %d certificates", n)
	}
	run(t, append(environment(t, s.DB, s.State), "HOSTLER_KEY_FILE="+filepath.Join(s.State, "keys", "secret.key")), "",
		"keys", "rotate").succeeds(t)
}

// What is wrong in the configuration is said before anything is asked for.
func TestBadACME(t *testing.T) {
	t.Parallel()
	env := environment(t, dbtest.EmptyURL(t), t.TempDir())
	bad := func(pieces []string, more ...string) {
		t.Helper()
		run(t, append(env, more...), "", "serve").fails(t, pieces...)
	}
	bad([]string{"acme-domains", "192.0.2.1"}, "HOSTLER_ACME_DOMAINS=192.0.2.1")
	bad([]string{"acme-listen"}, "HOSTLER_ACME_LISTEN=:80")
	bad([]string{"acme-terms", "acme-directory", "acme-email", "acme-binding-id", "acme-listen", "tls-cert"},
		"HOSTLER_ACME_DOMAINS=hostler.example.com", "HOSTLER_ACME_DIRECTORY=http://user:canary-pass-7@ca.example.com", "HOSTLER_ACME_EMAIL=x",
		"HOSTLER_ACME_BINDING_ID=1", "HOSTLER_ACME_LISTEN=80", "HOSTLER_TLS_CERT=/x.pem", "HOSTLER_TLS_KEY=/x.pem")
	good := []string{"HOSTLER_ACME_DOMAINS=hostler.example.com", "HOSTLER_ACME_TERMS=agreed"}
	empty := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(empty, []byte("canary-key-8 !"), 0o600); err != nil {
		t.Fatal(err)
	}
	bad([]string{"/nowhere.pem"}, append(good, "HOSTLER_ACME_CA=/nowhere.pem")...)
	bad([]string{"not contain a certificate"}, append(good, "HOSTLER_ACME_CA="+empty)...)
	o := run(t, append(env, append(good, "HOSTLER_ACME_BINDING_ID=1", "HOSTLER_ACME_BINDING_KEY_FILE="+empty)...), "", "serve")
	o.fails(t, "not in base64url")
	if strings.Contains(o.Err+o.Out, "canary") {
		t.Errorf("the message has the key: %s", o.Err)
	}
}
