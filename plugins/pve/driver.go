package pve

import (
	"context"

	"github.com/hashicorp/go-hclog"

	"github.com/hostler/hostler/plugins/pve/pveapi"
	"github.com/hostler/hostler/plugins/pve/pvessh"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// Name is the driver's name.
const Name = "pve"

// Driver makes hosts of Proxmox VE.
type Driver struct {
	log  hclog.Logger
	pool *pveapi.Pool
	pace Pace
}

var (
	_ hypervisor.Driver            = (*Driver)(nil)
	_ hypervisor.RoleScripter      = (*Driver)(nil)
	_ hypervisor.RoleOutputReader  = (*Driver)(nil)
	_ hypervisor.CertificateReader = (*Driver)(nil)
)

// New makes a driver with the waits that fit real hosts.
func New(log hclog.Logger) *Driver { return NewPaced(log, Pace{}) }

// NewPaced makes a driver with other waits, for tests. Zero values mean the default ones.
func NewPaced(log hclog.Logger, pace Pace) *Driver {
	if log == nil {
		log = hclog.NewNullLogger()
	}
	return &Driver{log: log, pool: pveapi.NewPool(pace.Timeouts), pace: pace.orDefault()}
}

// Info tells the driver's name and release.
func (d *Driver) Info(context.Context) (hypervisor.Info, error) {
	return hypervisor.Info{
		Name: Name, Version: version, Product: "Proxmox VE",
		Scope: hypervisor.Scope{Word: "pool", Holds: "guests and storages", Example: "/pool/customers"},
		Usual: hypervisor.Usual{Storage: "local-lvm", Bridge: "vmbr0"}, // what the installer makes
	}, nil
}

// version is set by the linker to the release's version.
var version = "dev"

// Open gives a host. The target's connections are shared with all other hosts of the same address and certificate.
func (d *Driver) Open(_ context.Context, target endpoint.Target) (hypervisor.Host, error) {
	host, err := d.open(target)
	if err != nil {
		return nil, err // and no typed nil
	}
	return host, nil
}

// open returns the host at a target. For an SSH login the credential is removed
// from the part that talks to the API, so that a key is never sent there.
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

// Close ends the connections that no call uses.
func (d *Driver) Close() { d.pool.Close() }
