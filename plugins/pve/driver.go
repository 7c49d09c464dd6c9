package pve

import (
	"context"

	"github.com/hashicorp/go-hclog"

	"github.com/hostler/hostler/plugins/pve/pveapi"
	"github.com/hostler/hostler/plugins/pve/pvessh"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// Name is the name of the driver.
const Name = "pve"

// Driver opens hosts of Proxmox VE. It is safe for concurrent use. Close closes
// its connections.
type Driver struct {
	log  hclog.Logger
	pool *pveapi.Pool
	pace Timing
}

var (
	_ hypervisor.Driver            = (*Driver)(nil)
	_ hypervisor.RoleScriptWriter  = (*Driver)(nil)
	_ hypervisor.RoleOutputReader  = (*Driver)(nil)
	_ hypervisor.CertificateReader = (*Driver)(nil)
)

// New returns a driver with the times for real hosts.
func New(log hclog.Logger) *Driver { return NewWithTiming(log, Timing{}) }

// NewWithTiming returns a driver with other times, for tests. A zero value stands
// for the default.
func NewWithTiming(log hclog.Logger, pace Timing) *Driver {
	if log == nil {
		log = hclog.NewNullLogger()
	}
	return &Driver{log: log, pool: pveapi.NewPool(pace.Timeouts), pace: pace.orDefault()}
}

// Info returns the name of the driver and its version.
func (d *Driver) Info(context.Context) (hypervisor.Info, error) {
	return hypervisor.Info{
		Name: Name, Version: version, Product: "Proxmox VE",
		Scope: hypervisor.Scope{Word: "pool", Holds: "guests and storages", Example: "/pool/customers"},
		Usual: hypervisor.DefaultNames{Storage: "local-lvm", Bridge: "vmbr0"}, // what the installer makes
	}, nil
}

// version is set by the linker.
var version = "dev"

// Open returns a host. Hosts with the same address and certificate share their
// connections. It makes no connection.
func (d *Driver) Open(_ context.Context, target endpoint.Target) (hypervisor.Host, error) {
	host, err := d.open(target)
	if err != nil {
		return nil, err // and no typed nil
	}
	return host, nil
}

// open returns the host at a target. The credential of an SSH login is removed
// from the part that talks to the API, so that a key can never be sent there.
func (d *Driver) open(target endpoint.Target) (*Host, error) {
	machine := pvessh.New(target, d.pace.SSH)
	if target.Credential.Form == endpoint.FormSSHKey {
		target.Credential = endpoint.Credential{} // the API is not asked, and never sees a key
	}
	api, err := d.pool.NewClient(target)
	if err != nil {
		return nil, err
	}
	api.Remedy = remedy(target.Credential)
	return &Host{
		api: api, pace: d.pace, capability: target.Credential.Capability, tokenID: target.Credential.ID, machine: machine,
		log: d.log.With("address", target.Address, "capability", string(target.Credential.Capability)),
	}, nil
}

// Close closes the connections that no call uses.
func (d *Driver) Close() { d.pool.Close() }
