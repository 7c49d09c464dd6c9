package endpoint_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/plugin"
)

// fetch asks an address over HTTPS as a driver does.
func fetch(ctx context.Context, target endpoint.Target) error {
	config, err := endpoint.TLSConfig(target, nil)
	if err != nil {
		return err
	}
	dialer := net.Dialer{Control: endpoint.DialControl(target)}
	transport := &http.Transport{DialContext: dialer.DialContext, TLSClientConfig: config}
	defer transport.CloseIdleConnections()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+target.Address+"/path-in-url", nil)
	if err != nil {
		return err
	}
	resp, err := transport.RoundTrip(req)
	if err == nil {
		defer func() { _ = resp.Body.Close() }()
		_, err = io.Copy(io.Discard, resp.Body)
	}
	return err
}

// listen answers each connection with a function.
func listen(t *testing.T, answer func(net.Conn)) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal("listening:", err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go answer(conn)
		}
	}()
	return listener.Addr().String()
}

func TestNetworkError(t *testing.T) {
	t.Parallel()
	secure := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(secure.Close)
	broken := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "10")
		_, _ = w.Write([]byte("half"))
	}))
	t.Cleanup(broken.Close)
	plain := listen(t, func(conn net.Conn) {
		_, _ = conn.Write([]byte("220 mail.example.com ESMTP\r\n"))
		_, _ = io.Copy(io.Discard, conn)
		_ = conn.Close()
	})
	silent := listen(t, func(conn net.Conn) {
		_, _ = io.Copy(io.Discard, conn)
		_ = conn.Close()
	})
	cut := listen(t, func(conn net.Conn) { _ = conn.Close() })
	addr := func(s *httptest.Server) string { return s.Listener.Addr().String() }
	for name, c := range map[string]struct {
		target endpoint.Target
		kind   plugin.ErrorKind
	}{
		"another certificate": {endpoint.Target{Address: addr(secure), Fingerprint: strings.Repeat("AB", 32), AllowLocal: true},
			plugin.Untrusted},
		"a forbidden address":   {endpoint.Target{Address: addr(secure)}, plugin.Forbidden},
		"no TLS":                {endpoint.Target{Address: plain, AllowLocal: true}, plugin.Protocol},
		"no answer":             {endpoint.Target{Address: silent, AllowLocal: true}, plugin.Timeout},
		"a cut connection":      {endpoint.Target{Address: cut, AllowLocal: true}, plugin.Unreachable},
		"a cut answer":          {endpoint.Target{Address: addr(broken), AllowLocal: true}, plugin.Unreachable},
		"a port that is none":   {endpoint.Target{Address: "127.0.0.1:99999999", AllowLocal: true}, plugin.Unreachable},
		"a name without a host": {endpoint.Target{Address: "nowhere.invalid:1"}, plugin.Unreachable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			patience := time.Minute
			if c.kind == plugin.Timeout {
				patience = 100 * time.Millisecond
			}
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			err := endpoint.NetworkError(ctx, fetch(ctx, c.target))
			var e *plugin.Error
			if !errors.As(err, &e) || e.Kind != c.kind {
				t.Fatalf("error is %v, want %s", err, c.kind)
			}
			if e.Kind == plugin.Untrusted && e.Fingerprint == "" {
				t.Error("the fingerprint that was seen is lost")
			}
			if strings.Contains(err.Error(), "path-in-url") {
				t.Errorf("the error tells the URL: %v", err)
			}
		})
	}
}

func TestNetworkErrorOfTheCaller(t *testing.T) {
	t.Parallel()
	if err := endpoint.NetworkError(t.Context(), nil); err != nil {
		t.Errorf("nil became %v", err)
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	if err := endpoint.NetworkError(canceled, fmt.Errorf("asking: %w", canceled.Err())); !errors.Is(err, context.Canceled) ||
		plugin.KindOf(err) != plugin.Internal {
		t.Errorf("error is %v, want the caller's cancellation", err)
	}
}
