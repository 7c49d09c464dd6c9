package acme_test

import (
	"bytes"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"io"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/hostler/hostler/core/acme"
	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/identity/identitytest"
	"github.com/hostler/hostler/core/secret"
	"github.com/hostler/hostler/internal/acmetest"
	"github.com/hostler/hostler/internal/waittest"
)

// Until there is a certificate, and for whoever asks for another name, there is the fallback. The next instance has the certificate from
// the database, also under another key and without the authority.
func TestCertificateIsMadeOnce(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.authority.Start(t)
	m := acme.New(f.config())
	f.serve(m)
	f.fallback(domain)
	f.run(m)
	waittest.Until(t, "there is a certificate", f.made)
	got, err := f.shown(strings.ToUpper(domain)+".", "h2")
	if err != nil {
		t.Fatal(err)
	}
	between := x509.NewCertPool()
	for _, issuer := range got[1:] {
		between.AddCert(issuer)
	}
	if _, err := got[0].Verify(x509.VerifyOptions{DNSName: domain, Roots: f.authority.Roots(t), Intermediates: between}); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"", "other.example.com", "x." + domain, "localhost", "127.0.0.1"} {
		f.fallback(name)
	}
	for _, name := range []string{domain, "other.example.com", ""} {
		if cert, err := f.shown(name, "acme-tls/1"); err == nil {
			t.Errorf("a challenge of %q that nobody has made: %v", name, cert[0].Subject)
		}
	}
	if n := f.authority.Issued(); n != 1 {
		t.Errorf("it has made %d certificates", n)
	}
	if n := dbtest.Value[int](t, f.db, "SELECT count(*) FROM acme_cache WHERE encode(data, 'escape') ~ 'PRIVATE|BEGIN'"); n != 0 {
		t.Errorf("%d rows are not sealed", n)
	}
	if left := dbtest.Value[int](t, f.db, "SELECT count(*) FROM acme_cache WHERE name LIKE '%token%' OR name LIKE '%http%'"); left != 0 {
		t.Errorf("%d challenges are left", left)
	}

	f.authority.Stop()
	if _, err := f.keys.Rotate(t.Context(), secret.Rotation{DB: f.db, Tables: []secret.Table{acme.SealedTable}}); err != nil {
		t.Fatal(err)
	}
	next := newFixture(t)
	next.db, next.keys, next.authority = f.db, f.keys, f.authority
	m = acme.New(next.config())
	next.serve(m)
	next.run(m)
	waittest.Until(t, "the next instance has it", next.made)
	if again, err := next.shown(domain, "h2"); err != nil || !bytes.Equal(again[0].Raw, got[0].Raw) {
		t.Errorf("the next instance has another one, %v", err)
	}
}

// The authority asks an instance that has not begun the challenge: it has it from the database, and later the certificate.
func TestAnyInstanceAnswersChallenges(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.authority.Start(t)
	asking, answering := acme.New(f.config()), acme.New(f.config())
	f.serve(answering)
	f.run(asking)
	waittest.Until(t, "the certificate is kept", func() bool {
		return dbtest.Value[int](t, f.db, "SELECT count(*) FROM acme_cache WHERE name = $1", domain) == 1
	})
	f.fallback(domain)
	f.run(answering)
	waittest.Until(t, "the other instance has it", f.made)
	if n := f.authority.Issued(); n != 1 {
		t.Errorf("it has made %d certificates", n)
	}
}

// Instances that start at once ask once, and one that died while it asked is waited for.
func TestInstancesTakeTurns(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.authority.Start(t)
	dbtest.Exec(t, f.db, "INSERT INTO acme_turns VALUES ($1, now() + interval '1 hour')", domain)
	said := &waittest.Text{}
	config := f.config()
	config.Logger = hclog.New(&hclog.LoggerOptions{Output: said})
	first, second := acme.New(config), acme.New(config)
	f.serve(first)
	f.run(first)
	f.run(second)
	f.fallback(domain)
	dbtest.Exec(t, f.db, "UPDATE acme_turns SET until = now()")
	waittest.Until(t, "both have it", func() bool { return strings.Count(said.String(), "obtained a certificate") == 2 })
	if n := f.authority.Issued(); n != 1 {
		t.Errorf("it has made %d certificates", n)
	}
	waittest.Until(t, "nobody has a turn", func() bool { return dbtest.Value[int](t, f.db, "SELECT count(*) FROM acme_turns") == 0 })
}

