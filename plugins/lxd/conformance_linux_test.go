package lxd_test

import (
	"testing"
	"time"

	"github.com/hostler/hostler/plugins/lxd"
	"github.com/hostler/hostler/plugins/lxd/lxdtest"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/hypervisor/drivertest"
	"github.com/hostler/hostler/sdk/plugin"
)

// TestConformance runs the suite against a real server with certificates that are restricted to the project default. Virtual machines
// cannot run everywhere that tests do.
func TestConformance(t *testing.T) {
	t.Parallel()
	f := newFixture(t, lxdtest.Shared(t), "default")
	for range 3 {
		f.container(t, hypervisor.GuestStopped, lxdtest.Tiny)
	}
	for _, c := range []endpoint.Capability{endpoint.Monitoring, endpoint.Lifecycle, endpoint.Console, endpoint.Backup} {
		f.target(t, c) // they outlive the case that wants them first
	}
	newGuest := func(t testing.TB, _ hypervisor.GuestKind, status string) hypervisor.GuestRef {
		return f.container(t, status, lxdtest.Tiny)
	}
	drivertest.Run(t, drivertest.Config{
		Driver: f.driver, HostType: (*lxd.Host)(nil), Patience: 3 * time.Minute,
		Target:   f.target,
		Kinds:    []hypervisor.GuestKind{hypervisor.Container},
		NewGuest: newGuest, SnapshotGuest: newGuest, Rename: f.rename,
		Guests: func(t testing.TB) []hypervisor.GuestRef {
			var refs []hypervisor.GuestRef
			for _, i := range f.list(t.Context(), t) {
				refs = append(refs, hypervisor.GuestRef{Kind: hypervisor.Container, Node: f.node,
					ID: hypervisor.GuestID(i.name), UID: i.uid})
			}
			return refs
		},
		Lacking: func(t testing.TB, c endpoint.Capability) (endpoint.Target, []string) {
			if c == endpoint.Monitoring {
				return with(f.MetricsOnly(t), c), []string{lxd.ClientType}
			}
			return with(f.Nowhere(t), c), []string{lxd.AnyProject}
		},
		Exceeding: func(t testing.TB, c endpoint.Capability) (endpoint.Target, []string) {
			return with(f.Trusted(t), c), []string{lxd.Unrestricted}
		},
		Wrong:   func(t testing.TB, c endpoint.Capability) endpoint.Target { return with(f.Stranger(t), c) },
		NewCode: f.code,
		RoleOutput: func(_ testing.TB, made, kept []endpoint.Capability) plugin.Secret {
			return plugin.Secret(roleOutput(made, kept))
		},
		RunningTask: func(t testing.TB) string {
			_, id := f.tokenOperation(t, "running")
			return id
		},
		FailedTask: func(t testing.TB) string {
			ref := f.container(t, hypervisor.GuestRunning, lxdtest.Tiny)
			host := f.host(t, endpoint.Lifecycle)
			id, err := host.Act(t.Context(), ref, hypervisor.Start)
			must(t, "starting what runs", err)
			f.wait(t, host, id)
			return id
		},
		ForgetsTasks: true, Alike: true, NoUptime: true,
	})
}
