// Package hosttest has what tests of hosts and of all that stands on them need.
package hosttest

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/plugin"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	sdk "github.com/hostler/hostler/sdk/plugin"
)

// SingleDriver is a table of drivers with one driver under every name.
func SingleDriver(driver hypervisor.Driver) host.Drivers { return one{driver} }

type one struct{ hypervisor.Driver }

func (d one) Hypervisor(string) hypervisor.Driver { return d.Driver }

// DriverTable is a table of drivers by name; one that is nil is installed and does not run. It knows which there are, as the plugins'
// manager does.
type DriverTable map[string]hypervisor.Driver

var _ host.DriverLister = DriverTable{}

// Hypervisor implements host.Drivers.
func (n DriverTable) Hypervisor(name string) hypervisor.Driver {
	if d := n[name]; d != nil {
		return d
	}
	return gone{}
}

// Status implements host.DriverLister.
func (n DriverTable) Status() (all []plugin.Status) {
	for _, name := range slices.Sorted(maps.Keys(n)) {
		state := plugin.Running
		if n[name] == nil {
			state = plugin.BackingOff
		}
		all = append(all, plugin.Status{Pin: plugin.Pin{Kind: sdk.KindHypervisor, Name: name, Enabled: true}, State: state})
	}
	return all
}

// gone is a driver whose plugin is away.
type gone struct{}

func (gone) Info(context.Context) (hypervisor.Info, error) {
	return hypervisor.Info{}, fmt.Errorf("calling: %w", sdk.ErrGone)
}

func (gone) Open(context.Context, endpoint.Target) (hypervisor.Host, error) {
	return nil, fmt.Errorf("calling: %w", sdk.ErrGone)
}
