package pveapi_test

import (
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/hostler/hostler/plugins/pve/pveapi"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/plugin"
)

func TestTheCertificateIsCheckedOnEveryConnection(t *testing.T) {
	t.Parallel()
	answer := func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"data":null}`) }
	wrong := strings.Repeat("AB:", 31) + "AB"
	for name, c := range map[string]struct {
		change func(*endpoint.Target)
		kind   plugin.ErrorKind
	}{
		"wrong pin":     {func(t *endpoint.Target) { t.Fingerprint = wrong }, plugin.Untrusted},
		"not trusted":   {func(t *endpoint.Target) { t.Fingerprint, t.VerifyTLS = "", true }, plugin.Untrusted},
		"pin in small":  {func(t *endpoint.Target) { t.Fingerprint = strings.ToLower(t.Fingerprint) }, ""},
		"any":           {func(t *endpoint.Target) { t.Fingerprint = "" }, ""},
		"local address": {func(t *endpoint.Target) { t.AllowLocal = false }, plugin.Forbidden},
		"name for local": {func(t *endpoint.Target) {
			t.AllowLocal = false
			t.Address = strings.Replace(t.Address, "127.0.0.1", "localhost", 1)
		}, plugin.Forbidden},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var asked atomic.Int32
			client := serve(t, func(w http.ResponseWriter, r *http.Request) { asked.Add(1); answer(w, r) }, c.change)
			for _, send := range []func() error{
				func() error { _, err := client.Get(t.Context(), "/x", nil, nil); return err },
				func() error { _, err := client.Post(t.Context(), "/x", nil, nil); return err },
			} {
				err := send()
				if c.kind == "" {
					if err != nil {
						t.Error(err)
					}
					continue
				}
				e := wantKind(t, err, c.kind)
				if asked.Load() > 0 {
					t.Error("the request was sent")
				}
				if c.kind == plugin.Untrusted && (e.Fingerprint == "" || e.Fingerprint == wrong) {
					t.Errorf("the certificate seen is not told: %q", e.Fingerprint)
				}
			}
		})
	}
}

func TestNobodyThere(t *testing.T) {
	t.Parallel()
	const address = "127.0.0.1:1" // nobody is given a port as low as this one
	pool := pveapi.NewPool(pveapi.Timeouts{})
	for _, at := range []string{address, "no-such-host.invalid:8006"} {
		client, err := pool.NewClient(endpoint.Target{Address: at, AllowLocal: true})
		if err != nil {
			t.Fatal(err)
		}
		_, err = client.Get(t.Context(), "/version", nil, nil)
		wantKind(t, err, plugin.Unreachable)
	}
	if _, err := pool.NewClient(endpoint.Target{Address: "no port"}); plugin.KindOf(err) != plugin.Invalid {
		t.Errorf("address without port: %v", err)
	}
	bad := endpoint.Target{Address: address, Credential: endpoint.Credential{ID: "a\r\nX: y", Secret: "s"}}
	if _, err := pool.NewClient(bad); plugin.KindOf(err) != plugin.Invalid {
		t.Errorf("token with a line break: %v", err)
	}
}

func TestSomethingElseThere(t *testing.T) {
	t.Parallel()
	plain := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(plain.Close)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ln.Close() })
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			fmt.Fprint(conn, "SSH-2.0-OpenSSH_9.2\r\n")
			_ = conn.Close()
		}
	}()
	pool := pveapi.NewPool(pveapi.Timeouts{})
	for _, at := range []string{plain.Listener.Addr().String(), ln.Addr().String()} {
		client, err := pool.NewClient(endpoint.Target{Address: at, AllowLocal: true})
		if err != nil {
			t.Fatal(err)
		}
		_, err = client.Get(t.Context(), "/version", nil, nil)
		wantKind(t, err, plugin.Protocol)
	}
}

// The texts are shown to people: no word of Go's packages, none of our own ports, no resolver.
func TestBrokenConnectionsAreToldInPlainWords(t *testing.T) {
	t.Parallel()
	hijack := func(w http.ResponseWriter) *net.TCPConn {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
		}
		return conn.(*tls.Conn).NetConn().(*net.TCPConn)
	}
	for name, c := range map[string]struct {
		handler http.HandlerFunc
		change  func(*endpoint.Target)
		kind    plugin.ErrorKind
		text    string
	}{
		"cut": {
			handler: func(w http.ResponseWriter, _ *http.Request) { _ = hijack(w).Close() },
			kind:    plugin.Unreachable, text: "the host closed the connection without an answer",
		},
		"reset": {
			handler: func(w http.ResponseWriter, _ *http.Request) {
				conn := hijack(w)
				_ = conn.SetLinger(0)
				_ = conn.Close()
			},
			kind: plugin.Unreachable, text: "the host reset the connection",
		},
		"truncated": {
			handler: func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Length", "100")
				fmt.Fprint(w, `{"data":`)
			},
			kind: plugin.Unreachable, text: "the host closed the connection before its answer was complete",
		},
		"endless header": {
			handler: func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("X", strings.Repeat("x", 1<<17)) },
			kind:    plugin.Unreachable, text: "the headers of the host's answer are too large",
		},
		"refused": {
			// A port that was free a moment ago may be another server's now; this one is given to nobody.
			change: func(t *endpoint.Target) { t.Address = "127.0.0.1:1" },
			kind:   plugin.Unreachable, text: "the host refused the connection: nothing listens on this port",
		},
		"unknown name": {
			change: func(t *endpoint.Target) { t.Address = "no-such-host.invalid:8006" },
			kind:   plugin.Unreachable, text: "the name no-such-host.invalid",
		},
		"not trusted": {
			change: func(t *endpoint.Target) { t.Fingerprint, t.VerifyTLS = "", true },
			kind:   plugin.Untrusted, text: "the endpoint's certificate is not trusted: it is not signed by a trusted authority",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var change []func(*endpoint.Target)
			if c.change != nil {
				change = append(change, c.change)
			}
			_, err := serve(t, c.handler, change...).Get(t.Context(), "/x", nil, nil)
			e := wantKind(t, err, c.kind)
			if !strings.Contains(e.Message, c.text) {
				t.Errorf("the message is %q, want %q", e.Message, c.text)
			}
			for _, jargon := range []string{"EOF", "tcp", "dial", "x509", "net/http", "->", "lookup "} {
				if strings.Contains(e.Message, jargon) {
					t.Errorf("%q is in the message %q", jargon, e.Message)
				}
			}
		})
	}
}
