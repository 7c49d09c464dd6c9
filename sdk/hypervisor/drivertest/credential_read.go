package drivertest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// credentialRead tests CredentialReader, which normalizes a credential that a
// person entered. A stored credential must pass unchanged for every capability.
// Errors are Invalid with the field "secret" and never contain any part of the
// secret.
func (s *suite) credentialRead(t *testing.T) {
	need[hypervisor.CredentialReader](t, s)
	reader := as[hypervisor.CredentialReader](t, s.driver)
	proper := func(t *testing.T) endpoint.Credential {
		credential := s.Target(t, endpoint.Monitoring).Credential
		if credential.Form == "" {
			credential.Form = endpoint.FormToken
		}
		return credential
	}
	s.run(t, "what is kept is kept as it is", func(t *testing.T, ctx context.Context) {
		for _, capability := range s.described(t).Capabilities {
			want := proper(t)
			want.Capability = capability
			got, err := reader.ReadCredential(ctx, want)
			must(t, "reading a proper credential", err)
			if got != want {
				t.Errorf("the credential for %s became %+v, want %+v, or its secret changed", capability, got, want)
			}
		}
	})
	s.run(t, "what cannot be a credential", func(t *testing.T, ctx context.Context) {
		good := proper(t)
		for name, secret := range map[string]plugin.Secret{
			"nothing": "", "NUL": "canary\x00" + good.Secret, "too much": plugin.Secret(strings.Repeat("canary ", 3000)),
			"cut off": good.Secret[:3] + "\ncanary",
		} {
			entered := good
			entered.Secret = secret
			_, err := reader.ReadCredential(ctx, entered)
			var e *plugin.Error
			if !errors.As(err, &e) || e.Kind != plugin.Invalid || e.Field != "secret" {
				t.Errorf("%s: error is %v, want invalid of the secret", name, err)
			} else if strings.Contains(err.Error(), "canary") {
				t.Errorf("%s: the error contains the secret", name)
			}
		}
	})
	s.run(t, "a form that there is not", func(t *testing.T, ctx context.Context) {
		entered := proper(t)
		entered.Form = "handshake"
		_, err := reader.ReadCredential(ctx, entered)
		wantKind(t, err, plugin.Invalid)
	})
	s.run(t, "forms that are kept are read", func(t *testing.T, ctx context.Context) {
		info := s.described(t)
		if !slices.ContainsFunc(info.Forms, func(f hypervisor.CredentialForm) bool { return f.Name == proper(t).Form && !f.OneTime }) {
			t.Errorf("the forms %+v do not name %s", info.Forms, proper(t).Form)
		}
	})
}
