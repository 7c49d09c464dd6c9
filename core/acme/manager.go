// Package acme has the listener's certificates made by an authority over ACME (RFC 8555), renewed in time, and kept in the database,
// sealed, where all instances find them. Until one is there, and for whoever asks for another name or for none, there is a fallback.
package acme

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"
	"golang.org/x/crypto/acme"
	"golang.org/x/crypto/acme/autocert"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/secret"
)

const (
	// DefaultDirectory is that of Let's Encrypt.
	DefaultDirectory = autocert.DefaultACMEDirectory
	// firstPause and longestPause are the waits after a failure: authorities count failures, and Let's Encrypt refuses after five an hour.
	firstPause, longestPause = time.Minute, time.Hour
	// look is how often a certificate that is there is looked at.
	look = time.Hour
	// answer is how long one request to the authority may take.
	answer = 30 * time.Second
	// again is the wait while another instance asks.
	again = time.Second
)

// errTaken says that another instance asks.
var errTaken = errors.New("another instance is requesting the certificate")

// Binding ties the account to one that the authority has already (RFC 8555, section 7.3.4).
type Binding struct {
	KeyID string
	Key   secret.String // as it is used, not in base64
}

// Config says for which names and from whom.
type Config struct {
	DB   *db.DB
	Keys secret.Keys
	// Domains are as ParseDomains gives them, at least one.
	Domains []string
	// Directory is the authority's URL, DefaultDirectory when empty; Roots are who signs that server's certificate, nil for the system's.
	Directory string
	Roots     *x509.CertPool
	// Email is whom the authority tells of what goes wrong; it may be empty.
	Email   string
	Binding *Binding
	// Fallback is the certificate for all others.
	Fallback func() (*tls.Certificate, error)
	// Home is where those are sent who come without TLS, such as https://hostler.example.com. When it is empty it is the domain that they
	// asked for, or the first.
	Home   string
	Logger hclog.Logger
	// Version is told to the authority.
	Version string
	// Pause is the first wait after a failure, a minute when zero; it doubles up to an hour.
	Pause time.Duration
}

// Manager answers handshakes and the authority's challenges. Its methods may be called at the same time.
type Manager struct {
	config Config
	cache  cache
	auto   *autocert.Manager
	// ready are the domains that have a certificate. For the others no handshake waits until there is one.
	ready map[string]*atomic.Bool
}

