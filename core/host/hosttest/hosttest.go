// Package hosttest has what tests of hosts and of all that stands on them need.
package hosttest

import (
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// One is a table of drivers with one driver under every name.
func One(driver hypervisor.Driver) host.Drivers { return one{driver} }

type one struct{ hypervisor.Driver }

func (d one) Hypervisor(string) hypervisor.Driver { return d.Driver }
