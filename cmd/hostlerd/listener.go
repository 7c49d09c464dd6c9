package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/hostler/hostler/core/acme"
)

// listen opens the API's listener. Beyond loopback it speaks TLS; scheme tells which. Trusted proxies may speak the PROXY protocol
// before anything else. Certificates that are asked for are those of m.
func listen(ctx context.Context, cfg Config, m *acme.Manager, log hclog.Logger) (listener net.Listener, scheme string, err error) {
	var lc net.ListenConfig
	listener, err = lc.Listen(ctx, "tcp", cfg.Listen)
	if err != nil {
		return nil, "", fmt.Errorf("listening on %s: %w", cfg.Listen, err)
	}
	local := loopback(listener.Addr())
	listener = cfg.proxy.Listener(listener)
	if m != nil {
		return tls.NewListener(listener, m.TLS()), "https", nil
	}
	if local && cfg.TLSCert == "" {
		return listener, "http", nil
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"}}
	if err := present(config, cfg, log); err != nil {
		_ = listener.Close()
		return nil, "", err
	}
	return tls.NewListener(listener, config), "https", nil
}

// present gives the listener the certificate of the configuration's files, or else our own.
func present(config *tls.Config, cfg Config, log hclog.Logger) error {
	if cfg.TLSCert == "" {
		own, err := ownCertificate(cfg)
		config.Certificates = []tls.Certificate{own}
		return err
	}
	given, err := newGivenCertificate(cfg.TLSCert, cfg.TLSKey, log, time.Now)
	if err != nil {
		return err
	}
	config.GetCertificate = given.get
	return nil
}

// loopback judges the address that was really opened, not the name that was asked for.
func loopback(addr net.Addr) bool {
	at, err := netip.ParseAddrPort(addr.String())
	return err == nil && at.Addr().Unmap().IsLoopback()
}

// newServer bounds what a slow or hostile client can hold. Event streams set their own write deadlines.
func newServer(handler http.Handler, log hclog.Logger) *http.Server {
	return &http.Server{
		Handler:           oneChunkedRequest(handler),
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       60 * time.Second,
		WriteTimeout:      90 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    32 << 10,
		ErrorLog:          log.Named("http").StandardLogger(&hclog.StandardLoggerOptions{ForceLevel: hclog.Debug}),
	}
}

// oneChunkedRequest ends a connection of HTTP/1 with the answer to its first chunked request. A request that has a
// Content-Length as well may be meant to hide a second one from a proxy, and its connection must end (RFC 9112 section 6.1);
// net/http takes the length out of the header before anyone sees it, so no chunked request is told apart from such a one.
func oneChunkedRequest(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor == 1 && len(r.TransferEncoding) > 0 {
			w.Header().Set("Connection", "close")
		}
		next.ServeHTTP(w, r)
	})
}
