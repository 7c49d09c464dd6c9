package acme_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/hostler/hostler/core/acme"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/identity/identitytest"
	"github.com/hostler/hostler/core/secret"
	"github.com/hostler/hostler/internal/acmetest"
	"github.com/hostler/hostler/internal/waittest"
)

// domain is whose certificate is asked for.
const domain = "hostler.example.com"

// fixture is a database, and instances of a service that listens where the authority looks.
type fixture struct {
	t         *testing.T
	db        *db.DB
	keys      *secret.Box
	own       tls.Certificate
	listener  net.Listener
	plain     net.Listener
	authority *acmetest.Authority
	// asked is how often there was a request without TLS.
	asked atomic.Int64
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	server := httptest.NewTLSServer(http.NotFoundHandler()) // for a certificate that is nobody's here
	own := server.TLS.Certificates[0]
	server.Close()
	f := &fixture{t: t, db: dbtest.New(t), keys: identitytest.Keys(t), own: own, listener: listen(t), plain: listen(t)}
	f.authority = acmetest.New(t, port(f.listener), port(f.plain))
	return f
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

func port(l net.Listener) string {
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}

// config is that of an instance.
func (f *fixture) config() acme.Config {
	return acme.Config{DB: f.db, Keys: f.keys, Domains: []string{domain}, Directory: f.authority.Directory, Roots: f.authority.Trust(f.t),
		Email: "anna@example.com", Fallback: func() (*tls.Certificate, error) { return &f.own, nil }, Logger: hclog.NewNullLogger(),
		Version: "test", Pause: 50 * time.Millisecond}
}

// serve lets an instance answer at the listeners.
func (f *fixture) serve(m *acme.Manager) {
	serve := func(l net.Listener, h http.Handler) {
		server := &http.Server{Handler: h}
		f.t.Cleanup(func() { _ = server.Close() })
		go func() { _ = server.Serve(l) }()
	}
	serve(tls.NewListener(f.listener, m.TLS()), http.NotFoundHandler())
	challenges := m.Challenges()
	serve(f.plain, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.asked.Add(1)
		challenges.ServeHTTP(w, r)
	}))
}

// run has an instance ask until the test ends.
func (f *fixture) run(m *acme.Manager) {
	f.t.Helper()
	var ended sync.WaitGroup
	ctx := f.t.Context()
	ended.Go(func() { m.Run(ctx) })
	f.t.Cleanup(ended.Wait)
}

// kept puts a certificate into the database that was made 80 days ago and is good for ten more, as an instance that was off would find it.
func (f *fixture) kept() *x509.Certificate {
	f.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		f.t.Fatal(err)
	}
	const day = 24 * time.Hour
	template := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{domain}, NotBefore: time.Now().Add(-80 * day),
		NotAfter: time.Now().Add(10 * day)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		f.t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		f.t.Fatal(err)
	}
	text := append(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: private}),
		pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})...)
	sealed, err := f.keys.Seal(secret.New(string(text)), secret.Binding{Table: acme.SealedTable.Name, Column: acme.SealedTable.Column,
		Row: secret.Row(domain)})
	if err != nil {
		f.t.Fatal(err)
	}
	dbtest.Exec(f.t, f.db, "INSERT INTO acme_cache (name, data) VALUES ($1, $2)", domain, sealed)
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		f.t.Fatal(err)
	}
	return cert
}

// obtain has an instance serve, and waits until it has its certificate.
func (f *fixture) obtain() {
	f.t.Helper()
	f.authority.Start(f.t)
	m := acme.New(f.config())
	f.serve(m)
	f.run(m)
	waittest.Until(f.t, "there is a certificate", f.made)
}

// shown is the certificate that a client gets who asks for a name and speaks some protocols, with those of its issuers.
func (f *fixture) shown(name string, protocols ...string) ([]*x509.Certificate, error) {
	f.t.Helper()
	conn, err := tls.Dial("tcp", f.listener.Addr().String(), &tls.Config{InsecureSkipVerify: true, ServerName: name, NextProtos: protocols})
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close() }()
	return conn.ConnectionState().PeerCertificates, nil
}

// fallback holds that a client gets the certificate for all others.
func (f *fixture) fallback(name string) {
	f.t.Helper()
	got, err := f.shown(name, "h2")
	if err != nil || !bytes.Equal(got[0].Raw, f.own.Certificate[0]) {
		f.t.Errorf("who asks for %q gets %v, %v", name, got, err)
	}
}

// made is whether who asks for the domain gets a certificate of the authority.
func (f *fixture) made() bool {
	f.t.Helper()
	got, err := f.shown(domain, "h2")
	return err == nil && !bytes.Equal(got[0].Raw, f.own.Certificate[0])
}