// Where nobody answers over TLS it is the listener without it. There is nothing else there, and nobody is sent to a stranger.
func TestChallengeWithoutTLS(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	elsewhere := listen(t)
	f.authority.TLSPort = port(elsewhere)
	_ = elsewhere.Close()
	f.obtain()
	if f.asked.Load() == 0 {
		t.Error("it was not by http-01")
	}
	c := acme.New(f.config())
	h := c.Challenges()
	const path = "/.well-known/acme-challenge/"
	for _, x := range []struct {
		method, host, target string
		status               int
		to                   string
	}{
		{"GET", domain, "/", 302, "https://" + domain + "/"},
		{"HEAD", domain + ":80", "/guests?q=a%20b", 302, "https://" + domain + "/guests?q=a%20b"},
		{"GET", "evil.example.com", "//evil.example.com/x", 302, "https://" + domain + "//evil.example.com/x"},
		{"GET", "evil.example.com:80", "/%0d%0aSet-Cookie:%20a=b", 302, "https://" + domain + "/%0d%0aSet-Cookie:%20a=b"},
		{"GET", "", "/", 302, "https://" + domain + "/"},
		{"POST", domain, "/api/v1/auth/login", 400, ""},
		{"GET", domain, path, 404, ""},
		{"GET", domain, path + "short", 404, ""},
		{"GET", domain, path + "nobody-has-made-this-token", 404, ""},
		{"GET", "evil.example.com", path + "nobody-has-made-this-token", 404, ""},
		{"GET", domain, path + "../../acme_account", 404, ""},
		{"GET", domain, path + "a%2f..%2facme_account%2bkey", 404, ""},
		{"GET", domain, path + "a%00aaaaaaaaaaaaaaaaaaaaaa", 404, ""},
		{"GET", domain, path + strings.Repeat("a", 5000), 404, ""},
	} {
		r, w := httptest.NewRequest(x.method, "http://x"+x.target, nil), httptest.NewRecorder()
		r.Host = x.host
		h.ServeHTTP(w, r)
		if w.Code != x.status || w.Header().Get("Location") != x.to {
			t.Errorf("%s %s for %q: %d %q", x.method, x.target, x.host, w.Code, w.Header().Get("Location"))
		}
		if text, _ := io.ReadAll(w.Body); bytes.Contains(text, []byte("PRIVATE")) {
			t.Errorf("%s: %s", x.target, text)
		}
	}
	config := f.config()
	config.Home = "https://lab.example.com:8443"
	r, w := httptest.NewRequest("GET", "http://"+domain+"/x", nil), httptest.NewRecorder()
	acme.New(config).Challenges().ServeHTTP(w, r)
	if to := w.Header().Get("Location"); to != "https://lab.example.com:8443/x" {
		t.Errorf("with an address of its own it sends to %q", to)
	}
}

// An authority that does not answer is asked again, and nobody waits for it.
func TestAuthorityIsAway(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	m := acme.New(f.config())
	f.serve(m)
	f.run(m)
	f.fallback(domain)
	if n := dbtest.Value[int](t, f.db, "SELECT count(*) FROM acme_cache WHERE name = $1", domain); n != 0 {
		t.Error("there is a certificate")
	}
	f.authority.Start(t)
	waittest.Until(t, "there is a certificate", f.made)
}

// A certificate that is near its end is shown, with a warning, as long as the authority is away, and is renewed when it is there.
func TestLateCertificate(t *testing.T) {
	t.Parallel()
	for _, there := range []bool{false, true} {
		t.Run(fmt.Sprintf("authority is there: %t", there), func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			old := f.kept()
			if there {
				f.authority.Start(t)
			}
			config, said := f.config(), &waittest.Text{}
			config.Logger = hclog.New(&hclog.LoggerOptions{Output: said})
			m := acme.New(config)
			f.serve(m)
			f.run(m)
			waittest.Until(t, "a certificate is shown", f.made)
			if !there {
				if got, err := f.shown(domain, "h2"); err != nil || !got[0].Equal(old) {
					t.Errorf("shown is %v, %v", got, err)
				}
				waittest.Until(t, "it is warned of", func() bool { return strings.Contains(said.String(), "was not renewed") })
				return
			}
			waittest.Until(t, "it is renewed", func() bool {
				got, err := f.shown(domain, "h2")
				return err == nil && !got[0].Equal(old) && f.authority.Issued() == 1
			})
		})
	}
}

// An account that must be tied to another is refused without it, and the log says what the authority has said.
func TestAccountIsBound(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.authority.Bound = true
	f.authority.Start(t)
	config, said := f.config(), &waittest.Text{}
	config.Logger = hclog.New(&hclog.LoggerOptions{Output: said})
	m := acme.New(config)
	f.serve(m)
	f.run(m)
	waittest.Until(t, "it is refused", func() bool { return strings.Contains(said.String(), "externalAccountRequired") })
	f.fallback(domain)
	key, err := base64.RawURLEncoding.DecodeString(acmetest.BindingKey)
	if err != nil {
		t.Fatal(err)
	}
	config.Binding = &acme.Binding{KeyID: acmetest.BindingID, Key: secret.New(string(key))}
	bound := acme.New(config)
	f.run(bound)
	waittest.Until(t, "there is a certificate", func() bool {
		return dbtest.Value[int](t, f.db, "SELECT count(*) FROM acme_cache WHERE name = $1", domain) == 1
	})
	if strings.Contains(said.String(), acmetest.BindingKey) {
		t.Error("the log has the key")
	}
}

// What is kept under a key that is lost is an error: nothing is asked for anew, again and again.
func TestLostKeyIsNoMiss(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.obtain()
	issued := f.authority.Issued()
	f.keys = identitytest.Keys(t)
	config, said := f.config(), &waittest.Text{}
	config.Logger = hclog.New(&hclog.LoggerOptions{Output: said})
	f.run(acme.New(config))
	waittest.Until(t, "it was tried twice", func() bool { return strings.Count(said.String(), "no certificate yet") > 1 })
	if n := f.authority.Issued(); n != issued {
		t.Errorf("it has made %d certificates more", n-issued)
	}
}