// New asks nobody for anything yet: Run does.
func New(c Config) *Manager {
	if c.Directory == "" {
		c.Directory = DefaultDirectory
	}
	if c.Pause == 0 {
		c.Pause = firstPause
	}
	m := &Manager{config: c, cache: cache{c.DB, c.Keys}, ready: map[string]*atomic.Bool{}}
	for _, domain := range c.Domains {
		m.ready[domain] = &atomic.Bool{}
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = &tls.Config{RootCAs: c.Roots, MinVersion: tls.VersionTLS12}
	m.auto = &autocert.Manager{
		Prompt: autocert.AcceptTOS, // who configures us has agreed
		Cache:  m.cache, HostPolicy: autocert.HostWhitelist(c.Domains...), Email: c.Email,
		Client: &acme.Client{DirectoryURL: c.Directory, UserAgent: "hostler/" + c.Version,
			HTTPClient: &http.Client{Transport: transport, Timeout: answer}},
	}
	if c.Binding != nil {
		m.auto.ExternalAccountBinding = &acme.ExternalAccountBinding{KID: c.Binding.KeyID, Key: []byte(c.Binding.Key.Reveal())}
	}
	return m
}

// TLS is the listener's configuration. It answers the challenge tls-alpn-01 (RFC 8737) as well.
func (m *Manager) TLS() *tls.Config {
	return &tls.Config{GetCertificate: m.certificate, MinVersion: tls.VersionTLS12,
		NextProtos: []string{"h2", "http/1.1", acme.ALPNProto}}
}

// certificate asks the database for nothing that is not of our domains, and the authority for nothing at all.
func (m *Manager) certificate(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	domain, err := ascii(hello.ServerName)
	ready := m.ready[domain]
	ours := err == nil && ready != nil
	if slices.Equal(hello.SupportedProtos, []string{acme.ALPNProto}) {
		if !ours {
			return nil, errors.New("no challenge exists for this name")
		}
		return m.auto.GetCertificate(hello)
	}
	if ours && ready.Load() {
		if cert, err := m.auto.GetCertificate(asking(domain)); err == nil {
			return cert, nil
		}
	}
	return m.config.Fallback()
}

// asking is a client's greeting that is answered with a certificate on P-256: one on RSA, which autocert gives to clients of long ago,
// would be asked for in the middle of a handshake.
func asking(domain string) *tls.ClientHelloInfo {
	return &tls.ClientHelloInfo{ServerName: domain, SignatureSchemes: []tls.SignatureScheme{tls.ECDSAWithP256AndSHA256},
		CipherSuites: []uint16{tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256}}
}

// Run has certificates made and looks after them until the context ends. The listener must answer meanwhile: the authority asks it.
func (m *Manager) Run(ctx context.Context) {
	var all sync.WaitGroup
	for domain := range m.ready {
		all.Go(func() { m.keep(ctx, domain) })
	}
	all.Wait()
}

// keep tries until a domain has a certificate, which autocert renews, and tells when that fails.
func (m *Manager) keep(ctx context.Context, domain string) {
	log := m.config.Logger.With("domain", domain)
	for pause := m.config.Pause; ; {
		wait := look
		cert, err := m.obtain(ctx, domain)
		switch {
		case ctx.Err() != nil:
			return
		case errors.Is(err, errTaken):
			wait = again
		case err != nil:
			log.Error("no certificate yet; trying again", "directory", m.config.Directory, "in", pause.String(), "error", err)
			wait, pause = pause, min(2*pause, longestPause)
		default:
			if !m.ready[domain].Swap(true) {
				log.Info("obtained a certificate", "until", cert.Leaf.NotAfter, "issuer", cert.Leaf.Issuer.String())
			}
			if late(cert.Leaf, time.Now()) {
				log.Warn("the certificate was not renewed; trying again every hour", "until", cert.Leaf.NotAfter)
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
	}
}

// late reports whether less than a quarter of a certificate's life is left: autocert renews when it is a third.
func late(c *x509.Certificate, now time.Time) bool {
	return c.NotAfter.Sub(now) < c.NotAfter.Sub(c.NotBefore)/4
}

// obtain gives the certificate of a domain, which is asked for where there is none, by one instance at a time.
func (m *Manager) obtain(ctx context.Context, domain string) (*tls.Certificate, error) {
	if _, err := m.cache.Get(ctx, domain); err != nil {
		if !errors.Is(err, autocert.ErrCacheMiss) {
			return nil, err
		}
		if mine, err := m.cache.turn(ctx, domain); err != nil {
			return nil, err
		} else if !mine {
			return nil, errTaken
		}
		defer func() {
			if err := m.cache.over(ctx, domain); err != nil {
				m.config.Logger.Warn("could not release the certificate lock; another instance has to wait",
					"domain", domain, "error", err)
			}
		}()
	}
	return m.ask(ctx, domain)
}

// ask goes on for some minutes although the context ends; nobody waits for it then.
func (m *Manager) ask(ctx context.Context, domain string) (*tls.Certificate, error) {
	type result struct {
		cert *tls.Certificate
		err  error
	}
	done := make(chan result, 1)
	go func() {
		cert, err := m.auto.GetCertificate(asking(domain))
		if err == nil && cert.Leaf == nil {
			err = errors.New("it is not valid")
		}
		done <- result{cert, err}
	}()
	select {
	case r := <-done:
		if r.err != nil {
			return nil, fmt.Errorf("requesting a certificate: %w", r.err)
		}
		return r.cert, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
