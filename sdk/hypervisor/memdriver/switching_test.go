package memdriver_test

import (
	"context"
	"slices"
	"testing"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/hypervisor/drivertest"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
	"github.com/hostler/hostler/sdk/plugin"
)

// switching is a driver of a hypervisor whose guests can be started and stopped, and nothing else.
type switching struct{ *memdriver.Driver }

type switchingHost struct{ hypervisor.Host }

var switches = []hypervisor.Action{hypervisor.Start, hypervisor.Stop}

func (d switching) Info(ctx context.Context) (hypervisor.Info, error) {
	info, err := d.Driver.Info(ctx)
	info.Actions = []hypervisor.KindActions{{Kind: hypervisor.VM, Actions: switches}, {Kind: hypervisor.Container, Actions: switches}}
	return info, err
}

func (d switching) Open(ctx context.Context, target endpoint.Target) (hypervisor.Host, error) {
	host, err := d.Driver.Open(ctx, target)
	return switchingHost{host}, err
}

func (h switchingHost) Act(ctx context.Context, ref hypervisor.GuestRef, action hypervisor.Action) (string, error) {
	if !slices.Contains(switches, action) {
		return "", plugin.Errorf(plugin.Invalid, "%q is not known here", action)
	}
	return h.Host.(hypervisor.LifecycleManager).Act(ctx, ref, action)
}

// TestConformanceOfFewActions: the suite asks for no action that the driver does not name.
func TestConformanceOfFewActions(t *testing.T) {
	t.Parallel()
	driver := memdriver.New()
	cluster := driver.Add("switches.mem:8006", memdriver.Spec{Nodes: 1})
	drivertest.Run(t, drivertest.Config{
		Driver: switching{driver}, HostType: switchingHost{},
		Target: func(_ testing.TB, c endpoint.Capability) endpoint.Target { return cluster.Target(c) },
		NewGuest: func(_ testing.TB, kind hypervisor.GuestKind, status string) hypervisor.GuestRef {
			return cluster.NewGuest(kind, status)
		},
	})
}
