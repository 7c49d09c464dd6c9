package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/hostler/hostler/core/acme"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/secret"
)

// newACME returns the manager that requests certificates from an ACME authority
// (RFC 8555), or nil if the configuration names no domains. Until the first
// certificate arrives, and for other names, the listener presents the
// self-signed certificate. An external account binding ties the account to one
// that the authority created; its key is a secret, so errors about the key file
// never show its content.
func newACME(cfg Config, d *db.DB, keys secret.Keys, log hclog.Logger) (*acme.Manager, error) {
	if len(cfg.ACME.domains) == 0 {
		return nil, nil
	}
	own, err := ownCertificate(cfg)
	if err != nil {
		return nil, err
	}
	c := acme.Config{DB: d, Keys: keys, Domains: cfg.ACME.domains, Directory: cfg.ACME.Directory, Email: cfg.ACME.Email,
		Fallback: func() (*tls.Certificate, error) { return &own, nil }, Logger: log.Named("acme"), Version: version}
	if base := cfg.proxy.BaseURL; base != nil {
		c.Home = base.Scheme + "://" + base.Host
	}
	if cfg.ACME.CA != "" {
		text, err := os.ReadFile(cfg.ACME.CA)
		if err != nil {
			return nil, fmt.Errorf("reading the CA file for the authority: %w", err)
		}
		if c.Roots = x509.NewCertPool(); !c.Roots.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("%s does not contain a certificate", cfg.ACME.CA)
		}
	}
	if cfg.ACME.BindingID != "" {
		text, err := os.ReadFile(cfg.ACME.BindingKeyFile)
		if err != nil {
			return nil, fmt.Errorf("reading the key of the account: %w", err)
		}
		key, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(strings.TrimSpace(string(text)), "="))
		if err != nil || len(key) == 0 {
			return nil, fmt.Errorf("%s: the key of the account is not in base64url", cfg.ACME.BindingKeyFile) // err could show of it
		}
		c.Binding = &acme.Binding{KeyID: cfg.ACME.BindingID, Key: secret.New(string(key))}
	}
	return acme.New(c), nil
}

// serveChallenges opens the listener for the challenge http-01 if the
// configuration has one, and serves it until ctx ends. It has no TLS, because
// the authority connects to port 80 before a certificate exists (RFC 8555
// section 8.3). Its limits are tighter than those of the API, since anybody on
// the network can reach it and it only serves small responses.
func serveChallenges(ctx context.Context, cfg Config, m *acme.Manager, log hclog.Logger) error {
	if m == nil || cfg.ACME.Listen == "" {
		return nil
	}
	var lc net.ListenConfig
	listener, err := lc.Listen(ctx, "tcp", cfg.ACME.Listen)
	if err != nil {
		return fmt.Errorf("listening on %s for challenges: %w", cfg.ACME.Listen, err)
	}
	log.Info("listening for challenges", "address", listener.Addr().String())
	server := newServer(m.Challenges(), log)
	server.ReadTimeout, server.WriteTimeout, server.IdleTimeout = 10*time.Second, 10*time.Second, 10*time.Second
	server.MaxHeaderBytes = 8 << 10
	context.AfterFunc(ctx, func() { _ = server.Close() })
	go func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			log.Error("the listener for challenges failed", "error", err)
		}
	}()
	return nil
}
