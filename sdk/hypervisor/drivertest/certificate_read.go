package drivertest

import (
	"context"
	"testing"
	"time"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// certificateRead tests CertificateReader, which reads a certificate before
// anybody trusts it. It must work with any pin and without a credential, and
// must never send one. Addresses are restricted like those of other calls.
// Names, issuer and subject are limited in length, because an attacker chooses
// them.
func (s *suite) certificateRead(t *testing.T) {
	need[hypervisor.CertificateReader](t, s)
	reader := as[hypervisor.CertificateReader](t, s.driver)
	target := func(t *testing.T) endpoint.Target {
		target := s.Target(t, endpoint.Monitoring)
		target.Credential = endpoint.Credential{}
		return target
	}
	s.run(t, "whatever vouches for it", func(t *testing.T, ctx context.Context) {
		right := target(t).Fingerprint
		for _, pin := range []string{right, stranger, ""} {
			for _, verify := range []bool{false, true} {
				at := target(t)
				at.Fingerprint, at.VerifyTLS = pin, verify
				got, err := reader.ReadCertificate(ctx, at)
				must(t, "reading the certificate", err)
				if !endpoint.EqualFingerprint(got.Fingerprint, right) || got.NotAfter.IsZero() || !got.NotBefore.Before(got.NotAfter) ||
					len(got.Names) > 64 || len(got.Issuer) > 255 || len(got.Subject) > 255 {
					t.Errorf("the certificate of %s is %+v", right, got)
				}
				if got.SelfSigned && got.Distrust == "" {
					t.Error("the system trusts a self-signed certificate")
				}
			}
		}
	})
	s.run(t, "nobody listens", func(t *testing.T, ctx context.Context) {
		at := target(t)
		at.Address, at.AllowLocal = closedPort, true
		_, err := reader.ReadCertificate(ctx, at)
		wantKind(t, err, plugin.Unreachable)
	})
	s.run(t, "the caller's deadline", func(t *testing.T, ctx context.Context) {
		at := target(t)
		at.Address, at.AllowLocal = silentPort(t), true
		short, cancel := context.WithTimeout(ctx, 200*time.Millisecond)
		defer cancel()
		_, err := reader.ReadCertificate(short, at)
		if kind := plugin.KindOf(err); err == nil || kind != plugin.Timeout && kind != plugin.Unreachable {
			t.Errorf("error is %v, want a timeout or unreachable", err)
		}
	})
	s.run(t, "addresses that must not be dialled", func(t *testing.T, ctx context.Context) {
		for _, address := range []string{"127.0.0.1:8006", "[::1]:8006", "169.254.169.254:80", "0.0.0.0:8006"} {
			at := target(t)
			at.Address, at.AllowLocal = address, false
			_, err := reader.ReadCertificate(ctx, at)
			if plugin.KindOf(err) != plugin.Forbidden {
				t.Errorf("%s: error is %v, want forbidden", address, err)
			}
		}
	})
}
