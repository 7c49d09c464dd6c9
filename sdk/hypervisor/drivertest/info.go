package drivertest

import (
	"context"
	"slices"
	"testing"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// info tests the driver's description of itself.
func (s *suite) info(t *testing.T) {
	s.run(t, "says what it is", func(t *testing.T, ctx context.Context) {
		info, err := s.driver.Info(ctx)
		must(t, "asking for the info", err)
		if info.Name == "" || info.Version == "" || info.Product == "" {
			t.Errorf("info %+v has an empty name, version or product", info)
		}
	})
	s.run(t, "says how access is handed over", func(t *testing.T, _ context.Context) {
		info := s.described(t)
		for _, capability := range info.Capabilities {
			form, ok := info.Form(s.Target(t, capability).Credential.Form)
			if !ok || form.OneTime && s.Target(t, capability).Credential.Form != "" {
				t.Errorf("the credential for %s is of a form that cannot be kept", capability)
			}
		}
	})
	s.run(t, "needs no network to open", func(t *testing.T, ctx context.Context) {
		host, err := s.driver.Open(ctx, endpoint.Target{Address: "nowhere.invalid:8006"})
		must(t, "opening a host that does not exist", err)
		must(t, "closing it", host.Close())
	})
	s.run(t, "abilities are the optional interfaces", func(t *testing.T, _ context.Context) {
		got, want := hypervisor.Abilities(s.driver, s.host(t, endpoint.Monitoring)), hypervisor.Abilities(s.Config.Driver, s.HostType)
		if !slices.Equal(got, want) {
			t.Errorf("found %q, claimed %q", got, want)
		}
	})
}
