package drivertest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// enrol tests Enroller: one-time codes, and credentials that become valid by
// redeeming them. A code works once, only before it expires, and is only sent
// to the pinned endpoint: a code that reaches another machine is lost. Inspect
// works offline and also for an expired code.
func (s *suite) enrol(t *testing.T) {
	need[hypervisor.Enroller](t, s)
	enroller := as[hypervisor.Enroller](t, s.driver)
	s.run(t, "a code tells where it is for", func(t *testing.T, ctx context.Context) {
		hook(t, "NewCode", s.NewCode != nil)
		for _, valid := range []time.Duration{time.Hour, -time.Hour} {
			got, err := enroller.Inspect(ctx, s.NewCode(t, endpoint.Monitoring, valid))
			must(t, "inspecting a code", err)
			target := s.Target(t, endpoint.Monitoring)
			if !slices.Contains(got.Addresses, target.Address) {
				t.Errorf("the addresses %q lack %s", got.Addresses, target.Address)
			}
			if got.Fingerprint != "" && !endpoint.EqualFingerprint(got.Fingerprint, target.Fingerprint) {
				t.Errorf("the fingerprint is %s, want %s", got.Fingerprint, target.Fingerprint)
			}
			if !got.Expires.IsZero() && time.Until(got.Expires) > 0 != (valid > 0) {
				t.Errorf("a code that is valid for %s ends %s", valid, got.Expires)
			}
		}
	})
	s.run(t, "what cannot be a code", func(t *testing.T, ctx context.Context) {
		hook(t, "NewCode", s.NewCode != nil)
		good := s.NewCode(t, endpoint.Monitoring, time.Hour)
		for name, code := range map[string]plugin.Secret{
			"nothing": "", "a word": "canary", "cut off": good[:len(good)/2] + "*canary", "NUL": good + "\x00canary", "JSON": `{"canary":1}`,
			"too much": plugin.Secret(strings.Repeat("canary", 4000)), "an object without a secret": "eyJjYW5hcnkiOiJjYW5hcnkifQ==",
		} {
			_, err := enroller.Inspect(ctx, code)
			var e *plugin.Error
			if !errors.As(err, &e) || e.Kind != plugin.Invalid || e.Field != "secret" {
				t.Errorf("%s: error is %v, want invalid of the secret", name, err)
			} else if strings.Contains(err.Error(), "canary") {
				t.Errorf("%s: the error contains the code", name)
			}
		}
	})
	s.run(t, "credentials are new each time", func(t *testing.T, ctx context.Context) {
		one, err := enroller.NewCredential(ctx, endpoint.Monitoring)
		must(t, "making a credential", err)
		other, err := enroller.NewCredential(ctx, endpoint.Monitoring)
		must(t, "making another", err)
		form, ok := s.described(t).Form(one.Form)
		if one.ID == "" || one.ID == other.ID || one.Secret == other.Secret || !ok || form.OneTime || one.Form == "" ||
			one.Capability != endpoint.Monitoring {
			t.Errorf("made %+v and %+v", one, other)
		}
	})
	s.run(t, "a code gives access once", func(t *testing.T, ctx context.Context) {
		hook(t, "NewCode", s.NewCode != nil)
		for _, capability := range s.described(t).Capabilities {
			code := s.NewCode(t, capability, time.Hour)
			target := s.newcomer(t, ctx, capability)
			_, err := s.open(t, target).Version(ctx)
			wantKind(t, err, plugin.TokenRejected)
			must(t, "redeeming the code", enroller.Redeem(ctx, target, code))
			_, err = s.open(t, target).Version(ctx)
			must(t, "asking with the new credential", err)
			p, err := s.open(t, target).Permissions(ctx)
			must(t, "asking what it may do", err)
			if len(p.Missing) > 0 {
				t.Errorf("the credential for %s lacks %v", capability, p.Missing)
			}
			second := s.newcomer(t, ctx, capability)
			wantKind(t, enroller.Redeem(ctx, second, code), plugin.TokenRejected)
			_, err = s.open(t, second).Version(ctx)
			wantKind(t, err, plugin.TokenRejected)
		}
	})
	s.run(t, "an expired code", func(t *testing.T, ctx context.Context) {
		hook(t, "NewCode", s.NewCode != nil)
		target := s.newcomer(t, ctx, endpoint.Monitoring)
		wantKind(t, enroller.Redeem(ctx, target, s.NewCode(t, endpoint.Monitoring, -time.Hour)), plugin.TokenRejected)
	})
	s.run(t, "a code goes to the pinned endpoint only", func(t *testing.T, ctx context.Context) {
		hook(t, "NewCode", s.NewCode != nil)
		code := s.NewCode(t, endpoint.Monitoring, time.Hour)
		target := s.newcomer(t, ctx, endpoint.Monitoring)
		elsewhere := target
		elsewhere.Fingerprint = stranger
		wantKind(t, enroller.Redeem(ctx, elsewhere, code), plugin.Untrusted)
		must(t, "redeeming it at the right one", enroller.Redeem(ctx, target, code))
	})
	s.run(t, "nobody listens", func(t *testing.T, ctx context.Context) {
		hook(t, "NewCode", s.NewCode != nil)
		target := s.newcomer(t, ctx, endpoint.Monitoring)
		target.Address = closedPort
		wantKind(t, enroller.Redeem(ctx, target, s.NewCode(t, endpoint.Monitoring, time.Hour)), plugin.Unreachable)
	})
}

// newcomer returns a target with a new credential that the endpoint does not
// know.
func (s *suite) newcomer(t *testing.T, ctx context.Context, capability endpoint.Capability) endpoint.Target {
	t.Helper()
	made, err := as[hypervisor.Enroller](t, s.driver).NewCredential(ctx, capability)
	must(t, "making a credential", err)
	target := s.Target(t, capability)
	target.Credential = made
	return target
}
