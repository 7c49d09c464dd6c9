package endpoint_test

import (
	"crypto/tls"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/plugin"
)

// serve serves TLS with a certificate that no authority signed.
func serve(t *testing.T) *httptest.Server {
	t.Helper()
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // it logs every client that refuses the certificate
	server.StartTLS()
	t.Cleanup(server.Close)
	return server
}

// get asks the server over a new connection.
func get(t *testing.T, server *httptest.Server, target endpoint.Target, seen func(string, time.Time), change func(*tls.Config)) error {
	t.Helper()
	target.Address = strings.TrimPrefix(server.URL, "https://")
	config, err := endpoint.TLSConfig(target, seen)
	if err != nil {
		t.Fatal("making the configuration:", err)
	}
	if change != nil {
		change(config)
	}
	client := http.Client{Transport: &http.Transport{TLSClientConfig: config, DisableKeepAlives: true}}
	answer, err := client.Get(server.URL)
	if err == nil {
		_ = answer.Body.Close()
	}
	return err
}

func TestPin(t *testing.T) {
	t.Parallel()
	server := serve(t)
	right := endpoint.Fingerprint(server.Certificate())
	wrong := "00" + right[2:]
	for name, c := range map[string]struct {
		target endpoint.Target
		ok     bool
	}{
		"pinned":                   {endpoint.Target{Fingerprint: right}, true},
		"pinned, lower case":       {endpoint.Target{Fingerprint: strings.ToLower(right), VerifyTLS: true}, true},
		"another pin":              {endpoint.Target{Fingerprint: wrong}, false},
		"another pin, verify":      {endpoint.Target{Fingerprint: wrong, VerifyTLS: true}, false},
		"any":                      {endpoint.Target{}, true},
		"the system's authorities": {endpoint.Target{VerifyTLS: true}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var seen atomic.Value
			err := get(t, server, c.target, func(fp string, end time.Time) { seen.Store(fp + end.String()) }, nil)
			if c.ok {
				if want := right + server.Certificate().NotAfter.String(); err != nil || seen.Load() != want {
					t.Errorf("error %v, seen %v, want %v", err, seen.Load(), want)
				}
				return
			}
			var e *plugin.Error
			if !errors.As(err, &e) || e.Kind != plugin.Untrusted || e.Fingerprint != right {
				t.Errorf("error is %v, want untrusted with what was shown", err)
			}
			if seen.Load() != nil {
				t.Error("a certificate that did not pass was told as seen")
			}
		})
	}
	if _, err := endpoint.TLSConfig(endpoint.Target{Address: "a:1", Fingerprint: "nonsense"}, nil); plugin.KindOf(err) != plugin.Invalid {
		t.Errorf("a pin that cannot be read: error is %v, want invalid", err)
	}
}

// A session that was agreed on with one pin must not be resumed past another.
func TestPinHoldsForResumedSessions(t *testing.T) {
	t.Parallel()
	server := serve(t)
	right := endpoint.Fingerprint(server.Certificate())
	cache := tls.NewLRUClientSessionCache(10)
	resumed := false
	share := func(config *tls.Config) {
		config.ClientSessionCache = cache
		check := config.VerifyConnection
		config.VerifyConnection = func(state tls.ConnectionState) error {
			resumed = state.DidResume
			return check(state)
		}
	}
	for range 2 {
		if err := get(t, server, endpoint.Target{Fingerprint: right}, nil, share); err != nil {
			t.Fatal("with the right pin:", err)
		}
	}
	if !resumed {
		t.Fatal("the session was not resumed, so that this test shows nothing")
	}
	err := get(t, server, endpoint.Target{Fingerprint: "00" + right[2:]}, nil, share)
	var e *plugin.Error
	if !errors.As(err, &e) || e.Kind != plugin.Untrusted {
		t.Errorf("error is %v, want untrusted", err)
	}
}
