package drivertest

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/plugin"
)

// stranger is a fingerprint in the right form that belongs to no certificate.
var stranger = strings.TrimSuffix(strings.Repeat("AB:", 32), ":")

// access tests how a host is reached: version, certificate pins, credentials,
// addresses and deadlines. For a driver author the important rules are:
//
//   - The pin is checked on every connection, also on one that is reused.
//   - An untrusted certificate is an error of kind Untrusted that contains
//     the fingerprint that was seen, so that a person can decide about it.
//   - Without AllowLocal, loopback, link-local and unspecified addresses
//     are Forbidden, in all their spellings (IPv4-mapped IPv6 too).
//   - An invalid address is an error of any kind but Internal.
//   - The caller's deadline and cancelation end a call at once.
func (s *suite) access(t *testing.T) {
	s.run(t, "version", func(t *testing.T, ctx context.Context) {
		target := s.Target(t, endpoint.Monitoring)
		version, err := s.open(t, target).Version(ctx)
		must(t, "asking for the version", err)
		if !strings.HasPrefix(version.Version, version.Release) || version.Release == "" {
			t.Errorf("release %q is not the beginning of version %q", version.Release, version.Version)
		}
		if !endpoint.EqualFingerprint(version.Fingerprint, target.Fingerprint) {
			t.Errorf("fingerprint is %q, the target's %q", version.Fingerprint, target.Fingerprint)
		}
		if version.NotAfter.IsZero() {
			t.Error("the certificate's expiry is missing")
		}
		if !version.NotBefore.IsZero() && !version.NotBefore.Before(version.NotAfter) {
			t.Errorf("the certificate begins at %s and ends at %s", version.NotBefore, version.NotAfter)
		}
		if len(version.CertificateNames) > 64 || len(version.CertificateIssuer) > 255 {
			t.Errorf("the certificate has %d names and an issuer of %d bytes",
				len(version.CertificateNames), len(version.CertificateIssuer))
		}
	})
	s.run(t, "wrong fingerprint", func(t *testing.T, ctx context.Context) {
		target := s.Target(t, endpoint.Monitoring)
		right := target.Fingerprint
		target.Fingerprint = stranger
		host := s.open(t, target)
		for range 2 { // the second time over a connection that might have been kept
			_, err := host.Version(ctx)
			e := wantKind(t, err, plugin.Untrusted)
			if !endpoint.EqualFingerprint(e.Fingerprint, right) {
				t.Errorf("the error reports the fingerprint %q, want %q", e.Fingerprint, right)
			}
		}
	})
	s.run(t, "untrusted without a fingerprint", func(t *testing.T, ctx context.Context) {
		target := s.Target(t, endpoint.Monitoring)
		right := target.Fingerprint
		target.Fingerprint, target.VerifyTLS = "", true
		_, err := s.open(t, target).Version(ctx)
		if e := wantKind(t, err, plugin.Untrusted); !endpoint.EqualFingerprint(e.Fingerprint, right) {
			t.Errorf("the error reports the fingerprint %q, want %q", e.Fingerprint, right)
		}
	})
	s.run(t, "learning the fingerprint", func(t *testing.T, ctx context.Context) {
		target := s.Target(t, endpoint.Monitoring)
		right := target.Fingerprint
		target.Fingerprint, target.VerifyTLS = "", false
		version, err := s.open(t, target).Version(ctx)
		must(t, "asking for the version", err)
		if !endpoint.EqualFingerprint(version.Fingerprint, right) {
			t.Errorf("fingerprint is %q, want %q", version.Fingerprint, right)
		}
	})
	s.run(t, "wrong token", func(t *testing.T, ctx context.Context) {
		target := s.wrong(t, endpoint.Monitoring)
		_, err := s.open(t, target).Version(ctx)
		e := wantKind(t, err, plugin.TokenRejected)
		if strings.Contains(e.Error(), string(target.Credential.Secret)) {
			t.Error("the error contains the secret")
		}
	})
	s.run(t, "nobody listens", func(t *testing.T, ctx context.Context) {
		target := s.Target(t, endpoint.Monitoring)
		target.Address, target.AllowLocal = closedPort, true
		_, err := s.open(t, target).Version(ctx)
		wantKind(t, err, plugin.Unreachable)
	})
	s.run(t, "the caller's deadline", func(t *testing.T, ctx context.Context) {
		target := s.Target(t, endpoint.Monitoring)
		target.Address, target.AllowLocal = silentPort(t), true
		short, cancel := context.WithTimeout(ctx, 200*time.Millisecond)
		defer cancel()
		_, err := s.open(t, target).Version(short)
		switch kind := plugin.KindOf(err); {
		case err == nil:
			t.Fatal("an endpoint that does not answer returned a version")
		case kind != plugin.Timeout && kind != plugin.Unreachable:
			t.Errorf("error is %v, want a timeout or unreachable", err)
		}
	})
	s.run(t, "local address", func(t *testing.T, ctx context.Context) {
		for _, address := range []string{"127.0.0.1:8006", "[::1]:8006", "[::ffff:127.0.0.1]:8006", "169.254.169.254:80", "0.0.0.0:8006",
			"[fe80::1]:8006"} {
			target := s.Target(t, endpoint.Monitoring)
			target.Address, target.AllowLocal = address, false
			_, err := s.open(t, target).Version(ctx)
			if plugin.KindOf(err) != plugin.Forbidden {
				t.Errorf("%s: error is %v, want forbidden", address, err)
			}
		}
	})
	s.run(t, "address that is none", func(t *testing.T, ctx context.Context) {
		for _, address := range []string{"", "no-port", "host:port:port", "bad\x00name:1", "[::1", "host:99999999"} {
			target := s.Target(t, endpoint.Monitoring)
			target.Address = address
			host, err := s.driver.Open(ctx, target)
			if err == nil {
				_, err = host.Version(ctx)
				_ = host.Close()
			}
			if err == nil {
				t.Errorf("%q returned a version", address)
			} else if kind := plugin.KindOf(err); kind == plugin.Internal {
				t.Errorf("%q: error is %v, want one that is not internal", address, err)
			}
		}
	})
	s.run(t, "canceled before", func(t *testing.T, ctx context.Context) {
		host := s.host(t, endpoint.Monitoring)
		ended, cancel := context.WithCancel(ctx)
		cancel()
		_, err := host.Version(ended)
		if !errors.Is(err, context.Canceled) {
			t.Errorf("error is %v, want context.Canceled in it", err)
		}
	})
}

// closedPort is an address that refuses connections at once. Port 1 (tcpmux)
// needs root, and no program listens on it.
const closedPort = "127.0.0.1:1"

// silentPort returns an address that accepts connections and never answers.
func silentPort(t *testing.T) string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, "listening", err)
	t.Cleanup(func() { _ = listener.Close() })
	return listener.Addr().String()
}
