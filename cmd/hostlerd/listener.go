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

// listen opens the listener of the API and returns it with its scheme, http or
// https. Beyond loopback it always uses TLS. The order of the layers is: TCP,
// then the PROXY protocol of trusted proxies, which precedes TLS on the
// connection, then TLS. m provides the certificates if it is not nil.
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

// present sets the certificate of a TLS configuration: the configured files, or
// the self-signed certificate.
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

// loopback reports whether an address is loopback. It inspects the address that
// was opened, not the configured name: a name such as localhost can resolve to
// something else.
func loopback(addr net.Addr) bool {
	at, err := netip.ParseAddrPort(addr.String())
	return err == nil && at.Addr().Unmap().IsLoopback()
}

// newServer returns an HTTP server with limits for slow and hostile clients: 10
// seconds for headers, 60 for a request, 90 for a response, and 32 KiB of
// headers. Handlers that stream set their own deadlines.
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

// oneChunkedRequest closes an HTTP/1 connection after its first chunked
// request. A request with both Transfer-Encoding and Content-Length can hide a
// second request from a proxy (request smuggling), and its connection must be
// closed (RFC 9112 section 6.1). net/http removes the length before a handler
// sees it, so all chunked requests are treated alike.
func oneChunkedRequest(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor == 1 && len(r.TransferEncoding) > 0 {
			w.Header().Set("Connection", "close")
		}
		next.ServeHTTP(w, r)
	})
}
